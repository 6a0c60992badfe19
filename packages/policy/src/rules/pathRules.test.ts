import { join } from "node:path";
import { defineTool, type ToolEffect } from "@toolcrib/core";
import { temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, describe, expect, test } from "vitest";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import type { PolicyOptions } from "../options.ts";
import { createPolicy } from "../policy.ts";

let root: string;
beforeEach(() => {
  root = temporaryFolder("policy-path-rules");
});

const plain = defineTool({ name: "own", description: "own", parameters: { type: "object" }, execute: () => "" });

async function decide(options: PolicyOptions, kind: ToolEffect["kind"], path: string, more: object = {}) {
  const tool = { ...plain, effects: (): ToolEffect[] => [{ kind, path: join(root, path), ...more }] };
  const policy = createPolicy({ roots: root, home: join(root, "home"), ...options });
  return (await policy.explain({ name: "own", args: {}, tool })).decision;
}

const put = (path: string): void => writeIn(root, path, "");

describe("a path is its own pattern", () => {
  const paths = [
    "app/(auth)/[id]/page.tsx",
    "app/[[...slug]]/page.tsx",
    "pages/[...all].ts",
    "src/routes/[lang=locale]/[[page]]/x.ts",
    "[a][b].md",
  ];

  test.each(paths)("in deny, ask and allow: %s", async (path) => {
    put(path);
    for (const rule of [`effect:read(${path})`, `own(${path})`]) {
      expect(await decide({ mode: "full", deny: [rule] }, "read", path)).toBe("deny");
      expect(await decide({ mode: "full", ask: [rule] }, "read", path)).toBe("ask");
    }
    expect(await decide({ allow: [`effect:write(${path})`] }, "write", path)).toBe("allow");
    expect(await decide({ mode: "full", protect: [path] }, "write", path)).toBe("ask");
    const policy = createPolicy({ roots: root, home: join(root, "home"), deny: [`effect:read(${path})`] });
    for (const line of [`cat '${path}'`, `wc -l < '${path}'`, "grep -r x ."])
      expect([line, (await judgeLine(policy, line, root)).decision]).toEqual([line, "deny"]);
  });

  test("with wildcards in its other names, and by each name as a pattern too", async () => {
    const options: PolicyOptions = { mode: "full", deny: ["effect:read(app/[id]/**)"] };
    expect(await decide(options, "read", "app/[id]/deep/x")).toBe("deny");
    expect(await decide(options, "read", "app/i/x")).toBe("deny");
    expect(await decide(options, "read", "app/id/x")).toBe("allow");
    const exact: PolicyOptions = { mode: "full", deny: ["effect:read(app/\\[id\\]/**)"] };
    expect(await decide(exact, "read", "app/[id]/deep/x")).toBe("deny");
    expect(await decide(exact, "read", "app/i/x")).toBe("allow");
  });

  test("and one that is malformed is refused", () => {
    for (const path of ["app/[id", "[[:x:]]", "a\\"])
      expect(() => createPolicy({ roots: root, deny: [`effect:read(${path})`] })).toThrow("Invalid path pattern");
  });
});

