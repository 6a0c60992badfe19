import { existsSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

export type { Browser, Page };

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** True where Chromium is installed; elsewhere it says once what is missing. */
export const hasChromium: boolean = existsSync(program);
if (!hasChromium)
  console.log(`skipped: ${program} is not there (on Debian: apt-get install chromium; CHROMIUM=PATH names another)`);

/** Starts Chromium without a window. */
export async function startChromium(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  const quiet = ["--no-first-run", "--disable-sync", "--disable-background-networking", "--disable-component-update"];
  return await chromium.launch({
    executablePath: program,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", ...quiet],
  });
}
