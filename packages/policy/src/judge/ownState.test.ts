import { linkSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type ExecutableTool, type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { createPathScope } from "@toolcrib/kit/files";
import { temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, expect, test } from "vitest";
import { createPolicy, type Policy } from "../index.ts";

/** A tool that does what its packs would say, and nothing. */
function tool(name: string, effectsOf: (path: string, resolved: string) => ToolEffect[]): ExecutableTool {
  return defineTool({
    name,
    description: name,
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    effects: async ({ path }) =>
      effectsOf(String(path), name === "run_bash" ? "" : await createPathScope({ cwd: root }).resolve(String(path))),
    execute: () => "done",
  });
}

let root = "";
let policy: Policy;
let registry: ToolRegistry;

beforeEach(() => {
  root = temporaryFolder("kept");
  writeIn(root, "state/my-app/answers.json", "{}");
  writeIn(root, "real/my-app (2)/x", "{}");
  writeIn(root, "rules.json", "{}");
  mkdirSync(join(root, "links"));
  symlinkSync(join(root, "real/my-app (2)"), join(root, "links/other"));
  linkSync(join(root, "rules.json"), join(root, "also.json"));
  linkSync(join(root, "state/my-app/answers.json"), join(root, "hard.json"));
  const folders = [join(root, "state/my-app"), join(root, "links/other")];
  policy = createPolicy({
    mode: "full",
    roots: root,
    allow: ["write_file", "effect:write(state/my-app/)"],
    ownState: {
      folders,
      why: "it is where my-app keeps what was allowed",
      files: { "rules.json": "says what may run" },
    },
  });
  registry = new ToolRegistry([
    tool("write_file", (_, path) => [{ kind: "write", path }]),
    tool("remove", (_, path) => [{ kind: "delete", path, tree: true }]),
    tool("run_bash", (command) => [{ kind: "execute", command, cwd: root }]),
  ]);
  registry.guard(policy.guard);
});

test.each([
  ["write_file", "state/my-app/answers.json"],
  ["write_file", "state/my-app/new.json"],
  ["write_file", "hard.json"],
  ["write_file", "links/other/x"],
  ["remove", "state"],
  ["run_bash", "rm -r state/my-app"],
  ["run_bash", "echo > 'real/my-app (2)/x'"],
])("%s %s is refused, whatever allows it", async (name, path) => {
  const outcome = await registry.invoke(name, { path });
  expect(outcome).toMatchObject({ ok: false, error: { code: "permission_denied" } });
  expect(String(!outcome.ok && outcome.error.message)).toContain("my-app keeps what was allowed");
  const tool = registry.get(name) as ExecutableTool;
  expect((await policy.explain({ name, args: { path }, tool })).text).toMatch(/^Denied: .*my-app keeps/);
});

test("another name of a file that decides is asked about, and nothing else is", async () => {
  const write = (path: string) => registry.check("write_file", { path });
  expect(await write("also.json")).toMatchObject({ ok: false, error: { code: "approval_required" } });
  expect(await registry.check("remove", { path: "." })).toMatchObject({ ok: false });
  for (const path of ["a.txt", "state/other.json"]) expect(await write(path)).toEqual({ ok: true });
  expect(await write(".git/config")).toMatchObject({ ok: false, error: { code: "approval_required" } });
});

test("of a remote the paths are compared, and nothing is looked up here", async () => {
  const there = (name: string, kind: "write" | "delete"): ExecutableTool =>
    tool(name, (path) => [{ kind, path: join(root, path), tree: kind === "delete", remote: "box" }]);
  registry = new ToolRegistry([there("write_file", "write"), there("remove", "delete")]);
  registry.guard(policy.guard);
  const change = (name: string, path: string) => registry.check(name, { path });
  for (const path of ["hard.json", "also.json"]) expect(await change("write_file", path)).toEqual({ ok: true });
  for (const [name, path] of [
    ["write_file", "state/my-app/answers.json"],
    ["remove", "state"],
  ] as const)
    expect(await change(name, path)).toMatchObject({ ok: false, error: { code: "permission_denied" } });
});