describe("a list of patterns is read as its model reads it, and never more openly", () => {
  test.each([
    ["secrets/\r", "secrets/key"],
    ["c.txt  ", "c.txt"],
    ["c.txt  ", "c.txt  "],
    ["*.pem\t \r", "sub/a.PEM"],
    ["a\\ ", "a "],
    ["#name", "#name"],
  ])("%j in each list is about %j", async (pattern, path) => {
    const rule = `effect:write(${pattern})`;
    expect(await decide({ mode: "full", deny: [rule] }, "write", path)).toBe("deny");
    expect(await decide({ mode: "full", deny: [`own(${pattern})`] }, "write", path)).toBe("deny");
    expect(await decide({ mode: "full", ask: [rule] }, "write", path)).toBe("ask");
    expect(await decide({ mode: "full", protect: ["", pattern] }, "write", path)).toBe("ask");
    if (path !== "sub/a.PEM") expect(await decide({ allow: [rule] }, "write", path)).toBe("allow");
  });

  test("a pattern of denied leaves out of searches what the packs leave out by it", async () => {
    put("c.txt");
    const search = { ...plain, origin: "@toolcrib/tools-search" };
    const tool = { ...search, effects: (): ToolEffect[] => [{ kind: "read", path: root, tree: true }] };
    const decideWith = async (rule: string, denied: string): Promise<string> => {
      const options = { roots: root, home: join(root, "home"), deny: [`effect:read(${rule})`], denied: ["", denied] };
      return (await createPolicy(options).explain({ name: "own", args: {}, tool })).decision;
    };
    for (const [rule, denied] of [
      ["c.txt", "c.txt\r"],
      ["c.txt ", "c.txt "],
      ["c.txt ", "c.txt"],
    ] as const)
      expect([rule, denied, await decideWith(rule, denied)]).toEqual([rule, denied, "allow"]);
    put("c.txt ");
    expect(await decideWith("c.txt ", "c.txt")).toBe("deny");
  });

  test.each([
    [{ deny: ["effect:read( .env)"] }, 'deny: "effect:read( .env)" is malformed: Invalid path pattern'],
    [{ ask: ["own(\t.env)"] }, "begins with a blank"],
    [{ protect: [" .env"] }, "begins with a blank"],
    [{ denied: ["\t.env"] }, "begins with a blank"],
    [{ protect: ["", "\r"] }, "protect has entries, but none of them is a pattern"],
    [{ denied: [""] }, "denied has entries, but none of them is a pattern"],
    [{ deny: ["effect:read(\r)"] }, "the pattern in parentheses is empty"],
    [{ deny: ["effect:read(*.{pem,key})"] }, "write *.pem, *.key as entries of their own"],
    [{ allow: ["effect:write(src/*.{ts,tsx})"] }, "write src/*.ts, src/*.tsx as entries of their own"],
    [{ protect: ["{infra,deploy}/"] }, "write infra/, deploy/ as entries of their own"],
    [{ denied: ["{a,b}"] }, "write a, b as entries of their own"],
    [{ remotes: { web: { roots: "/app", denied: ["\r"] } } }, "denied has entries, but none of them is a pattern"],
  ] satisfies [PolicyOptions, string][])("%j is refused in words", (options, message) => {
    expect(() => createPolicy({ roots: root, home: join(root, "home"), ...options })).toThrow(message);
  });

  test("a pattern for directories binds no read of a file, unless a line could put a folder in its place", async () => {
    put("secret");
    const options: PolicyOptions = { mode: "full", deny: ["effect:read(secret/)", "effect:write(secret/)"] };
    expect(await decide(options, "read", "secret")).toBe("allow");
    expect(await decide(options, "read", "absent/secret")).toBe("deny");
    expect(await decide(options, "write", "secret")).toBe("deny");
    expect(await decide(options, "read", "secret", { tree: true })).toBe("deny");
    const policy = createPolicy({ roots: root, home: join(root, "home"), ...options });
    expect((await judgeLine(policy, "rm secret; mv x secret; cat secret", root)).decision).toBe("deny");
  });

  test("words that a command quotes need be no pattern of paths, for a tool whose rule may be of commands", async () => {
    for (const line of [
      "awk '{print $1,$2}' x",
      'echo "{a,b}"',
      "grep -E '[0-9]{1,3}' x",
      "sed 's/a//' x",
      "grep '[a' x",
    ]) {
      const options: PolicyOptions = { mode: "full", deny: [`own(${line})`] };
      expect(await decide(options, "execute", "", { command: line })).toBe("deny");
      expect(() => createPolicy({ roots: root, deny: [`effect:read(${line})`] })).toThrow("Invalid path pattern");
    }
    for (const rule of ["own(x {a,b})", "own({a,b})", "own(src/*.{ts,tsx} x)"])
      expect(() => createPolicy({ roots: root, deny: [rule] })).toThrow("braces are no choice");
  });

  test("braces in the name of a file are that name", async () => {
    put("x/{a,b}.ts");
    const options: PolicyOptions = { mode: "full", deny: ["effect:read(x/{a,b}.ts)"], protect: ["{a,b}.ts"] };
    expect(await decide(options, "read", "x/{a,b}.ts")).toBe("deny");
    expect(await decide(options, "write", "x/{a,b}.ts")).toBe("ask");
    expect(await decide(options, "read", "x/a.ts")).toBe("allow");
    // Of a remote nothing can be looked at.
    const remotes = { web: "/app" };
    expect(await decide({ ...options, remotes }, "read", "x", { remote: "web", path: "/app/x/{a,b}.ts" })).toBe("deny");
  });
});
