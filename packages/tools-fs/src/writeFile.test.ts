import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createWriteFileTool } from "./writeFile.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("write");
});

const write = (path: string, content: string): Promise<string> =>
  createWriteFileTool({ cwd: base }).execute({ path, content }).then(String);
const text = (name: string): string => readFileSync(join(base, name), "utf8");

test("creates the file with its parents and says its size in bytes", async () => {
  expect(await write("a/b/file", "é\r\n")).toBe("Created a/b/file (4 bytes)");
  expect(text("a/b/file")).toBe("é\r\n");
  expect(await write("a/b/file", "")).toBe("Wrote a/b/file (0 bytes)");
});

test("writes through a link, to a target that does not exist yet too, and names the target", async () => {
  symlinkSync("real", join(base, "link"));
  expect(await write("link", "x")).toBe("Created real (1 bytes)");
  expect(text("real")).toBe("x");
});

test("reports a write that could not be atomic", async () => {
  writeFileSync(join(base, "file"), "old");
  linkSync(join(base, "file"), join(base, "other"));
  expect(await write("file", "new")).toBe(
    "Wrote file (3 bytes); written in place, not atomically, because it has several hard links",
  );
  expect(text("other")).toBe("new");
});

test.runIf(process.platform !== "win32")("a name may end in a backslash, as a listing prints it", async () => {
  for (const path of ["a\\", "b\\.", "c\\.."]) expect(await write(path, "x")).toBe(`Created ${path} (1 bytes)`);
});

test("a path that ends with a slash is refused before anything is made", async () => {
  mkdirSync(join(base, "dir"));
  for (const path of ["dir/", "dir/.", "new/", "new/..", "dir", "."]) await expect(write(path, "x")).rejects.toThrow();
  expect(readdirSync(base)).toEqual(["dir"]);
});

test("a tilde is not expanded, and no folder of that name is made", async () => {
  for (const path of ["~/file", "~"])
    await expect(write(path, "x")).rejects.toThrow("path: `~` is not expanded; give the path in full");
  expect(existsSync(join(base, "~"))).toBe(false);
  expect(await write("~a/file", "x")).toBe("Created ~a/file (1 bytes)");
  mkdirSync(join(base, "~"));
  expect(await write("~/file", "x")).toBe("Created ~/file (1 bytes)");
});

test("says what of the old file's form the new text does not have", async () => {
  const over = async (old: Buffer | string, text: string): Promise<string> => {
    writeFileSync(join(base, "form"), old);
    return (await write("form", text)).replace(/^Wrote form \(\d+ bytes\)/, "");
  };
  expect(await over("a\r\nb\r\n", "a\nb\n")).toBe("; the old file had CRLF line ends, and has LF now");
  expect(await over("a\r\nb\r\n", "a\r\nc\r\n")).toBe("");
  expect(await over("a\r\nb\n", "a\n")).toBe("");
  expect(await over("\ufeffa", "a")).toBe("; the old file began with a byte order mark, and does not now");
  expect(await over("\ufeffa", "\ufeffb")).toBe("");
  expect(await over(Buffer.from("caf\xe9", "latin1"), "café")).toBe(
    "; the old file was not valid UTF-8, and is UTF-8 now",
  );
  expect(await over("é".repeat(50_000), "e")).toBe("");
  expect(await over(`a${"é".repeat(50_000)}`, "e")).toBe("");
});

test("a name with a line break is printed as JSON", async () => {
  expect(await write("a\nb", "x")).toBe('Created "a\\nb" (1 bytes)');
});

test("writes of one file never interleave, whatever path names it", async () => {
  mkdirSync(join(base, "dir"));
  symlinkSync("dir", join(base, "alias"));
  writeFileSync(join(base, "dir/file"), "old");
  linkSync(join(base, "dir/file"), join(base, "hard"));
  const paths = ["dir/file", "alias/file", "./dir/../alias/file", join(base, "dir/file"), "hard"];
  const tools = [createWriteFileTool({ cwd: base }), createWriteFileTool({ cwd: base })];
  const contents = Array.from({ length: 60 }, (_, index) => `${index}:`.repeat(1000 + ((index * 7919) % 20_000)));
  await Promise.all(
    contents.map((content, index) =>
      (tools[index % 2] as (typeof tools)[0]).execute({ path: paths[index % paths.length] as string, content }),
    ),
  );
  expect(contents).toContain(text("dir/file"));
  expect(text("hard")).toBe(text("dir/file"));
});
