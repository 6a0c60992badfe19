import { chmod, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { isBelowAny, OwnFile } from "./ownFile.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("own");
});

const what = "the answers";

test("a missing file reads as undefined, and is made with its folders for the user only", async () => {
  const file = new OwnFile(join(folder, "a/b/own.json"), { what });
  expect(await file.read()).toBeUndefined();
  expect(await readdir(folder)).toEqual([]);
  await file.change((text) => `${text} then`);
  expect(await file.read()).toBe("undefined then");
  for (const path of ["a", "a/b", "a/b/own.json"]) expect((await stat(join(folder, path))).mode & 0o077, path).toBe(0);
  expect(await readdir(join(folder, "a/b"))).toEqual(["own.json"]);
});

test("changes take turns, also after one that failed", async () => {
  const file = new OwnFile(join(folder, "own"), { what });
  const add = (letter: string): Promise<void> => file.change((text = "") => text + letter);
  const broken = file.change(() => {
    throw new Error("no");
  });
  await Promise.all([add("a"), expect(broken).rejects.toThrow("no"), add("b"), add("c")]);
  expect(await readFile(join(folder, "own"), "utf8")).toBe("abc");
  // Others of the same file wait, too.
  const others = ["d", "e", "f"].map((letter) =>
    new OwnFile(join(folder, "own"), { what }).change((text) => text + letter),
  );
  await Promise.all(others);
  expect([...((await file.read()) ?? "")].sort().join("")).toBe("abcdef");
});

test.each([
  ["is a link", async (path: string) => symlink("/dev/null", path), "it is a link"],
  ["is a folder", async (path: string) => mkdir(path), "it is not a regular file"],
  ["others can write", async (path: string) => chmod(await made(path), 0o662), "others can write it"],
  ["its group can write", async (path: string) => chmod(await made(path), 0o620), "others can write it"],
  ["is too large", async (path: string) => truncate(await made(path), 101), "it is larger than 100 bytes"],
])("a file that %s is neither read nor changed", async (_name, make, message) => {
  const path = join(folder, "own");
  await make(path);
  const file = new OwnFile(path, { what, maxBytes: 100 });
  await expect(file.read()).rejects.toThrow(`the file that stores the answers is not trusted: ${message}`);
  await expect(file.change(() => "x")).rejects.toThrow(message);
});

async function made(path: string): Promise<string> {
  await writeFile(path, "x", { mode: 0o600 });
  return path;
}

test("a file of the greatest size is read", async () => {
  await truncate(await made(join(folder, "own")), 100);
  expect(await new OwnFile(join(folder, "own"), { what, maxBytes: 100 }).read()).toHaveLength(100);
});

test("a path is below a folder also through links, and where it does not exist yet", async () => {
  await mkdir(join(folder, "root/in"), { recursive: true });
  await symlink(join(folder, "root/in"), join(folder, "link"));
  const root = [join(folder, "other"), join(folder, "root")];
  expect(isBelowAny(join(folder, "root/x"), root)).toBe(true);
  expect(isBelowAny(join(folder, "root/in/a/b/c"), root)).toBe(true);
  expect(isBelowAny(join(folder, "link/x"), root)).toBe(true);
  expect(isBelowAny(join(folder, "link/a/b"), root)).toBe(true);
  expect(isBelowAny(join(folder, "x"), root)).toBe(false);
  expect(isBelowAny(join(folder, "root2/x"), root)).toBe(false);
});
