import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const workspace = fileURLToPath(new URL("../../../", import.meta.url));
const child = join(workspace, "testing/suites/files/toolChild.ts");
const otherDevice = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

let base: string;
let far: string;
beforeEach(() => {
  base = temporaryFolder("permission");
  far = realpathSync(mkdtempSync(join(otherDevice, "permission-")));
  writeFileSync(join(base, "old"), "one\ntwo\n", { mode: 0o640 });
});
afterEach(() => {
  for (const folder of [base, far]) rmSync(folder, { recursive: true, force: true });
});

/** From 26 on, Node offers no fsync at all under its permission model. */
const withoutSync = `import { open } from "node:fs/promises";
const handle = await open(${JSON.stringify(child)});
const refuse = async () => { throw Object.assign(new Error("fsync API is disabled"), { code: "ERR_ACCESS_DENIED" }); };
Object.assign(Object.getPrototypeOf(handle), { sync: refuse, datasync: refuse });
await handle.close();`;

/** Returns the answer of each call in a process under Node's permission model. */
function answersUnder(flags: readonly string[], calls: readonly [tool: string, args: object][]): string[] {
  const input = calls.map(([tool, args]) => JSON.stringify({ tool, args, options: { cwd: base } })).join("\n");
  const { stdout, stderr } = spawnSync(process.execPath, ["--permission", ...flags, child], {
    input,
    encoding: "utf8",
  });
  const [, ...lines] = stdout.trim().split("\n");
  expect(lines, stderr).toHaveLength(calls.length);
  return lines.map((line) => (JSON.parse(line) as { output: string }).output);
}

describe.each([
  [
    "every path, but no fsync,",
    () => [
      ...["--allow-fs-read=*", "--allow-fs-write=*", "--import"],
      `data:text/javascript,${encodeURIComponent(withoutSync)}`,
    ],
  ],
  [
    "the folders alone",
    () => [workspace, base, far].flatMap((path) => [`--allow-fs-read=${path}`, `--allow-fs-write=${path}`]),
  ],
])("Node's permission model with %s allowed", (_, flags) => {
  test("the tools work, and modes are kept", () => {
    const answers = answersUnder(flags(), [
      ["write_file", { path: "new/deep/file", content: "new" }],
      ["write_file", { path: "old", content: "one\nthree\n" }],
      ["edit_file", { path: "old", edits: [{ old_text: "three", new_text: "four" }] }],
      ["read_file", { path: "old" }],
      ["list_dir", { path: "." }],
      ["mkdir", { path: "a/b" }],
      ["move", { source: "old", destination: "a/b/moved" }],
      ["move", { source: "a", destination: join(far, "a") }],
      ["remove", { path: "new" }],
      ["read_file", { path: "missing" }],
    ]);
    expect(answers).toEqual([
      "Created new/deep/file (3 bytes)",
      "Wrote old (10 bytes)",
      expect.stringContaining("-three\n+four"),
      "one\nfour\n",
      "new/\nold",
      "Created directory a/b",
      "Moved old to a/b/moved",
      `Moved a to ${far}/a`,
      "Removed new (3 entries)",
      "Error executing read_file: No such file or directory: missing (ENOENT); check the path",
    ]);
    expect(readdirSync(base)).toEqual([]);
    expect(statSync(join(far, "a/b/moved")).mode & 0o777).toBe(0o640);
  });
});

test("a path that the permission model does not allow is an error that names it, and nothing is changed", () => {
  const outside = temporaryFolder("outside");
  const answers = answersUnder(
    [workspace, base].map((path) => `--allow-fs-read=${path}`),
    [
      ["read_file", { path: "old" }],
      ["list_dir", { path: "." }],
      ["write_file", { path: "old", content: "" }],
      ["write_file", { path: "new/file", content: "" }],
      ["edit_file", { path: "old", edits: [{ old_text: "one", new_text: "" }] }],
      ["mkdir", { path: "new" }],
      ["move", { source: "old", destination: "new" }],
      ["remove", { path: "old" }],
      ["read_file", { path: outside }],
      ["list_dir", { path: outside }],
    ],
  );
  expect(answers.slice(0, 2)).toEqual(["one\ntwo\n", "old"]);
  const refusal = (path: string): string => `Node's permission model does not allow this: ${path} (ERR_ACCESS_DENIED);`;
  const paths = ["old", "new/file", "old", "new", "old to new", "old", outside, outside];
  for (const [index, path] of paths.entries()) expect(answers[index + 2]).toContain(refusal(path));
  expect(readdirSync(base)).toEqual(["old"]);
  expect(readFileSync(join(base, "old"), "utf8")).toBe("one\ntwo\n");
});
