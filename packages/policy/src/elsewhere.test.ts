import { defineTool, type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { createPolicy, type PolicyOptions } from "./index.ts";

/** Asks the policy about a tool whose effects happen on the remote `box`. */
async function answer(effect: ToolEffect, options: PolicyOptions = {}, origin?: string): Promise<string> {
  const tool = defineTool({
    name: effect.kind === "execute" ? "run_bash" : "touch",
    description: "t",
    ...(origin !== undefined && { origin }),
    parameters: { type: "object" },
    effects: () => [{ ...effect, remote: "box" }],
    execute: () => "",
  });
  const registry = new ToolRegistry([tool]);
  registry.guard(createPolicy({ roots: "/", ...options }).guard);
  const checked = await registry.check(tool.name, {});
  return checked.ok ? "allowed" : checked.error.message;
}

const run = (command: string): ToolEffect => ({ kind: "execute", command, cwd: "/app" });
const remotes = { box: "/app" };

describe("paths in a remote", () => {
  test("are in none of the roots here", async () => {
    expect(await answer({ kind: "read", path: "/app/a.ts" })).toMatch(
      /would read \/app\/a\.ts on box; .* outside the roots/,
    );
    expect(await answer({ kind: "write", path: "/app/a.ts" }, { mode: "accept-edits" })).toContain("outside the roots");
  });

  test("are in the roots that the remote was given", async () => {
    expect(await answer({ kind: "read", path: "/app/a.ts" }, { remotes })).toBe("allowed");
    expect(await answer({ kind: "read", path: "/etc/passwd" }, { remotes })).toContain("outside the roots");
    expect(await answer({ kind: "write", path: "/app/a.ts" }, { remotes, mode: "accept-edits" })).toBe("allowed");
    expect(await answer({ kind: "write", path: "/app/a.ts" }, { remotes, mode: "read-only" })).toContain("denied");
  });

  test("are bound by rules, whose patterns start from the roots there", async () => {
    const secret: ToolEffect = { kind: "read", path: "/app/config/keys" };
    expect(await answer(secret, { remotes, deny: ["effect:read(config/keys)"] })).toContain("denied");
    expect(await answer(secret, { remotes, deny: ["effect:read(keys)"], mode: "full" })).toContain("denied");
    expect(
      await answer({ kind: "write", path: "/app/src/a" }, { remotes, allow: ["touch(src/)", "effect:write(src/)"] }),
    ).toBe("allowed");
    expect(await answer({ kind: "write", path: "/app/.git/config" }, { remotes, mode: "accept-edits" })).toContain(
      "is protected",
    );
  });

  test("with all below them may hold anything, as nobody can look", async () => {
    const tree: ToolEffect = { kind: "delete", path: "/app/build", tree: true };
    expect(await answer(tree, { remotes, mode: "accept-edits" })).toContain("more than can be searched");
    expect(await answer({ ...tree, kind: "read" }, { remotes })).toBe("allowed");
    expect(await answer({ ...tree, kind: "read" }, { remotes, deny: ["effect:read(.env)"] })).toContain("denied");
  });
});

test("what the packs there leave out themselves does not forbid searching a folder there, to the packs of that remote alone", async () => {
  const tree: ToolEffect = { kind: "read", path: "/app", tree: true };
  const options = { deny: ["effect:read(.env)"], remotes: { box: { roots: "/app", denied: [".env"] } } };
  expect(await answer(tree, options, "box: @toolcrib/tools-search")).toBe("allowed");
  for (const origin of [
    "other: @toolcrib/tools-search",
    "@toolcrib/box: tools-fs",
    "@toolcrib/tools-fs",
    "box: mine",
    "mine",
  ])
    expect(await answer(tree, options, origin)).toContain("denied");
  const named: ToolEffect = { kind: "read", path: "/app/.env" };
  expect(await answer(named, { ...options, remotes }, "box: @toolcrib/tools-fs")).toContain("denied");
});

describe("commands in a remote", () => {
  test("are asked about, also those that only read: what they would read cannot be looked at", async () => {
    expect(await answer(run("git status"), { remotes })).toMatch(/would run: git status on box.*a remote/);
    expect(await answer(run("git status"), { remotes, mode: "read-only" })).toContain("denied");
  });

  test("run where a rule or the mode lets them", async () => {
    expect(await answer(run("npm test"), { remotes, allow: ["run_bash(npm test)"] })).toBe("allowed");
    expect(await answer(run("npm test && rm x"), { remotes, allow: ["run_bash(npm test)"] })).toContain("rm x");
    expect(await answer(run("git status"), { remotes, mode: "full" })).toBe("allowed");
    expect(await answer(run("npm test"), { allow: ["run_bash(npm test)"] })).toContain("outside the roots");
  });

  test("are asked about where rules are about files: a link there may lead to one", async () => {
    const options: PolicyOptions = { remotes, allow: ["run_bash(cat *)"], deny: ["effect:read(.env)"] };
    expect(await answer(run("cat notes"), options)).toContain("where links lead there cannot be seen from here");
    expect(await answer(run("cat .env"), options)).toContain("denied");
  });
});

test.each([["/app"], [{ box: "app" }], [{ box: ["/a", 7] }], [{ box: {} }], [{ box: { roots: "app" } }]])(
  "%j is no list of remotes",
  (given) => {
    expect(() => createPolicy({ remotes: given as never })).toThrow(/remotes must be an object of absolute paths/);
  },
);
