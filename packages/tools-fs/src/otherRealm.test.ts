import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";

const child = fileURLToPath(new URL("../../../testing/suites/files/toolChild.ts", import.meta.url));

/** Like Jest: the errors that Node throws are not instances of the classes that the code sees. */
const otherClasses = `data:text/javascript,
  import { runInNewContext } from "node:vm";
  for (const name of ["Error", "TypeError", "RangeError"]) globalThis[name] = runInNewContext(name);`;

test("errors of another realm are recognised", () => {
  const base = temporaryFolder("realm");
  writeFileSync(join(base, "invalid"), Buffer.from([0x61, 0xff]));
  const calls: [tool: string, args: object, answer: RegExp][] = [
    ["write_file", { path: "a/b/new", content: "x" }, /^Created a\/b\/new/],
    ["mkdir", { path: "c/d" }, /^Created directory c\/d/],
    ["move", { source: "a/b/new", destination: "e/f" }, /^Moved a\/b\/new to e\/f/],
    ["edit_file", { path: "e/f", edits: [{ old_text: "x", new_text: "y" }] }, /\+y/],
    ["edit_file", { path: "invalid", edits: [{ old_text: "a", new_text: "y" }] }, /is not valid UTF-8/],
    ["read_file", { path: "missing" }, /No such file or directory: missing \(ENOENT\)/],
    ["list_dir", { path: "e/f" }, /\(ENOTDIR\)/],
    ["move", { source: "e/f", destination: "invalid/x" }, /\(ENOTDIR\)/],
    ["remove", { path: "e/f/g" }, /^Nothing to remove: e\/f\/g/],
    ["remove", { path: "c" }, /^Removed c \(2 entries\)/],
    ["read_file", {}, /Invalid arguments: .*path/],
  ];
  const input = calls.map(([tool, args]) => JSON.stringify({ tool, args, options: { cwd: base } })).join("\n");
  const run = spawnSync(process.execPath, ["--import", otherClasses, child], { input, encoding: "utf8" });
  const [, ...lines] = run.stdout.trim().split("\n");
  expect(lines, run.stderr).toHaveLength(calls.length);
  for (const [index, [, , answer]] of calls.entries()) {
    expect((JSON.parse(lines[index] as string) as { output: string }).output).toMatch(answer);
  }
  expect(readdirSync(base).sort()).toEqual(["a", "e", "invalid"]);
  expect(readFileSync(join(base, "e/f"), "utf8")).toBe("y");
});
