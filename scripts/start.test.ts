import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, expect, test } from "vitest";

let house: string;

beforeEach(() => {
  house = temporaryFolder("house");
  for (const folder of ["scripts", "bin", "packages/cli/dist"]) mkdirSync(join(house, folder), { recursive: true });
  copyFileSync(fileURLToPath(new URL("./start.mjs", import.meta.url)), join(house, "scripts", "start.mjs"));
});

/** `npm start` in a clone whose build prints a line and ends with `code`. */
function start(code: number): { status: number | null; stdout: string; stderr: string } {
  writeFileSync(join(house, "bin", "npx"), `#!/bin/sh\necho "lines of the build"\nexit ${code}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${join(house, "bin")}${delimiter}${process.env.PATH}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(house, "scripts", "start.mjs"), "hi"], {
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr };
}

test("start: a build that works is silent; one that fails is shown, and nothing runs", () => {
  writeFileSync(join(house, "packages/cli/dist/bin.js"), 'console.log("ran");\n');
  expect(start(0)).toEqual({ status: 0, stdout: "ran\n", stderr: "" });
  expect(start(3)).toEqual({
    status: 3,
    stdout: "",
    stderr: "lines of the build\nstart: the build failed; see the lines above.\n",
  });
});

test("start: the first build is announced, and shown only if it fails", () => {
  const announced = "Building, which takes a while the first time.\n";
  expect(start(0)).toMatchObject({ stdout: "", stderr: expect.not.stringContaining("lines of the build") });
  expect(start(3)).toMatchObject({ status: 3, stderr: expect.stringMatching(`^${announced}lines of the build\n`) });
});
