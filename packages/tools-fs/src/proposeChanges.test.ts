import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { previewChange, proposeChanges } from "./index.ts";

let root: string;

beforeEach(() => {
  root = temporaryFolder("propose");
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
});

test("each tool that changes text says what a file would hold before and after", async () => {
  const a = join(root, "a.txt");
  const propose = (name: string, args: Record<string, unknown>) => proposeChanges(name, args, { root, cwd: root });
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

test("a patch says each of its files, moved and removed ones too", async () => {
  const { input, b, c } = patchOf(root);
  expect(await proposeChanges("apply_patch", { input }, { root, cwd: root })).toEqual([
    { path: join(root, "a.txt"), before: "one\ntwo\n", after: undefined },
    { path: join(root, "moved.txt"), before: undefined, after: "one\n2\n" },
    { path: b, before: "gone\n", after: undefined },
    { path: c, before: undefined, after: "made\n" },
  ]);
  expect(existsSync(c)).toBe(false);
  const diff = await previewChange("apply_patch", { input }, { root, cwd: root });
  expect(diff).toContain("--- moved.txt");
  expect(diff).toContain("+made\n");
});

test("other tools and other arguments propose nothing, and what a tool would refuse is refused", async () => {
  const propose = (name: string, args: Record<string, unknown>) => proposeChanges(name, args, { root, cwd: root });
  expect(await propose("remove", { path: "a.txt" })).toBeUndefined();
  expect(await propose("write_file", { path: "a.txt" })).toBeUndefined();
  expect(await propose("apply_patch", { input: 1 })).toBeUndefined();
  await expect(propose("write_file", { path: "/outside", content: "" })).rejects.toThrow("outside");
  await expect(propose("edit_file", { path: "a.txt", edits: [{ old_text: "x", new_text: "" }] })).rejects.toThrow();
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
