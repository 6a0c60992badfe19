import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProgramEnd, startProgram, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
let base = "";
let compiled = "";

beforeEach(() => {
  base = temporaryFolder("compiled");
  compiled = join(base, "state", "toolcrib", "compiled");
});

const help = (env: Record<string, string> = {}): Promise<ProgramEnd> =>
  startProgram(bin, ["--help"], {
    cwd: base,
    env: { NODE_COMPILE_CACHE: "", XDG_STATE_HOME: join(base, "state"), ...env },
  }).ended;

const helped = { code: 0, stdout: expect.stringContaining("Usage: toolcrib"), stderr: "" };

test("compiled code is kept in the user's state folder, for the user alone", async () => {
  expect(await help()).toMatchObject(helped);
  expect(readdirSync(compiled)).toHaveLength(1);
  for (const folder of [compiled, join(compiled, "..")]) expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("the version is printed without it, and Node's own settings come first", async () => {
  await startProgram(bin, ["--version"], { cwd: base, env: { XDG_STATE_HOME: join(base, "state") } }).ended;
  await help({ NODE_COMPILE_CACHE: join(base, "elsewhere") });
  await help({ NODE_DISABLE_COMPILE_CACHE: "1" });
  expect(readdirSync(base)).toEqual(["elsewhere"]);
});

describe("what others could have written is not run, nor anything written there:", () => {
  test("a folder that others may write in", async () => {
    mkdirSync(compiled, { recursive: true });
    chmodSync(join(compiled, ".."), 0o700);
    chmodSync(compiled, 0o777);
    expect(await help()).toMatchObject(helped);
    expect(readdirSync(compiled)).toEqual([]);
  });

  test("a link", async () => {
    const elsewhere = join(base, "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    mkdirSync(join(compiled, ".."), { recursive: true, mode: 0o700 });
    symlinkSync(elsewhere, compiled);
    expect(await help()).toMatchObject(helped);
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});

test("where nothing can be kept, the command works as well", async () => {
  writeFileSync(join(base, "state"), "a file");
  expect(await help()).toMatchObject(helped);
  expect(await help({ XDG_STATE_HOME: "", HOME: "relative" })).toMatchObject(helped);
  expect(readdirSync(base)).toEqual(["state"]);
});
