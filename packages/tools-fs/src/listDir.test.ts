import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createListDirTool } from "./listDir.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("list");
});

const list = (args: Record<string, unknown> = {}): Promise<string> =>
  createListDirTool({ cwd: base })
    .execute({ path: ".", ...args })
    .then(String);

test("one level, sorted by code unit: directories with a slash, links with their target, dotfiles too", async () => {
  for (const name of ["b", "a", "B", ".dot", "é", "10", "9"]) writeFileSync(join(base, name), "");
  mkdirSync(join(base, "dir/deeper"), { recursive: true });
  symlinkSync("dir", join(base, "link"));
  symlinkSync("/nowhere/at all", join(base, "broken"));
  expect(await list()).toBe(".dot\n10\n9\nB\na\nb\nbroken -> /nowhere/at all\ndir/\nlink -> dir\né");
  expect(await list({ path: "link" })).toBe("deeper/");
});

test("an empty directory is said to be empty", async () => {
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
  await expect(list({ offset: 8 })).rejects.toThrow("offset: 8 is past the end: . has 7 entries");
});

test("2,000 entries are shown where no limit is given", async () => {
  for (let index = 0; index < 2001; index += 1) writeFileSync(join(base, `${index}`), "");
  expect(await list()).toMatch(/\n\n\[truncated: shown 2000 of 2001 entries; pass offset=2001 to continue\]$/);
});

test("a reply holds at most 50 KB of whole lines, then the notice that continues", async () => {
  const name = (index: number): string => `${String(index).padStart(4, "0")}-${"é".repeat(100)}`;
  for (let index = 0; index < 600; index += 1) writeFileSync(join(base, name(index)), "");
  const answer = await list();
  const [body, notice] = answer.split("\n\n") as [string, string];
  const shown = body.split("\n");
  expect(shown).toEqual(Array.from({ length: shown.length }, (_, index) => name(index)));
  expect(notice).toBe(`[truncated: shown ${shown.length} of 600 entries; pass offset=${shown.length + 1} to continue]`);
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(50 * 1024);
  expect(Buffer.byteLength(`${body}\n${name(0)}`)).toBeGreaterThan(50 * 1024);
});

test("maxReplyBytes counts the bytes of the lines, not of the notice; links count with their target", async () => {
  for (const name of ["aaa", "bbb"]) writeFileSync(join(base, name), "");
  symlinkSync("t".repeat(40), join(base, "link"));
  const listWith = (maxReplyBytes: number, args = {}): Promise<string> =>
    createListDirTool({ cwd: base, maxReplyBytes })
      .execute({ path: ".", ...args })
      .then(String);
  const all = `aaa\nbbb\nlink -> ${"t".repeat(40)}`;
  expect(await listWith(all.length)).toBe(all);
  expect(await listWith(Infinity)).toBe(all);
  const continued = "[truncated: shown 2 of 3 entries; pass offset=3 to continue]";
  expect(await listWith(all.length - 1)).toBe(`aaa\nbbb\n\n${continued}`);
  expect(await listWith(7)).toBe(`aaa\nbbb\n\n${continued}`);
  expect(await listWith(6)).toBe("aaa\n\n[truncated: shown 1 of 3 entries; pass offset=2 to continue]");
});

test("an entry longer than a whole reply is cut, named in the notice, and can be skipped", async () => {
  mkdirSync(join(base, "éé"));
  writeFileSync(join(base, "ü"), "");
  const list = (offset: number): Promise<string> =>
    createListDirTool({ cwd: base, maxReplyBytes: 3 }).execute({ path: ".", offset }).then(String);
  expect(await list(1)).toBe("é\n\n[truncated: shown 2 of 5 bytes of entry 1; pass offset=2 to continue]");
  expect(await list(2)).toBe("ü");
});

test.each([0, -1, Number.NaN, "5"])("maxReplyBytes %s is refused", (maxReplyBytes) => {
  expect(() => createListDirTool({ maxReplyBytes: maxReplyBytes as number })).toThrow(
    "maxReplyBytes must be a number of bytes of at least 1, or Infinity for no limit, received",
  );
});

test("a file and a missing path are refused", async () => {
  writeFileSync(join(base, "file"), "");
  await expect(list({ path: "file" })).rejects.toThrow(/\(ENOTDIR\)/);
  await expect(list({ path: "no" })).rejects.toThrow(/\(ENOENT\)/);
});
