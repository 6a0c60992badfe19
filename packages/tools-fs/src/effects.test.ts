import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecutableTool, ToolEffect } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, expect, test } from "vitest";
import { createFsTools } from "./fileSystem.ts";
import type { FsToolOptions } from "./options.ts";

const base = sharedFolder("fs-effects");
const root = join(base, "root");

beforeAll(() => {
  mkdirSync(join(root, "real/sub"), { recursive: true });
  writeFileSync(join(root, "real/file"), "text");
  symlinkSync("real", join(root, "link"));
  symlinkSync("real/file", join(root, "fileLink"));
  symlinkSync(base, join(root, "out"));
  symlinkSync(join(base, "new"), join(root, "dangling"));
  symlinkSync("loop", join(root, "loop"));
});

function toolNamed(name: string, options: FsToolOptions = { root }): ExecutableTool {
  return createFsTools(options).find((tool) => tool.name === name) ?? expect.fail(`no ${name}`);
}

async function effectsOf(name: string, args: Record<string, unknown>): Promise<readonly ToolEffect[]> {
  return (await toolNamed(name).effects?.(args)) ?? expect.fail("no effects");
}

/** With paths relative to the root. */
async function shortEffects(name: string, args: Record<string, unknown>): Promise<string[]> {
  return (await effectsOf(name, args)).map(({ kind, path = "", givenPath, tree }) => {
    const given = givenPath === undefined ? "" : ` as ${givenPath.slice(root.length + 1)}`;
    return `${kind} ${path.slice(root.length + 1)}${given}${tree ? " with all below" : ""}`;
  });
}

test.each<[string, Record<string, unknown>, string[]]>([
  ["read_file", { path: "real/file" }, ["read real/file"]],
  ["read_file", { path: "link/file" }, ["read real/file as link/file"]],
  ["read_file", { path: "fileLink" }, ["read real/file as fileLink"]],
  ["read_file", { path: "real/../real/./file" }, ["read real/file"]],
  ["read_file", { path: "link/../real/file" }, ["read real/file"]],
  ["read_file", { path: "missing/../fileLink" }, ["read real/file as fileLink"]],
  ["read_file", { path: "not/here" }, ["read not/here"]],
  ["write_file", { path: "new/a", content: "" }, ["write new/a"]],
  ["write_file", { path: "link/new/a", content: "" }, ["write real/new/a as link/new/a"]],
  ["write_file", { path: "fileLink", content: "" }, ["write real/file as fileLink"]],
  ["edit_file", { path: "fileLink", edits: [] }, ["read real/file as fileLink", "write real/file as fileLink"]],
  ["list_dir", { path: "link/" }, ["read real as link"]],
  ["mkdir", { path: "link/x/y" }, ["write real/x/y as link/x/y"]],
  ["remove", { path: "link" }, ["delete link"]],
  ["remove", { path: "fileLink" }, ["delete fileLink"]],
  ["remove", { path: "real" }, ["delete real with all below"]],
  ["remove", { path: "link/sub/" }, ["delete real/sub as link/sub with all below"]],
  ["remove", { path: "missing" }, ["delete missing with all below"]],
  ["remove", { path: "real/file/below" }, ["delete real/file/below with all below"]],
  ["move", { source: "fileLink", destination: "b" }, ["read fileLink", "delete fileLink", "write b"]],
  [
    "move",
    { source: "real", destination: "link/c" },
    ["read real with all below", "delete real with all below", "write real/c as link/c with all below"],
  ],
])("%s of %j", async (name, args, expected) => {
  expect(await shortEffects(name, args)).toEqual(expected);
});

test("every tool says what it would do, and where it comes from", () => {
  for (const tool of createFsTools({ root })) {
    expect(tool.effects).toBeTypeOf("function");
    expect(tool.origin).toBe("@toolcrib/tools-fs");
  }
});

const isOutside = /^(?:\.\.|out|dangling|\/)/;

test.each<[string, Record<string, unknown>]>([
  ...[
    "../x",
    "out/x",
    "out/new/x",
    "/etc/passwd",
    `${root}x`,
    "",
    "a\0b",
    "loop/x",
    "a".repeat(5000),
    "real/file/x",
  ].flatMap((path): [string, Record<string, unknown>][] => [
    ["read_file", { path }],
    ["write_file", { path, content: "" }],
    ["edit_file", { path, edits: [{ old_text: "a", new_text: "b" }] }],
    ["list_dir", { path }],
    ["mkdir", { path }],
    ...(path.startsWith("real") ? [] : [["remove", { path }] as [string, Record<string, unknown>]]),
    ["move", { source: path, destination: "b" }],
    ["move", { source: "real/file", destination: path }],
  ]),
  ["read_file", { path: "dangling" }],
  ["write_file", { path: "dangling", content: "" }],
  ["mkdir", { path: "dangling" }],
  ["read_file", { path: "real/file", encoding: "base64", limit: 2 }],
  ["write_file", { path: "new/", content: "" }],
  ["edit_file", { path: "real/", edits: [] }],
  ["remove", { path: "link/" }],
  ["move", { source: "link/.", destination: "b" }],
])("%s %j: the effects throw what the call throws", async (name, args) => {
  const tool = toolNamed(name);
  const thrown = await Promise.resolve(tool.effects?.(args)).then(
    () => "nothing",
    (error: unknown) => error,
  );
  const failed = await tool.execute(args).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: (failed as { code: string }).code, message: (failed as Error).message });
  if (Object.values(args).some((path) => isOutside.test(String(path)))) {
    expect(thrown).toMatchObject({ code: "permission_denied" });
    expect(readdirSync(base)).toEqual(["root"]);
  }
});

test("asking changes nothing", async () => {
  await effectsOf("write_file", { path: "fresh/a", content: "x" });
  await effectsOf("mkdir", { path: "fresh" });
  expect(String(await toolNamed("list_dir").execute({ path: "." }))).not.toContain("fresh");
});
