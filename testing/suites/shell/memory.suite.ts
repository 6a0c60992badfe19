import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { rounds } from "./shellFixture.ts";

/** Full size: 2 GB. */
const bytes = Math.min(rounds / 1000, 1) * 2_000_000_000;
const mostMb = 25;

const built = existsSync(fileURLToPath(new URL("../../../packages/tools-bash/dist/index.js", import.meta.url)));
const why = built ? "" : " (skipped: run `npm run build` first)";

test.runIf(built).each([
  ["one line without end", `head -c ${bytes} /dev/zero | tr '\\0' x`, ""],
  ["lines, on both streams", `yes aé | head -c ${bytes / 2} & yes | head -c ${bytes / 2} >&2; wait`, "both"],
  ["lines one byte at a time in between", `(printf x; sleep 0.1; yes) | head -c ${bytes}`, ""],
])(`output of ${bytes / 1e9} GB takes at most ${mostMb} MB more than none: %s${why}`, async (name, command, both) => {
  const script = fileURLToPath(new URL("measureOutput.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, command]);
  const measured = JSON.parse(stdout) as { grownMb: number; exit_code: number; stdout: string; stderr: string };
  console.log(`${name}: ${measured.grownMb.toFixed(1)} MB`);
  expect(measured.exit_code).toBe(0);
  expect(measured.stdout).toMatch(new RegExp(`^\\[truncated: shown \\d+ of ${both ? bytes / 2 : bytes} bytes\\]$`));
  if (both) expect(measured.stderr).toMatch(new RegExp(`^\\[truncated: shown \\d+ of ${bytes / 2} bytes\\]$`));
  expect(measured.grownMb).toBeLessThanOrEqual(mostMb);
});
