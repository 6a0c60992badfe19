import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { compileCache, temporaryFolder } from "@toolcrib/testing";
import { type Browser, hasChromium, type Page, startChromium } from "@toolcrib/testing/browser";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

let browser: Browser;
beforeAll(async () => {
  if (hasChromium) browser = await startChromium();
});
afterAll(async () => await browser?.close());

async function start(journals: string, port = "0"): Promise<{ url: string; kill: () => Promise<void> }> {
  const program = fileURLToPath(new URL("../testing/assistantServer.ts", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program, port, journals], {
    env: { PATH: process.env.PATH, ...compileCache },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = async (): Promise<void> => {
    const closed = child.exitCode === null && child.signalCode === null ? once(child, "close") : undefined;
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  const [line] = (await once(child.stdout ?? child, "data")) as [Buffer];
  return { url: line.toString().trim(), kill };
}

async function open(url: string): Promise<Page> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  onTestFinished(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });
  await page.goto(`${url}/?chat=${crypto.randomUUID()}`);
  return page;
}

const log = (page: Page) => page.getByRole("log");
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const ready = (page: Page) => page.getByRole("status").filter({ hasText: "ready" }).waitFor();

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await button(page, "Send").click();
}

describe.skipIf(!hasChromium)("assistant-ui on its AI SDK runtime", () => {
  test("streams an answer, goes on with it after a reload, and is stopped", async () => {
    const page = await open((await start(temporaryFolder("chats"))).url);
    await send(page, "slow");
    await log(page).getByText("word3 ").waitFor();
    expect(await log(page).getByText("word59").count()).toBe(0);
    await page.reload();
    await log(page).getByText("word0 word1 word2 word3").waitFor();
    await log(page).getByText("word59").waitFor();
    await ready(page);
    await send(page, "slow");
    await log(page).getByText("word5 ").nth(1).waitFor();
    await button(page, "Stop").click();
    await ready(page);
    expect(await log(page).getByText("word59").count()).toBe(1);
  });

  test("answers a question by yes and by no, also after the server was killed and started again", async () => {
    const chats = temporaryFolder("chats");
    const { url, kill } = await start(chats);
    const page = await open(url);
    await send(page, "write a.txt");
    await button(page, "Allow").click();
    await log(page).getByText("Wrote a.txt.").waitFor();
    await log(page).getByText("Done.").waitFor();
    await send(page, "write b.txt");
    await button(page, "Reject").waitFor();
    await kill();
    await start(chats, new URL(url).port);
    await button(page, "Reject").click();
    await log(page).getByText("Done.").nth(1).waitFor();
    await page.reload();
    await log(page)
      .getByText(/Permission denied: not today/)
      .waitFor();
    expect(await button(page, "Allow").count()).toBe(0);
  });
});
