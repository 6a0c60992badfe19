import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecutableTool, ToolEffect } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, expect, test } from "vitest";
import { createSearchTools } from "./search.ts";

const base = sharedFolder("search-effects");
let root: string;

beforeAll(() => {
  root = join(base, "root");
  mkdirSync(join(root, "real"), { recursive: true });
  writeFileSync(join(root, "real/file"), "text");
  symlinkSync("real", join(root, "link"));
  symlinkSync(base, join(root, "out"));
});

function toolNamed(name: string): ExecutableTool {
  return createSearchTools({ root }).find((tool) => tool.name === name) ?? expect.fail(`no ${name}`);
}

async function effectsOf(name: string, args: Record<string, unknown>): Promise<readonly ToolEffect[]> {
  return (await toolNamed(name).effects?.(args)) ?? expect.fail("no effects");
}

test("a search reads each of its paths, with all below a directory", async () => {
  expect(await effectsOf("search_text", { query: "a", paths: ["link", "real/file", "not/here", "link"] })).toEqual([
    { kind: "read", path: join(root, "real"), givenPath: join(root, "link"), tree: true },
    { kind: "read", path: join(root, "real/file") },
    { kind: "read", path: join(root, "not/here"), tree: true },
  ]);
  expect(await effectsOf("search_text", { query: "a", paths: [], include: "**/*.pem" })).toEqual([
    { kind: "read", path: root, tree: true },
  ]);
});

test("a search of names reads its directory with all below, whatever the pattern", async () => {
  expect(await effectsOf("search_files", { pattern: "real/**" })).toEqual([{ kind: "read", path: root, tree: true }]);
  expect(await effectsOf("search_files", { pattern: "*", cwd: "link" })).toEqual([
    { kind: "read", path: join(root, "real"), givenPath: join(root, "link"), tree: true },
  ]);
});

test("every tool says where it comes from", () => {
  for (const tool of createSearchTools()) expect(tool.origin).toBe("@toolcrib/tools-search");
});

test.each<[string, Record<string, unknown>]>([
  ["search_text", { query: "a", paths: ["real", "../x"] }],
  ["search_text", { query: "a", paths: ["out/x"] }],
  ["search_text", { query: "a", paths: [""] }],
  ["search_text", { query: "(", paths: ["real"], regex: true }],
  ["search_text", { query: "a\nb", paths: ["real"] }],
  ["search_text", { query: "a", paths: ["real"], include: "*.{a" }],
  ["search_files", { pattern: "*", cwd: "out" }],
  ["search_files", { pattern: "*", cwd: "a\0b" }],
  ["search_files", { pattern: "../*" }],
  ["search_files", { pattern: "/etc/*" }],
])("%s %j: the effects throw what the call throws", async (name, args) => {
  const tool = toolNamed(name);
  const thrown = await Promise.resolve(tool.effects?.(args)).then(
    () => "nothing",
    (error: unknown) => error,
  );
  const failed = await tool.execute(args).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: (failed as { code: string }).code, message: (failed as Error).message });
});
