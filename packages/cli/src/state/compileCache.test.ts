import { chmodSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { startProgram, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test, vi } from "vitest";
import { bin } from "../../fixtures/command.ts";
import { keepCompiledCode } from "./compileCache.ts";

let base = "";
let compiled = "";

beforeEach(() => {
  base = temporaryFolder("compiled");
  compiled = join(base, "state", "toolcrib", "compiled");
});

/** The folders that Node was told to use. */
function kept(env: Record<string, string> = {}): unknown[] {
  const enable = vi.spyOn(module, "enableCompileCache").mockReturnValue({ status: 1 });
  keepCompiledCode(env, join(base, "state", "toolcrib"));
  const folders = enable.mock.calls.map(([folder]) => folder);
  enable.mockRestore();
  return folders;
}

test("compiled code is kept in the user's state folder, for the user alone", async () => {
  const env = { NODE_COMPILE_CACHE: "", XDG_STATE_HOME: join(base, "state") };
  const helped = { code: 0, stdout: expect.stringContaining("Usage: toolcrib"), stderr: "" };
  expect(await startProgram(bin, ["--help"], { cwd: base, env }).ended).toMatchObject(helped);
  expect(readdirSync(compiled)).toHaveLength(1);
  for (const folder of [compiled, join(compiled, "..")]) expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(kept()).toEqual([compiled]);
});

test("Node's own settings come first", () => {
  expect(kept({ NODE_COMPILE_CACHE: join(base, "elsewhere") })).toEqual([]);
  expect(kept({ NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual([]);
  expect(readdirSync(base)).toEqual([]);
});

test("what others could have written is not run, nor anything written there: a folder that others may write in, a link", () => {
  mkdirSync(compiled, { recursive: true });
  chmodSync(join(compiled, ".."), 0o700);
  chmodSync(compiled, 0o777);
  expect(kept()).toEqual([]);
  rmdirSync(compiled);
  const elsewhere = join(base, "elsewhere");
  mkdirSync(elsewhere, { mode: 0o700 });
  symlinkSync(elsewhere, compiled);
  expect(kept()).toEqual([]);
});

test("where nothing can be kept, nothing is", () => {
  writeFileSync(join(base, "state"), "a file");
  expect(kept()).toEqual([]);
  expect(readdirSync(base)).toEqual(["state"]);
});
