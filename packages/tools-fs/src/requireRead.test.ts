import { chmodSync, copyFileSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "./fileSystem.ts";
import type { FsToolOptions } from "./options.ts";
import { createWriteFileTool } from "./writeFile.ts";

let root: string;
let registry: ToolRegistry;

beforeEach(() => {
  root = temporaryFolder("fs-seen");
  registry = new ToolRegistry(createFsTools({ cwd: root, requireRead: true }));
  writeFileSync(join(root, "a"), "one\ntwo\n");
});

const write = (content = "x"): Promise<string> => registry.execute("write_file", { path: "a", content });
const edit = (): Promise<string> =>
  registry.execute("edit_file", { path: "a", edits: [{ old_text: "one", new_text: "1" }] });
const unread = "Not written: a was not read yet; read it first";
const changed = "Not written: a has changed since it was read; read it again";

test("an existing file that was not read is neither written nor edited", async () => {
  expect(await write()).toBe(`Error executing write_file: ${unread}`);
  expect(await edit()).toBe(`Error executing edit_file: ${unread}`);
  expect(readFileSync(join(root, "a"), "utf8")).toBe("one\ntwo\n");
  expect(await registry.execute("write_file", { path: "new", content: "" })).toBe("Created new (0 bytes)");
});

test("any part that was read counts, and so does an own write", async () => {
  await registry.execute("read_file", { path: "a", offset: 2, limit: 1 });
  expect(await edit()).toContain("+1");
  expect(await write("one")).toBe("Wrote a (3 bytes)");
  expect(await edit()).toContain("+1");
  await registry.execute("write_file", { path: "new", content: "n" });
  expect(await registry.execute("write_file", { path: "new", content: "m" })).toBe("Wrote new (1 bytes)");
});

test("a file that changed since it was read is refused until it is read again", async () => {
  await registry.execute("read_file", { path: "a" });
  writeFileSync(join(root, "a"), "one\nTWO\n");
  expect(await write()).toContain(changed);
  expect(await edit()).toContain(changed);
  await registry.execute("read_file", { path: "a" });
  expect(await edit()).toContain("+1");
});

test("where only attributes changed the content decides: mode, times, another file that shows the same", async () => {
  await registry.execute("read_file", { path: "a" });
  chmodSync(join(root, "a"), 0o600);
  expect(await edit()).toContain("+1");
  utimesSync(join(root, "a"), 1, 1);
  expect(await write("one\ntwo\n")).toContain("Wrote a");
  // As a file of a lower layer that an overlay file system copies up.
  copyFileSync(join(root, "a"), join(root, "copy"));
  renameSync(join(root, "copy"), join(root, "a"));
  expect(await edit()).toContain("+1");
  writeFileSync(join(root, "a"), "1\nTWO\n");
  utimesSync(join(root, "a"), 1, 1);
  expect(await write()).toContain(changed);
});

test("a file of more than 10 MB is compared by its attributes alone, and an empty one too", async () => {
  for (const size of [10_000_001, 0]) {
    writeFileSync(join(root, "a"), Buffer.alloc(size, "x"));
    await registry.execute("read_file", { path: "a" });
    chmodSync(join(root, "a"), size === 0 ? 0o644 : 0o600);
    expect(await write()).toContain(changed);
  }
});

test("clones share what was read; other packs do not", async () => {
  await registry.clone().execute("read_file", { path: "a" });
  expect(await write()).toBe("Wrote a (1 bytes)");
  registry = new ToolRegistry(createFsTools({ cwd: root, requireRead: true }));
  expect(await write()).toContain(unread);
  registry = new ToolRegistry([createWriteFileTool({ cwd: root, requireRead: true })]);
  expect(await write()).toContain(unread);
});

test("a file that changes while it is written is not replaced", async () => {
  await registry.execute("read_file", { path: "a" });
  const writing = registry.invoke("write_file", { path: "a", content: "x".repeat(8_000_000) });
  // The content is on its way to a temporary file by now.
  await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(join(root, "a"), "from an editor");
  expect(await writing).toMatchObject({ ok: false, error: { message: changed } });
  expect(readFileSync(join(root, "a"), "utf8")).toBe("from an editor");
});

test("off by default, and refused unless true or false", async () => {
  registry = new ToolRegistry(createFsTools({ cwd: root, requireRead: false }));
  expect(await write()).toBe("Wrote a (1 bytes)");
  registry = new ToolRegistry(createFsTools({ cwd: root }));
  expect(await write()).toBe("Wrote a (1 bytes)");
  for (const requireRead of [undefined, "yes", 1]) {
    expect(() => createFsTools({ requireRead } as unknown as FsToolOptions)).toThrow(
      "requireRead must be true or false",
    );
  }
});
