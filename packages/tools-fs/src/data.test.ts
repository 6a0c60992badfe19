import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "./fileSystem.ts";
import type { FsToolOptions } from "./options.ts";

let root: string;

beforeEach(() => {
  root = temporaryFolder("fs-data");
  writeFileSync(join(root, "a"), "one\ntwo\nthree\n");
  writeFileSync(join(root, "new\nline"), "");
  writeFileSync(join(root, ".env"), "");
  mkdirSync(join(root, "sub/deep"), { recursive: true });
  symlinkSync("a", join(root, "link"));
});

/** The data of a call, which is only there where it fits the tool's outputSchema. */
async function dataOf(name: string, args: Record<string, unknown>, options: FsToolOptions = {}): Promise<unknown> {
  const outcome = await new ToolRegistry(createFsTools({ cwd: root, root, ...options })).invoke(name, args);
  return outcome.ok ? outcome.data : outcome.error;
}

test("read_file gives its text without the notice, and where it goes on", async () => {
  expect(await dataOf("read_file", { path: "link" })).toEqual({ path: "a", text: "one\ntwo\nthree\n", first_line: 1 });
  expect(await dataOf("read_file", { path: "a", offset: 2, limit: 1 })).toEqual({
    ...{ path: "a", text: "two\n", first_line: 2, next_line: 3 },
  });
  expect(await dataOf("read_file", { path: "a", encoding: "base64" })).toEqual({
    ...{ path: "a", text: "b25lCnR3bwp0aHJlZQo=" },
  });
  writeFileSync(join(root, "large"), "x".repeat(200_000));
  expect(await dataOf("read_file", { path: "large" })).toBeUndefined();
});

test("read_file gives the size of a picture, not its bytes", async () => {
  const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  writeFileSync(join(root, "dot.gif"), gif);
  expect(await dataOf("read_file", { path: "dot.gif" })).toEqual({
    ...{ path: "dot.gif", bytes: gif.length, image: { format: "GIF", width: 1, height: 1 } },
  });
});

test("list_dir gives its entries with their kinds, as they are named", async () => {
  expect(await dataOf("list_dir", { path: "." }, { deny: [".env"] })).toEqual({
    path: ".",
    entries: [
      { name: "a", type: "file" },
      { name: "link", type: "link", target: "a" },
      { name: "new\nline", type: "file" },
      { name: "sub", type: "directory" },
    ],
    ...{ total: 4, left_out: 1 },
  });
  expect(await dataOf("list_dir", { path: ".", offset: 2, limit: 1 })).toEqual({
    ...{ path: ".", entries: [{ name: "a", type: "file" }], total: 5, next: 3 },
  });
  expect(await dataOf("list_dir", { path: "sub/deep" })).toEqual({ path: "sub/deep", entries: [], total: 0 });
});

test("what changes something gives what was done", async () => {
  expect(await dataOf("write_file", { path: "new\nline", content: "é" })).toEqual({
    ...{ path: "new\nline", bytes: 2, created: false },
  });
  linkSync(join(root, "a"), join(root, "b"));
  expect(await dataOf("write_file", { path: "b", content: "one\n" })).toEqual({
    ...{ path: "b", bytes: 4, created: false, written_in_place: true },
  });
  expect(await dataOf("edit_file", { path: "link", edits: [{ old_text: "one", new_text: "1" }] })).toEqual({
    ...{ path: "a", diff: "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-one\n+1\n" },
  });
  expect(await dataOf("mkdir", { path: "x/y" })).toEqual({ path: "x/y", created: true });
  expect(await dataOf("mkdir", { path: "x" })).toEqual({ path: "x", created: false });
  expect(await dataOf("move", { source: "x", destination: "z" })).toEqual({ source: "x", destination: "z" });
  expect(await dataOf("remove", { path: "z" })).toEqual({ path: "z", removed: 2 });
  expect(await dataOf("remove", { path: "z" })).toEqual({ path: "z", removed: 0 });
  expect(await dataOf("remove", { path: "a/x" })).toEqual({ path: "a/x", removed: 0 });
  const input =
    "*** Begin Patch\n*** Add File: c\n+c\n*** Update File: b\n*** Move to: d\n*** Delete File: link\n*** End Patch";
  expect(await dataOf("apply_patch", { input })).toEqual({
    files: [
      { path: "c", change: "create" },
      { path: "d", change: "move", moved_from: "b" },
      { path: "link", change: "remove" },
    ],
  });
});
