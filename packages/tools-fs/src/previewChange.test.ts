import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "./fileSystem.ts";
import { previewChange } from "./proposeChanges.ts";

let root = "";
beforeEach(() => {
  root = temporaryFolder("preview");
  writeFileSync(join(root, "a.txt"), "one\r\ntwo\r\nthree\r\n");
});

const preview = (name: string, args: Record<string, unknown>): Promise<string | undefined> =>
  previewChange(name, args, { root, deny: ["secret"] });

test("the preview of an edit is the diff that the edit answers with, and changes nothing", async () => {
  const args = { path: "a.txt", edits: [{ old_text: "two", new_text: "2" }] };
  const before = readFileSync(join(root, "a.txt"));
  const shown = await preview("edit_file", args);
  expect(readFileSync(join(root, "a.txt"))).toEqual(before);
  const registry = new ToolRegistry(createFsTools({ root }));
  expect(await registry.execute("edit_file", args)).toBe(shown);
  expect(shown).toContain("\n-two\n+2\n");
});

test("the preview of a write compares with the present file, or with nothing", async () => {
  expect(await preview("write_file", { path: "a.txt", content: "one\ntwo\nfour\n" })).toContain("\n-three\n+four\n");
  expect(await preview("write_file", { path: "new/b.txt", content: "b\n" })).toMatch(
    /^--- new\/b\.txt\n[\s\S]*\n\+b\n/,
  );
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
  ] as const) {
    expect(await preview(name, args)).toBeUndefined();
  }
});
