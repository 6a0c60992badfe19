import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createListDirTool } from "./listDir.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "list-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const list = (args: Record<string, unknown> = {}): Promise<string> =>
  createListDirTool({ cwd: base }).execute({ path: ".", ...args });

test("one level, sorted by code unit: directories with a slash, links with their target, dotfiles too", async () => {
  for (const name of ["b", "a", "B", ".dot", "é", "10", "9"]) writeFileSync(join(base, name), "");
  mkdirSync(join(base, "dir/deeper"), { recursive: true });
  symlinkSync("dir", join(base, "link"));
  symlinkSync("/nowhere/at all", join(base, "broken"));
  expect(await list()).toBe(".dot\n10\n9\nB\na\nb\nbroken -> /nowhere/at all\ndir/\nlink -> dir\né");
  expect(await list({ path: "link" })).toBe("deeper/");
});

test("an empty directory is put into words", async () => {
  expect(await list()).toBe("(empty directory)");
});

test("a name with control characters is printed as JSON, so it stays one line", async () => {
  writeFileSync(join(base, "a\nb"), "");
  mkdirSync(join(base, "c\td"));
  expect(await list()).toBe('"a\\nb"\n"c\\td"/');
});

test("pages follow each other by offset; the last one has no notice", async () => {
  for (let index = 0; index < 7; index += 1) writeFileSync(join(base, `${index}`), "");
  expect(await list({ limit: 3 })).toBe("0\n1\n2\n\n[truncated: shown 3 of 7 entries; pass offset=4 to continue]");
  expect(await list({ limit: 3, offset: 4 })).toBe(
    "3\n4\n5\n\n[truncated: shown 3 of 7 entries; pass offset=7 to continue]",
  );
  expect(await list({ limit: 3, offset: 7 })).toBe("6");
  expect(await list({ limit: 7 })).toBe("0\n1\n2\n3\n4\n5\n6");
  await expect(list({ offset: 8 })).rejects.toThrow("offset 8 is past the end: . has 7 entries");
});

test("2,000 entries are shown where no limit is given", async () => {
  for (let index = 0; index < 2001; index += 1) writeFileSync(join(base, `${index}`), "");
  expect(await list()).toMatch(/\n\n\[truncated: shown 2000 of 2001 entries; pass offset=2001 to continue\]$/);
});

test("a file, a missing path and what lies outside the root are refused", async () => {
  writeFileSync(join(base, "file"), "");
  await expect(list({ path: "file" })).rejects.toThrow(/\(ENOTDIR\)/);
  await expect(list({ path: "no" })).rejects.toThrow(/\(ENOENT\)/);
  const tool = createListDirTool({ root: base });
  await expect(tool.execute({ path: ".." })).rejects.toMatchObject({ code: "permission_denied" });
});
