// Runs tests in a plain program, since no runner of tests starts under Wine, and prints a line of JSON for each.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const tests = [];

/** Declares a test, as `test` of other runners does. */
export function test(name, run) {
  tests.push({ name, run });
}

const base = realpathSync.native(mkdtempSync(join(tmpdir(), "toolcrib ünï ")));
let folders = 0;

/** A new empty folder, whose path holds a space and letters beyond ASCII. */
export function newFolder() {
  const folder = join(base, String(++folders));
  mkdirSync(folder);
  return folder;
}

/** Runs what was declared, one after the other, and ends the process. */
export async function runTests() {
  for (const { name, run } of tests) {
    let error;
    try {
      await run();
    } catch (thrown) {
      error = thrown instanceof Error ? thrown.stack : String(thrown);
    }
    console.log(JSON.stringify({ name, ...(error !== undefined && { error }) }));
  }
  rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  console.log(JSON.stringify({ done: true }));
  process.exit();
}
