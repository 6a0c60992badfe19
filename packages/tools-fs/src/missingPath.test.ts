import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "./fileSystem.ts";

let outer: string;
let base: string;
beforeEach(() => {
  outer = temporaryFolder("toolcrib-like");
  base = join(outer, "root");
  mkdirSync(base);
});

function put(...paths: string[]): void {
  for (const path of paths) writeIn(base, path, "x\n");
}

/** Returns the text of an error after its code. */
async function said(tool: string, args: object, deny: string[] = []): Promise<string> {
  const registry = new ToolRegistry(createFsTools({ root: base, deny }));
  registry.enable("remove");
  return (await registry.execute(tool, args)).replace(/^.*\(ENOENT\); /s, "");
}
const read = (path: string, deny?: string[]): Promise<string> => said("read_file", { path }, deny);

test("names that are like it are told: case, ending, letters, the nearest first, at most three", async () => {
  put("src/Config.ts", "src/config.js", "src/confg.ts", "src/xonfig.tsx", "src/other.ts", "src/config.test.ts");
  expect(await read("src/config.ts")).toBe("there is src/Config.ts, src/config.js and src/confg.ts");
  expect(await read("src/ohter.ts")).toBe("there is src/other.ts");
  expect(await read("src/README")).toBe("check the path");
  put("README.md");
  expect(await read("README")).toBe("there is README.md");
  expect(await read("a")).toBe("check the path");
});

test("names that look alike are escaped, and can be passed back", async () => {
  const names = ["it\u2019s\u202fme.txt", "it\u2019s\u00a0me.txt"];
  put(...names);
  const shown = ['"it\\u2019s\\u00a0me.txt"', '"it\\u2019s\\u202fme.txt"'];
  expect(await read("it's me.txt")).toBe(`there is ${shown.join(" and ")}`);
  for (const one of shown) expect(await read(JSON.parse(one))).toBe("x\n");
});

test("the first folder that is missing is told, with its like", async () => {
  put("packages/tools/a.ts", "packages/toolz");
  expect(await read("packages/tool/src/a.ts")).toBe("there is no packages/tool, but packages/tools");
  expect(await read("other/a.ts")).toBe("there is no other");
});

test("nothing denied or outside of the roots is named", async () => {
  put("secret.key", ".env", "keys/a");
  writeFileSync(join(outer, "rooted"), "");
  symlinkSync(join(outer, "rooted"), join(base, "linked"));
  symlinkSync(join(base, "secret.key"), join(base, "secrex.key"));
  expect(await read("secret.kez", ["*.key"])).toBe("check the path");
  expect(await read("secret.kez", ["secret.key"])).toBe("check the path");
  expect(await read("linkee")).toBe("check the path");
  expect(await read("key/a", ["keys/"])).toBe("there is no key");
  expect(await read("keyz/a")).toBe("there is no keyz, but keys");
});

test.each<[string, object]>([
  ["list_dir", { path: "folde" }],
  ["edit_file", { path: "folde", edits: [{ old_text: "", new_text: "b" }] }],
  ["move", { source: "folde", destination: "b", path: undefined }],
])("%s says it too", async (tool, { path, ...args }: { path?: string }) => {
  mkdirSync(join(base, "folder"));
  expect(await said(tool, path ? { path, ...args } : args)).toMatch(
    /^there is folder(?:; write_file makes a new file)?$/,
  );
});

test("a folder of many names costs no more than one of 2,000", async () => {
  for (let at = 0; at < 2100; at += 1) writeFileSync(join(base, `f${at}`), "");
  expect(await read("f1x")).toMatch(/^there is f\d+, f\d+ and f\d+$/);
});

test("the folder itself is told with what lists it, and a missing file with what makes it", async () => {
  mkdirSync(join(base, "folder"));
  expect(await read("folder")).toContain("folder is a directory; name a file in it (list_dir shows them)");
  expect(await said("edit_file", { path: "new.ts", edits: [{ old_text: "", new_text: "b" }] })).toContain(
    "check the path; write_file makes a new file",
  );
});
