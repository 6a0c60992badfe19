import { join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { npmProgram } from "./available.ts";

test("on Windows Node runs npm's own file, so that no shell reads a package's name", () => {
  const folder = temporaryFolder("npm program");
  const file = join(folder, "node_modules", "npm", "bin", "npm-cli.js");
  const find = (name: string): string | undefined => (name === "npm.cmd" ? join(folder, name) : undefined);
  expect(npmProgram("win32", find)).toEqual(["npm.exe"]);
  writeIn(folder, "node_modules/npm/bin/npm-cli.js", "");
  expect(npmProgram("win32", find)).toEqual([process.execPath, file]);
  expect(npmProgram("win32", (name) => (name === "npm.exe" ? "C:\\volta\\npm.exe" : undefined))).toEqual([
    "C:\\volta\\npm.exe",
  ]);
});

test("elsewhere npm is started by its name", () => {
  expect(npmProgram("linux")).toEqual(["npm"]);
});
