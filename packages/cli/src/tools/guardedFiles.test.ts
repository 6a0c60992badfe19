import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolRegistry } from "@toolcrib/core";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { temporaryFolder } from "@toolcrib/testing";
import { createEditFileTool } from "@toolcrib/tools-fs";
import { beforeEach, expect, test } from "vitest";
import { guardOwnFiles } from "./guardedFiles.ts";

let root = "";
let state = "";
beforeEach(() => {
  root = temporaryFolder("guard");
  state = join(root, "home", "link", "toolcrib");
  mkdirSync(join(root, "home", "state"), { recursive: true });
  symlinkSync("state", join(root, "home", "link"));
  mkdirSync(join(root, "conf"));
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "conf", "servers.json"), "{}");
  symlinkSync(join("conf", "servers.json"), join(root, ".mcp.json"));
  writeFileSync(join(root, "sub", ".mcp.json"), "{}");
  linkSync(join(root, "conf", "servers.json"), join(root, "hard.json"));
  symlinkSync(join("sub", ".mcp.json"), join(root, "soft.json"));
  symlinkSync("sub", join(root, "folder"));
  writeFileSync(join(root, "a.txt"), "a");
});

function tools(): ToolRegistry {
  const options = { root, enable: ["remove"], extra: [createEditFileTool({ root })] };
  return createDefaultToolRegistry(undefined, options).use(guardOwnFiles([root], state));
}

const edits = [{ old_text: "{}", new_text: "[]" }];
const refused: readonly [tool: string, args: Record<string, unknown>][] = [
  ...[
    ".mcp.json",
    "new/.mcp.json",
    "sub/.mcp.json",
    ".MCP.json",
    ".mcp.json.",
    ".mcp.j\u200bson",
    "sub/../.mcp.json",
  ].map((path): [string, Record<string, unknown>] => ["write_file", { path, content: "x" }]),
  ...["conf/servers.json", "hard.json", "soft.json", "folder/.mcp.json", "home/link/toolcrib/consents/x.json"].map(
    (path): [string, Record<string, unknown>] => ["write_file", { path, content: "x" }],
  ),
  ["write_file", { path: "home/state/toolcrib/sessions/x.jsonl", content: "x" }],
  ["edit_file", { path: "sub/.mcp.json", edits }],
  ["edit_file", { path: "soft.json", edits }],
  ["mkdir", { path: ".mcp.json" }],
  ["mkdir", { path: "home/state/toolcrib" }],
  ["remove", { path: ".mcp.json" }],
  ["remove", { path: "conf" }],
  ["remove", { path: "home" }],
  ["remove", { path: "folder/.mcp.json" }],
  ["move", { source: ".mcp.json", destination: "b.json" }],
  ["move", { source: "a.txt", destination: "sub/.Mcp.Json" }],
  ["move", { source: "conf", destination: "conf2" }],
  ["move", { source: "a.txt", destination: "home/state/toolcrib/x" }],
  ["move", { source: "home/state", destination: "home/other" }],
];

test.each(refused)("%s %j is refused and changes nothing", async (name, args) => {
  const outcome = await tools().invoke(name, args);
  expect(outcome).toMatchObject({ ok: false, error: { code: "permission_denied" } });
  expect(String(!outcome.ok && outcome.error.message)).toMatch(/so no tool changes it/);
  expect(readFileSync(join(root, "conf", "servers.json"), "utf8")).toBe("{}");
  expect(readFileSync(join(root, "sub", ".mcp.json"), "utf8")).toBe("{}");
  expect(existsSync(join(root, "a.txt"))).toBe(true);
  expect(existsSync(join(root, "home", "state", "toolcrib"))).toBe(false);
});

const allowed: readonly [tool: string, args: Record<string, unknown>][] = [
  ["write_file", { path: "mcp.json", content: "x" }],
  ["write_file", { path: ".mcp.json.txt", content: "x" }],
  ["write_file", { path: "home/other.txt", content: "x" }],
  ["read_file", { path: ".mcp.json" }],
  ["mkdir", { path: "." }],
  ["mkdir", { path: "home/state" }],
  ["remove", { path: "soft.json" }],
  ["remove", { path: "folder" }],
  ["move", { source: "a.txt", destination: "b.txt" }],
];

test.each(allowed)("%s %j is allowed", async (name, args) => {
  expect(await tools().invoke(name, args)).toMatchObject({ ok: true });
});

test("a path outside the root is refused in the tool's own words", async () => {
  expect(await tools().execute("write_file", { path: "/x/.mcp.json", content: "x" })).toMatch(
    /Permission denied: \/x\/\.mcp\.json is outside/,
  );
});
