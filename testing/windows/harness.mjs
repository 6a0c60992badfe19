// Runs tests in a plain program, since no runner of tests starts under Wine, and prints a line of JSON for each.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const tests = [];

/** Declares a test, as `test` of other runners does. `skip` says why it is not run here, if it is not. */
export function test(name, run, skip) {
  tests.push({ name, run, skip });
}

// As Windows writes it: Wine keeps the letters of a folder that it makes, and composes what macOS would take apart.
const base = realpathSync.native(mkdtempSync(join(tmpdir(), "toolcrib \u00fcn\u00ef ")));
let folders = 0;

/** A new empty folder, whose path holds a space and letters beyond ASCII. */
export function newFolder() {
  const folder = join(base, String(++folders));
  mkdirSync(folder);
  return folder;
}

/** Removes what can be removed: what is left behind is no failure of a test. */
function removeTree(path) {
  try {
    const stats = lstatSync(path);
    if (!stats.isSymbolicLink()) chmodSync(path, 0o700);
    if (!stats.isDirectory()) return unlinkSync(path);
    for (const name of readdirSync(path)) removeTree(join(path, name));
    rmdirSync(path);
  } catch {
    // Open, or not to be changed.
  }
}

/** Runs what was declared, one after the other, and ends the process. */
export async function runTests() {
  for (const { name, run, skip } of tests) {
    let error;
    try {
      if (skip === undefined) await run();
    } catch (thrown) {
      error = thrown instanceof Error ? thrown.stack : String(thrown);
    }
    const result = { name, ...(skip !== undefined && { skipped: skip }), ...(error !== undefined && { error }) };
    console.log(JSON.stringify(result));
  }
  removeTree(base);
  console.log(JSON.stringify({ done: true }));
  process.exit();
}
