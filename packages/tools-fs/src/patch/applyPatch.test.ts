import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createFsTools } from "../fileSystem.ts";
import type { FsToolOptions } from "../options.ts";
import { createApplyPatchTool } from "./applyPatch.ts";

let root: string;

beforeEach(() => {
  root = temporaryFolder("fs-patch");
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "a"), "one\ntwo\n");
  writeFileSync(join(root, "b"), "\ufeffthree\r\nfour\r\n", { mode: 0o640 });
  writeFileSync(join(root, "sub/c"), "five\n");
  symlinkSync("a", join(root, "link"));
});

const wrap = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`;

const apply = (body: string, options: FsToolOptions = {}): Promise<string> =>
  new ToolRegistry(createFsTools({ cwd: root, root, ...options })).execute("apply_patch", { input: wrap(body) });

const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Every file with its content, mode and kind. */
const snapshot = (): string[] =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .sort()
    .map((path) => {
      const stats = lstatSync(join(root, path));
      return `${path} ${stats.mode.toString(8)} ${stats.isFile() ? read(path) : ""}`;
    });

const allKinds = `*** Update File: a
@@
 one
-two
+2
*** Add File: new/deep/file
+content
*** Update File: b
*** Move to: moved/b
-four
+4
*** Delete File: sub/c`;

test("one patch adds, changes, moves and removes files", async () => {
  expect(await apply(allKinds)).toBe(
    "Changed a\nCreated new/deep/file (8 bytes)\nMoved b to moved/b and changed it\nRemoved sub/c",
  );
  expect(read("a")).toBe("one\n2\n");
  expect(read("new/deep/file")).toBe("content\n");
  expect(read("moved/b")).toBe("\ufeffthree\r\n4\r\n");
  expect(statSync(join(root, "moved/b")).mode & 0o777).toBe(0o640);
  expect(existsSync(join(root, "b"))).toBe(false);
  expect(readdirSync(join(root, "sub"))).toEqual([]);
});

test.each([
  ["in order", allKinds],
  ["the removal first", `*** Delete File: sub/c\n${allKinds.replace("\n*** Delete File: sub/c", "")}`],
])("a call that ends at any step leaves everything as it was: %s", async (_, parts) => {
  const before = snapshot();
  let steps = 0;
  for (let ending = 1; ; ending += 1) {
    let begun = 0;
    const call = {
      beginCommit() {
        begun += 1;
        if (begun === ending) throw new Error("the call has ended");
      },
    };
    const tool = createApplyPatchTool({ cwd: root, root });
    const failed = await tool.execute({ input: wrap(parts) }, call).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    if (failed === undefined) break;
    steps += 1;
    expect(failed).toContain("the call has ended");
    expect(snapshot()).toEqual(before);
  }
  expect(steps).toBeGreaterThan(5);
  expect(read("a")).toBe("one\n2\n");
});

test.each([
  ["a hunk that does not fit", "*** Update File: sub/c\n-six\n+6", "does not fit sub/c"],
  ["a file that is not there", "*** Update File: x\n-six\n+6", "Path not found: x; *** Add File makes a new file"],
  [
    "a new file that is there",
    "*** Add File: sub/c\n+6",
    "Already exists: sub/c; nothing was changed: *** Update File",
  ],
  ["a removal of nothing", "*** Delete File: x", "Path not found: x"],
  ["a removal of a directory", "*** Delete File: sub", "Not a regular file: sub is a directory"],
  ["a move onto a file", "*** Update File: b\n*** Move to: sub/c", "Already exists: sub/c"],
  ["a move of a link", "*** Update File: link\n*** Move to: x", "Not a regular file: link is a symbolic link"],
  ["a file named twice", "*** Delete File: a", "line 9: a is in the patch twice"],
  ["a file named twice by a link", "*** Update File: link\n-one\n+1", "line 9: a is in the patch twice"],
  ["a path outside the root", "*** Add File: ../x\n+x", "is outside"],
  ["the path of a directory", "*** Add File: x/\n+x", "ends like the path of a directory"],
  ["a change that changes nothing", "*** Update File: sub/c\n-five\n+five", "line 9: changes nothing in sub/c"],
  ["binary content", "*** Update File: binary\n-a\n+b", "is not valid UTF-8"],
])("no part of a patch with %s is applied", async (_, part, words) => {
  writeFileSync(join(root, "binary"), Buffer.from([0xff, 0xfe, 0]));
  const before = snapshot();
  expect(await apply(`*** Update File: a\n@@\n one\n-two\n+2\n*** Add File: n\n+n\n${part}`)).toContain(words);
  expect(snapshot()).toEqual(before);
});

test("a move to the same path, or of a link to itself, changes the file in its place", async () => {
  for (const [from, to] of [
    ["a", "./a"],
    ["link", "link"],
  ])
    expect(await apply(`*** Update File: ${from}\n*** Move to: ${to}\n one\n-two\n+two\n+2`)).toBe("Changed a");
  expect(read("a")).toBe("one\ntwo\n2\n2\n");
  expect(await apply("*** Update File: a\n*** Move to: a")).toContain("line 2: changes nothing in a");
});

test("denied paths and directories for reading alone are not changed", async () => {
  const before = snapshot();
  for (const part of [allKinds, "*** Add File: new/x\n+x", "*** Update File: a\n*** Move to: sub/x"]) {
    expect(await apply(part, { deny: ["new", "sub"] })).toContain("denied paths");
    expect(await apply(part, { readable: [join(root, "new"), join(root, "sub")] })).toContain("read-only");
  }
  expect(snapshot()).toEqual(before);
});

test("with requireRead every changed file must have been read", async () => {
  const registry = new ToolRegistry(createFsTools({ cwd: root, requireRead: true }));
  const input = wrap("*** Update File: a\n-two\n+2\n*** Add File: n\n+n");
  expect(await registry.execute("apply_patch", { input })).toContain("Not written: a was not read yet; read it first");
  await registry.execute("read_file", { path: "a" });
  expect(await registry.execute("apply_patch", { input })).toBe("Changed a\nCreated n (2 bytes)");
  const again = wrap("*** Update File: a\n-2\n+two\n*** Update File: n\n-n\n+m");
  expect(await registry.execute("apply_patch", { input: again })).toBe("Changed a\nChanged n");
});

test("a file that changes after it was read for the patch is kept, and so is the rest", async () => {
  writeFileSync(join(root, "large"), `${"x".repeat(3_000_000)}\ntail\n`);
  const before = snapshot();
  const applying = apply(
    "*** Update File: a\n-two\n+2\n*** Update File: large\n-tail\n+end\n*** Update File: sub/c\n-five\n+5",
  );
  while (read("a") === "one\ntwo\n") await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(join(root, "sub/c"), "from an editor\n");
  expect(await applying).toContain("Not written: sub/c has changed since it was read");
  writeFileSync(join(root, "sub/c"), "five\n");
  expect(snapshot()).toEqual(before);
});

test.skipIf(process.getuid?.() === 0)("a file that may not be written is refused with the rest", async () => {
  chmodSync(join(root, "sub/c"), 0o444);
  const before = snapshot();
  expect(await apply("*** Update File: a\n-two\n+2\n*** Update File: sub/c\n-five\n+5")).toContain("EACCES");
  expect(snapshot()).toEqual(before);
});

describe("what a patch says that it would do", () => {
  const effectsOf = async (body: string): Promise<readonly ToolEffect[]> =>
    (await createApplyPatchTool({ cwd: root, root }).effects?.({ input: wrap(body) })) ?? expect.fail("no effects");

  test("is an effect on each file, with links followed where they would be written through", async () => {
    const at = (path: string): string => join(root, path);
    expect(await effectsOf(allKinds)).toEqual([
      { kind: "read", path: at("a") },
      { kind: "write", path: at("a") },
      { kind: "write", path: at("new/deep/file") },
      { kind: "read", path: at("b") },
      { kind: "delete", path: at("b") },
      { kind: "write", path: at("moved/b") },
      { kind: "delete", path: at("sub/c") },
    ]);
    expect(await effectsOf("*** Update File: link\n-a\n+b")).toContainEqual({
      kind: "write",
      path: at("a"),
      givenPath: at("link"),
    });
    expect(await effectsOf("*** Delete File: link")).toEqual([{ kind: "delete", path: at("link") }]);
  });

  test.each(["x", "*** Add File: ../x\n+x", "*** Delete File: a\n*** Delete File: a"])(
    "throws what the call throws: %j",
    async (body) => {
      const failed = await createApplyPatchTool({ cwd: root, root })
        .execute({ input: wrap(body) })
        .catch((error: Error) => error.message);
      await expect(effectsOf(body)).rejects.toThrow(String(failed));
    },
  );
});
