// Runs tests in a plain program, since no runner of tests starts under Wine, and prints a line of JSON for each.
import { spawnSync } from "node:child_process";
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
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const tests = [];

// Wine 8 does not know TCP_KEEPIDLE (Windows does since version 1709 of 10), and libuv then gives every connection up for which it was asked
// before: fetch asks for each. That a connection is kept alive is not tried under Wine.
if (process.env.WINEPREFIX !== undefined)
  Socket.prototype.setKeepAlive = function setKeepAlive() {
    return this;
  };

/** Declares a test, as `test` of other runners does. `skip` says why it is not run here, if it is not. */
export function test(name, run, skip) {
  tests.push({ name, run, skip });
}

// As Windows writes it: Wine keeps the letters of a folder that it makes, and composes what macOS would take apart.
const base = realpathSync.native(mkdtempSync(join(tmpdir(), "toolcrib \u00fcn\u00ef ")));
const bases = [base];
let folders = 0;

/** A folder for new ones whose path has no space, where the system's own for temporary files has none. */
export function plainBase() {
  bases[1] ??= realpathSync.native(mkdtempSync(join(tmpdir(), "toolcrib-")));
  return bases[1];
}

/** A new empty folder, whose path holds a space and letters beyond ASCII. */
export function newFolder(parent = base) {
  const folder = join(parent, String(++folders));
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
  for (const one of bases) removeTree(one);
  console.log(JSON.stringify({ done: true }));
  process.exit();
}

/** The short name (`GIT~1`) that the system gave a file beside its own; undefined where it gives none. */
export function shortNameOf(folder, name) {
  const { stdout } = spawnSync("cmd.exe", ["/d", "/c", "dir", "/x", "/a", folder], {
    encoding: "utf8",
    windowsHide: true,
  });
  const line = stdout.split(/\r?\n/).find((one) => one.endsWith(` ${name}`));
  return /(\S*~\S*)\s+\S.*$/.exec(line ?? "")?.[1];
}
