import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecutableTool } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { sharedFolder, temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { createEditFileTool } from "./edit/editFile.ts";
import { createFsTools } from "./fileSystem.ts";
import { createListDirTool } from "./listDir.ts";
import { createMkdirTool } from "./mkdir.ts";
import { createMoveTool } from "./move/move.ts";
import type { FsToolOptions } from "./options.ts";
import { createApplyPatchTool } from "./patch/applyPatch.ts";
import { createReadFileTool } from "./read/readFile.ts";
import { createRemoveTool } from "./remove/remove.ts";
import { createWriteFileTool } from "./writeFile.ts";

const base = sharedFolder("fs-tools");

const names = ["read_file", "write_file", "edit_file", "list_dir", "mkdir", "remove", "move", "apply_patch"];

const factories = {
  createReadFileTool,
  createWriteFileTool,
  createEditFileTool,
  createListDirTool,
  createMkdirTool,
  createRemoveTool,
  createMoveTool,
  createApplyPatchTool,
};

test("the pack lists its eight tools in order", () => {
  expect(createFsTools().map(({ name }) => name)).toEqual(names);
});

test("traits say what each tool does", () => {
  const traits = createFsTools().map(({ readOnly = false, destructive, idempotent = false }) => [
    readOnly,
    destructive,
    idempotent,
  ]);
  expect(traits).toEqual([
    [true, undefined, true],
    [false, true, true],
    [false, true, false],
    [true, undefined, true],
    [false, false, true],
    [false, true, true],
    [false, true, false],
    [false, true, false],
  ]);
});

test("the description of remove warns that it is recursive", () => {
  const remove = createFsTools().find(({ name }) => name === "remove");
  expect(remove?.getSchema().function.description).toMatch(/recursive/);
});

describe.each([createFsTools, ...Object.values(factories)])("%o", (create) => {
  test.each<[unknown, string]>([
    [
      { root: process.env.TOOLCRIB_UNSET },
      "root must be the path of a directory, or an array of such, none of them empty, received undefined",
    ],
    [{ root: new URL("file:///tmp") }, "received an instance of URL; fileURLToPath"],
    [{ root: null }, "received null"],
    [{ root: [] }, "none of them empty, received an empty array"],
    [{ roots: ["/tmp"] }, 'unknown option "roots"; did you mean "root"?'],
    [{ rot: "/tmp" }, 'unknown option "rot"; did you mean "root"?'],
    [{ Root: "/tmp" }, 'unknown option "Root"; did you mean "root"?'],
    [null, "got null"],
    ["/tmp", "got a string"],
    [new URL("file:///tmp"), "got an instance of URL"],
  ])("options that cannot be understood are refused, not read as no limit: %o", (options, words) => {
    expect(() => create(options as FsToolOptions)).toThrow(TypeError);
    expect(() => create(options as FsToolOptions)).toThrow(words);
  });
});

test("the refusal names the function that was called", () => {
  for (const [name, create] of Object.entries({ createFsTools, ...factories })) {
    expect(() => create({ rot: "/" } as FsToolOptions)).toThrow(`${name}: unknown option`);
  }
});

let counter = 0;
function freshFile(): string {
  counter += 1;
  const name = `file-${counter}`;
  writeFileSync(join(base, name), "old text\n");
  return name;
}

const validArgs: Record<string, () => Record<string, unknown>> = {
  read_file: () => ({ path: freshFile() }),
  write_file: () => ({ path: freshFile(), content: "new" }),
  edit_file: () => ({ path: freshFile(), edits: [{ old_text: "old", new_text: "new" }] }),
  list_dir: () => ({ path: "." }),
  mkdir: () => ({ path: `dir-${freshFile()}` }),
  remove: () => ({ path: freshFile() }),
  move: () => ({ source: freshFile(), destination: `moved-${counter}` }),
  apply_patch: () => ({
    input: `*** Begin Patch\n*** Update File: ${freshFile()}\n-old text\n+new text\n*** End Patch`,
  }),
};

describe.each(names.map((name, index) => ({ name, index })))("$name", ({ name, index }) => {
  testTool(test, {
    create: () => createFsTools({ root: base })[index] as ExecutableTool,
    validArgs: () => (validArgs[name] as () => Record<string, unknown>)(),
  });
});

test.each<[string, Record<string, unknown>]>([
  ["write_file", { path: "a/b/new", content: "x" }],
  ["write_file", { path: "file", content: "x" }],
  ["edit_file", { path: "file", edits: [{ old_text: "old", new_text: "new" }] }],
  ["mkdir", { path: "a/b" }],
  ["move", { source: "file", destination: "new" }],
  ["move", { source: "file", destination: "a/b/new" }],
  ["remove", { path: "file" }],
])("a call of %s that has ended changes nothing: %j", async (name, args) => {
  const root = temporaryFolder("fs-ended");
  writeFileSync(join(root, "file"), "old");
  const beginCommit = (): void => {
    throw new Error("ended");
  };
  const tool = createFsTools({ cwd: root }).find((one) => one.name === name);
  await expect(tool?.execute(args, { beginCommit })).rejects.toThrow("ended");
  expect(readdirSync(root)).toEqual(["file"]);
  expect(readFileSync(join(root, "file"), "utf8")).toBe("old");
});
