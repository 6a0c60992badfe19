import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFile } from "../../../fixtures/mounting.ts";
import { findServerProgram, programNames, trustedPath } from "./serverProgram.ts";

const { PATH } = process.env;
const cwd = process.cwd();
let folder = "";
beforeEach(async () => {
  folder = realpathSync(dirname(await temporaryFile("x")));
});
afterEach(() => {
  process.chdir(cwd);
  process.env.PATH = PATH;
});

function program(...path: string[]): string {
  const file = join(folder, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

test("a name is never found where tools may write: below the working folder, by a link into it, in node_modules/.bin", () => {
  const good = program("usr", "bin", "server");
  const planted = [
    ["work", "server"],
    ["work", "bin", "server"],
    ["else", "node_modules", ".bin", "server"],
  ];
  for (const path of planted) program(...path);
  symlinkSync(join(folder, "work", "bin"), join(folder, "link"));
  process.chdir(join(folder, "work"));
  const bad = ["", ".", "bin", join(folder, "work"), join(folder, "link"), join(folder, "else/node_modules/.bin")];
  process.env.PATH = bad.join(delimiter);
  expect(() => findServerProgram("server", {})).toThrow(
    /the program server is not on PATH; install it, or write its path/,
  );
  process.env.PATH = [...bad, dirname(good)].join(delimiter);
  expect(findServerProgram("server", {})).toMatchObject({ command: good, env: { PATH: dirname(good) } });
});

test("a program given by a path, and the PATH of an entry, are used as written", () => {
  const own = program("work", "bin", "server");
  process.chdir(join(folder, "work"));
  expect(findServerProgram("./bin/server", {}).command).toBe("./bin/server");
  expect(findServerProgram("server", { PATH: dirname(own) })).toMatchObject({
    command: own,
    env: { PATH: dirname(own) },
  });
});

test("a program of Windows is found with each ending that its system starts, and no other file is", () => {
  expect(programNames("npx", ".COM;.EXE;;.CMD")).toEqual(["npx.com", "npx.exe", "npx.cmd"]);
  expect(programNames("Node.EXE", ".COM;.EXE")).toEqual(["Node.EXE"]);
  expect(programNames("npx", "")).toEqual(["npx"]);
});

test("a file that is not executable is not found as a program", () => {
  mkdirSync(join(folder, "a", "server"), { recursive: true });
  mkdirSync(join(folder, "b"));
  writeFileSync(join(folder, "b", "server"), "no program");
  const path = [join(folder, "a"), join(folder, "b")].join(delimiter);
  expect(() => findServerProgram("server", { PATH: path })).toThrow(/not on PATH/);
});

test("programs below the home directory are found when the working folder contains it", () => {
  expect(trustedPath("/home/me/.local/bin:/usr/bin", undefined)).toBe("/home/me/.local/bin:/usr/bin");
  expect(trustedPath("/home/me/.local/bin:/usr/bin", "/home/me")).toBe("/usr/bin");
});
