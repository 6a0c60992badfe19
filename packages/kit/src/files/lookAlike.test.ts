import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createPathScope } from "../paths/pathScope.ts";
import { LookAlikes } from "./missingPath.ts";

let root: string;
beforeEach(() => {
  root = temporaryFolder("alike");
});
const put = (...names: string[]): void => {
  for (const name of names) writeFileSync(join(root, name), "");
};
const meant = async (name: string, deny: string[] = []): Promise<string> => {
  const scope = createPathScope({ root, cwd: root, deny });
  const { path, notice = "" } = await new LookAlikes(scope).resolve(name, "read");
  return path.slice(root.length + 1) + notice.replace(/.*;( .*) looks the same.*/, "$1");
};

describe("names that people cannot type", () => {
  test.each([
    ["Screenshot 1.00 PM.png", "Screenshot 1.00\u202fPM.png", '"Screenshot 1.00\\u202fPM.png"'],
    ["caf\u00e9", "cafe\u0301", '"cafe\\u0301"'],
    ["cafe\u0301", "caf\u00e9", '"caf\\u00e9"'],
    ["it's", "it\u2019s", '"it\\u2019s"'],
    ['"x"', "\u201cx\u201d", '"\\u201cx\\u201d"'],
    ["a-b", "a\u2013b", '"a\\u2013b"'],
    ["ab", "a\u200bb", '"a\\u200bb"'],
    ["a\u00a0b", "a b", "a b"],
  ])("%j means %j if it is the only one", async (given, name, shown) => {
    put(name, "other");
    expect(await meant(given)).toBe(`${name} ${shown}`);
  });

  test("the name itself comes first, and of two that look the same none is meant", async () => {
    put("a b", "a\u00a0b");
    expect(await meant("a b")).toBe("a b");
    put("x\u00a0y", "x\u202fy");
    expect(await meant("x y")).toBe("x y");
    expect(await meant("A B")).toBe("A B");
  });

  test("folders above are found too, and a name below none is made up", async () => {
    mkdirSync(join(root, "Fotos\u202fM\u00e4rz"));
    put("Fotos\u202fM\u00e4rz/a\u00a0b");
    expect(await meant("Fotos Ma\u0308rz/a b")).toBe(
      'Fotos\u202fM\u00e4rz/a\u00a0b "Fotos\\u202fM\\u00e4rz/a\\u00a0b"',
    );
    expect(await meant("Fotos Ma\u0308rz/c")).toBe("Fotos Ma\u0308rz/c");
  });

  test("nothing denied or outside is meant, by a link neither, and a link itself is an entry", async () => {
    put("key\u00a01", "a\u00a0b");
    symlinkSync("/etc/passwd", join(root, "out\u00a0side"));
    symlinkSync("a\u00a0b", join(root, "to\u00a0ab"));
    expect(await meant("key 1", ["key*"]).catch(String)).toMatch(/^ToolError.*denied paths/);
    expect(await meant("key 1", ["key\u00a01"])).toBe("key 1");
    expect(await meant("out side")).toBe("out side");
    expect(await meant("to ab")).toBe('a\u00a0b "to\\u00a0ab"');
  });

  test("the end of a path that asks for a directory is kept", async () => {
    put("a\u00a0b");
    for (const end of ["/", "/.", "//", "/./"]) expect(await meant(`a b${end}`).catch(String)).toMatch(/ENOTDIR/);
    mkdirSync(join(root, "c\u00a0d"));
    expect(await meant("c d/")).toBe('c\u00a0d "c\\u00a0d"');
  });

  test.each([
    ["file2.txt", "file\u00b2.txt"],
    ["file.txt", "\ufb01le.txt"],
    ["1-2", "\uff11-2"],
    ["...", "\u2026"],
    ["No 1", "\u2116 1"],
  ])("%j does not mean %j, which means something else", async (given, name) => {
    put(name);
    expect(await meant(given)).toBe(given);
  });

  test("all that look like a missing one are named, also below folders that do", () => {
    const scope = createPathScope({ root, cwd: root });
    put("x\u00a0y", "x\u202fy");
    mkdirSync(join(root, "c\u00a0d"));
    put("c\u00a0d/it\u2019s");
    const alike = new LookAlikes(scope);
    expect(alike.namesOf(join(root, "x y")).sort()).toEqual(['"x\\u00a0y"', '"x\\u202fy"']);
    expect(alike.namesOf(join(root, "c d/it's"))).toEqual(['"c\\u00a0d/it\\u2019s"']);
    expect(alike.namesOf(join(root, "x\u00a0y"))).toEqual([]);
  });

  test("a name beside many plain ones costs no work for each, and a folder is listed once for a call", () => {
    put(...Array.from({ length: 300 }, (_, at) => `f${at}`), "caf\u00e9");
    const scope = createPathScope({ root, cwd: root });
    const alike = new LookAlikes(scope);
    const normalize = vi.spyOn(String.prototype, "normalize");
    for (const name of ["new", "cafe\u0301", "n\u00e9w"]) alike.beside(join(root, name));
    expect(normalize.mock.calls.length).toBeLessThan(10);
    normalize.mockRestore();
    put("a\u00a0b");
    expect(alike.beside(join(root, "a b"))).toBeUndefined();
    expect(new LookAlikes(scope).beside(join(root, "a b"))).toBe('"a\\u00a0b"');
  });

  test("what is made is told of a name beside it that looks the same", () => {
    put("caf\u00e9");
    const alike = new LookAlikes(createPathScope({ root, cwd: root }));
    expect(alike.beside(join(root, "cafe\u0301"))).toBe('"caf\\u00e9"');
    expect(alike.beside(join(root, "cafe\u0301"), join(root, "caf\u00e9"))).toBeUndefined();
    expect(alike.beside(join(root, "caf\u00e9"))).toBeUndefined();
    expect(alike.beside(join(root, "new"))).toBeUndefined();
  });
});

test("an empty list of folders to read is none", () => {
  expect(createPathScope({ root, readable: [] }).readable).toEqual([]);
});
