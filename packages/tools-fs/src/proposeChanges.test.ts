import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createFsTools, diffOfChanges, proposeChanges } from "./index.ts";

let root: string;

beforeEach(() => {
  root = temporaryFolder("propose");
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
});

const propose = (name: string, args: Record<string, unknown>) => proposeChanges(name, args, { root, cwd: root });

test("each tool that changes text says what a file would hold before and after", async () => {
  const a = join(root, "a.txt");
  expect(await propose("write_file", { path: "a.txt", content: "new\n" })).toEqual([
    { path: a, before: "one\ntwo\n", after: "new\n" },
  ]);
  expect(await propose("write_file", { path: "b.txt", content: "new\n" })).toEqual([
    { path: join(root, "b.txt"), before: undefined, after: "new\n" },
  ]);
  expect(await propose("edit_file", { path: "a.txt", edits: [{ old_text: "two", new_text: "2" }] })).toEqual([
    { path: a, before: "one\ntwo\n", after: "one\n2\n" },
  ]);
  expect(readFileSync(a, "utf8")).toBe("one\ntwo\n");
  expect(existsSync(join(root, "b.txt"))).toBe(false);
});

/** The diff that a call would make now. */
async function preview(name: string, args: Record<string, unknown>): Promise<string | undefined> {
  const options = { root, deny: ["secret"] };
  const changes = await proposeChanges(name, args, options);
  return changes && diffOfChanges(changes, options);
}

test("a patch says each of its files, moved and removed ones too", async () => {
  const { input, b, c } = patchOf(root);
  expect(await proposeChanges("apply_patch", { input }, { root, cwd: root })).toEqual([
    { path: join(root, "a.txt"), before: "one\ntwo\n", after: undefined },
    { path: join(root, "moved.txt"), before: undefined, after: "one\n2\n" },
    { path: b, before: "gone\n", after: undefined },
    { path: c, before: undefined, after: "made\n" },
  ]);
  expect(existsSync(c)).toBe(false);
  const diff = await preview("apply_patch", { input });
  expect(diff).toContain("--- moved.txt");
  expect(diff).toContain("+made\n");
});

function patchOf(folder: string): { input: string; b: string; c: string } {
  const [b, c] = [join(folder, "b.txt"), join(folder, "c.txt")];
  writeFileSync(b, "gone\n");
  const input = [
    "*** Begin Patch",
    "*** Update File: a.txt",
    "*** Move to: moved.txt",
    "@@",
    " one",
    "-two",
    "+2",
    "*** Delete File: b.txt",
    "*** Add File: c.txt",
    "+made",
    "*** End Patch",
    "",
  ].join("\n");
  return { input, b, c };
}

test("the preview of an edit is the diff that the edit answers with, and changes nothing", async () => {
  writeFileSync(join(root, "a.txt"), "one\r\ntwo\r\nthree\r\n");
  const args = { path: "a.txt", edits: [{ old_text: "two", new_text: "2" }] };
  const before = readFileSync(join(root, "a.txt"));
  const shown = await preview("edit_file", args);
  expect(readFileSync(join(root, "a.txt"))).toEqual(before);
  const registry = new ToolRegistry(createFsTools({ root }));
  expect(await registry.execute("edit_file", args)).toBe(shown);
  expect(shown).toContain("\n-two\n+2\n");
});

test("what the tool would refuse rejects, and a named pipe is not waited for", async () => {
  execFileSync("mkfifo", [join(root, "pipe")]);
  writeFileSync(join(root, "binary"), Buffer.from([0xff, 0xfe, 0, 1]));
  writeFileSync(join(root, "secret"), "x");
  for (const [args, says] of [
    [{ path: "pipe", content: "x" }, "is a named pipe"],
    [{ path: "binary", content: "x" }, "is not valid UTF-8"],
    [{ path: "../a.txt", content: "x" }, "is outside"],
    [{ path: "secret", content: "x" }, "denied"],
    [{ path: "a.txt/", content: "x" }, "path of a directory"],
  ] as const) {
    await expect(preview("write_file", args)).rejects.toThrow(says);
  }
  const edits = [{ old_text: "none", new_text: "x" }];
  await expect(preview("edit_file", { path: "a.txt", edits })).rejects.toThrow("edits[0]");
  await expect(preview("edit_file", { path: "missing", edits })).rejects.toThrow("missing");
});

test("other tools and arguments that do not fit have no preview", async () => {
  for (const [name, args] of [
    ["remove", { path: "a.txt" }],
    ["write_file", { path: "a.txt" }],
    ["write_file", { path: 1, content: "x" }],
    ["edit_file", { path: "a.txt", edits: [null] }],
    ["edit_file", { path: "a.txt", edits: "x" }],
    ["apply_patch", { input: 1 }],
  ] as const) {
    expect(await preview(name, args)).toBeUndefined();
  }
});
