import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type ExecutableTool, type ToolEffect, ToolError, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, describe, expect, test } from "vitest";
import { largeFolder } from "../../../testing/shell/largeFolder.ts";
import { createFsTools } from "../../tools-fs/src/fileSystem.ts";
import { createSearchTools } from "../../tools-search/src/search.ts";
import { createPolicy, type PolicyOptions } from "./index.ts";

let root: string;

beforeEach(() => {
  root = temporaryFolder("policy");
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/a.ts"), "a\n");
  writeFileSync(join(root, ".env"), "KEY=1\n");
});

type Args = Record<string, unknown>;

/** The tools of the packs under a policy: `allowed`, or what the call was answered instead. */
async function answer(options: PolicyOptions, name: string, args: Args, more: ExecutableTool[] = []): Promise<string> {
  const tools = [...createFsTools({ cwd: root }), ...createSearchTools({ cwd: root }), ...more];
  const registry = new ToolRegistry(tools);
  registry.guard(createPolicy({ roots: root, ...options }).guard);
  const checked = await registry.check(name, args);
  return checked.ok ? "allowed" : checked.error.message;
}

const read = (path: string): [string, Args] => ["read_file", { path }];
const write = (path: string): [string, Args] => ["write_file", { path, content: "x" }];

test("a rule for a tool that is not there is no error and decides nothing, as explain says", async () => {
  const [tool] = createFsTools({ cwd: root });
  if (!tool) throw new Error("no tools");
  const decidedBy = async (rule: string): Promise<unknown> =>
    (await createPolicy({ roots: root, deny: [rule] }).explain({ name: tool.name, args: { path: ".env" }, tool }))
      .decidedBy;
  expect(await decidedBy("read_file(.env)")).toMatchObject({ by: "rule" });
  expect(await decidedBy("raed_file(.env)")).toMatchObject({ by: "mode" });
});

describe("the mode decides where no rule does", () => {
  test("ask: reads inside the roots run, the rest is asked about", async () => {
    expect(await answer({}, ...read("src/a.ts"))).toBe("allowed");
    expect(await answer({}, "list_dir", { path: "." })).toBe("allowed");
    expect(await answer({}, "search_text", { query: "a", paths: ["."] })).toBe("allowed");
    expect(await answer({}, ...write("src/a.ts"))).toBe(
      "Approval required: write_file would write src/a.ts; asked because the mode ask asks before each change",
    );
    expect(await answer({}, "remove", { path: "src" })).toContain("would delete src and all below it");
    expect(await answer({}, ...read("/etc/hostname"))).toContain("asked because it is outside the roots");
  });

  test("read-only: reads inside the roots run, the rest is denied, whatever allow says", async () => {
    const options: PolicyOptions = { mode: "read-only", allow: ["write_file", "effect:write", "effect:read(/etc/)"] };
    expect(await answer(options, ...read("src/a.ts"))).toBe("allowed");
    expect(await answer(options, ...write("src/a.ts"))).toBe(
      "Permission denied: write_file would write src/a.ts; the mode read-only allows no changes",
    );
    expect(await answer(options, ...read("/etc/hostname"))).toContain("allows only reads inside the roots");
  });

  test("accept-edits: changes inside the roots run too", async () => {
    const options: PolicyOptions = { mode: "accept-edits" };
    expect(await answer(options, ...write("src/new/b.ts"))).toBe("allowed");
    expect(await answer(options, "remove", { path: "src/a.ts" })).toBe("allowed");
    expect(await answer(options, "move", { source: "src/a.ts", destination: "src/b.ts" })).toBe("allowed");
    expect(await answer(options, ...write(`${root}2/x`))).toContain("Approval required");
    symlinkSync("/tmp", join(root, "out"));
    expect(await answer(options, ...write("out/x"))).toContain("Approval required");
  });

  test("full: everything runs", async () => {
    expect(await answer({ mode: "full" }, ...write(`${root}2/x`))).toBe("allowed");
    expect(await answer({ mode: "full" }, ...read("/etc/hostname"))).toBe("allowed");
  });

  test("of several roots, each counts", async () => {
    const other = temporaryFolder("policy");
    const options: PolicyOptions = { mode: "accept-edits", roots: [other, root] };
    expect(await answer(options, ...write("src/a.ts"))).toBe("allowed");
    expect(await answer(options, ...write(join(other, "a")))).toBe("allowed");
    expect(await answer({ ...options, roots: [other] }, ...write("src/a.ts"))).toContain("it is outside the roots");
  });

  test("readable folders are read as roots are, and not written", async () => {
    const options: PolicyOptions = { mode: "accept-edits", readable: ["/etc"] };
    expect(await answer(options, ...read("/etc/hostname"))).toBe("allowed");
    expect(await answer(options, ...write("/etc/x"))).toContain("Approval required");
  });
});

describe("deny wins over ask, and ask over allow, in every mode", () => {
  const modes = ["ask", "accept-edits", "full"] as const;
  test.each(modes)("%s", async (mode) => {
    const all: PolicyOptions = {
      mode,
      deny: ["effect:write(src/a.ts)"],
      ask: ["write_file(src/)"],
      allow: ["write_file(src/**)"],
    };
    expect(await answer(all, ...write("src/a.ts"))).toBe(
      "Permission denied: write_file would write src/a.ts; the rule effect:write(src/a.ts) denies it",
    );
    expect(await answer(all, ...write("src/b.ts"))).toContain("asked because the rule write_file(src/) asks before it");
    expect(await answer({ ...all, ask: [] }, ...write("src/b.ts"))).toBe("allowed");
  });

  test("in read-only a rule still asks about a read, and denies one", async () => {
    const options: PolicyOptions = { mode: "read-only", ask: ["read_file(src/)"], deny: ["effect:read(.env)"] };
    expect(await answer(options, ...read("src/a.ts"))).toContain("Approval required");
    expect(await answer(options, ...read(".env"))).toContain("Permission denied");
  });
});

describe("a rule of paths", () => {
  test("to allow, must cover every effect", async () => {
    const move: [string, Args] = ["move", { source: "src/a.ts", destination: "lib/a.ts" }];
    expect(await answer({ allow: ["move(src/)"] }, ...move)).toContain("would write lib/a.ts");
    expect(await answer({ allow: ["move(src/)", "effect:write(lib/)"] }, ...move)).toBe("allowed");
  });

  test("to deny, sees the path as given and as resolved, whatever the letter case", async () => {
    symlinkSync(".env", join(root, "link"));
    const options: PolicyOptions = { mode: "full", deny: ["effect:read(.env)"] };
    for (const path of [".env", "link", "src/../.env", "./.env", join(root, ".env")]) {
      expect(await answer(options, ...read(path)), path).toContain("Permission denied");
    }
    expect(await answer({ mode: "full", deny: ["read_file(LINK)"] }, ...read("link"))).toContain("Permission denied");
    expect(await answer({ mode: "full", deny: ["effect:write(secret/)"] }, ...write("Secret/new"))).toContain(
      "Permission denied",
    );
  });

  test("to allow, sees only the resolved path, in its letter case", async () => {
    symlinkSync(".env", join(root, "link"));
    expect(await answer({ allow: ["write_file(link)"] }, ...write("link"))).toContain("Approval required");
    expect(await answer({ allow: ["write_file(SRC/)"] }, ...write("src/a.ts"))).toContain("Approval required");
    expect(await answer({ allow: ["write_file(.env)"] }, ...write("link"))).toBe("allowed");
  });

  test("that ends in / allows the directory itself, where there is one", async () => {
    const elsewhere = temporaryFolder("policy");
    const allow = [`effect:read(${elsewhere}/)`, `effect:write(${elsewhere}/new/)`];
    expect(await answer({ allow }, "list_dir", { path: elsewhere })).toBe("allowed");
    expect(await answer({ allow }, ...read(join(elsewhere, "x")))).toBe("allowed");
    expect(await answer({ allow }, "list_dir", { path: `${elsewhere}2` })).toContain("Approval required");
    expect(await answer({ allow }, ...write(join(elsewhere, "new")))).toContain("Approval required");
    expect(await answer({ allow: ["effect:read(/dev/null/)"] }, ...read("/dev/null"))).toContain("Approval required");
  });

  test("denies a search or removal of a folder that holds a denied path, and of no other", async () => {
    const options: PolicyOptions = { mode: "full", deny: ["effect:read(.env)", "effect:delete(a.ts)"] };
    expect(await answer(options, "search_text", { query: "a", paths: ["."] })).toContain("which holds .env");
    expect(await answer(options, "search_text", { query: "a", paths: ["src"] })).toBe("allowed");
    expect(await answer(options, "remove", { path: "src" })).toContain("which holds src/a.ts");
  });

  test("does not deny a search that leaves out the denied paths itself", async () => {
    const options: PolicyOptions = { deny: ["effect:read(.env)"], denied: [".env"] };
    expect(await answer(options, "search_text", { query: "a", paths: ["."] })).toBe("allowed");
    expect(await answer(options, ...read(".env"))).toContain("Permission denied");
    expect(
      await answer({ ...options, deny: ["effect:read(.env)", "effect:read(a.ts)"] }, "search_text", {
        query: "a",
        paths: ["."],
      }),
    ).toContain("which holds src/a.ts");
  });

  test("denies it to other tools, which leave nothing out", async () => {
    const options: PolicyOptions = { deny: ["effect:read(.env)"], denied: [".env"] };
    for (const origin of ["own", "x/@toolcrib/tools-search", "shell"]) {
      const tool = toolWith([{ kind: "read", path: root, tree: true }], { origin });
      expect(await answer(options, "own", {}, [tool])).toContain("which holds .env");
    }
  });

  test("a folder with too many names to look through counts as holding one", async () => {
    const large = largeFolder();
    const options: PolicyOptions = { mode: "full", deny: ["effect:read(*.pem)"] };
    expect(await answer(options, "search_text", { query: "a", paths: [large] })).toContain("more than can be searched");
  });
});

function toolWith(effects: unknown, more: object = {}): ExecutableTool {
  const plain = defineTool({ name: "own", description: "own", parameters: { type: "object" }, execute: () => "" });
  return { ...plain, effects: () => effects as ToolEffect[], ...more };
}

describe("effects that are unusual", () => {
  test("none: the call runs, unless a rule of deny or ask names the tool", async () => {
    const call = (options: PolicyOptions): Promise<string> => answer(options, "own", {}, [toolWith([])]);
    expect(await call({})).toBe("allowed");
    expect(await call({ mode: "read-only" })).toBe("allowed");
    expect(await call({ deny: ["own"] })).toContain("the rule own denies it");
    expect(await call({ deny: ["own(x)"] })).toContain("the rule own(x) denies it");
    expect(await call({ ask: ["own(x)"] })).toContain("the rule own(x) asks");
  });

  test("without a path: a pattern matches in deny and ask, never in allow", async () => {
    const call = (options: PolicyOptions): Promise<string> =>
      answer(options, "own", {}, [toolWith([{ kind: "write" }])]);
    expect(await call({ mode: "full", deny: ["effect:write(x)"] })).toContain("Permission denied");
    expect(await call({ mode: "full", ask: ["own(x)"] })).toContain("Approval required");
    expect(await call({ allow: ["effect:write(**)"] })).toContain("does not say which path");
    expect(await call({ allow: ["effect:write"] })).toBe("allowed");
  });

  test("a refusal of the tool itself denies with its text, any other failure is asked about", async () => {
    const failing = (error: unknown): ExecutableTool =>
      toolWith(undefined, {
        effects: () => {
          throw error;
        },
      });
    const refused = new ToolError({ code: "permission_denied", message: "Permission denied: not there" });
    expect(await answer({ mode: "full" }, "own", {}, [failing(refused)])).toBe("Permission denied: not there");
    expect(await answer({ mode: "full" }, "own", {}, [failing(new Error("x"))])).toContain(
      "could not say what it would do",
    );
    expect(await answer({ mode: "full" }, "own", {}, [failing(undefined)])).toContain("could not say what it would do");
    expect(await answer({ mode: "full", deny: ["own"] }, "own", {}, [failing(new Error("x"))])).toContain(
      "the rule own denies it",
    );
    expect(await answer({ mode: "read-only" }, "own", {}, [failing(new Error("x"))])).toContain("Permission denied");
    expect(await answer({ allow: ["own"] }, "own", {}, [failing(new Error("x"))])).toContain("Approval required");
  });

  test("of an unknown kind, or too many: asked about", async () => {
    expect(await answer({ mode: "full" }, "own", {}, [toolWith([{ kind: "paint", path: "/x" }])])).toContain(
      "Approval required",
    );
    const many = Array.from({ length: 1001 }, () => ({ kind: "read", path: join(root, "src/a.ts") }));
    expect(await answer({ mode: "full" }, "own", {}, [toolWith(many)])).toContain("more than 1000 things");
    expect(await answer({ mode: "full" }, "own", {}, [toolWith(many.slice(1))])).toBe("allowed");
  });

  test("the network: asked about except in full, denied in read-only", async () => {
    const call = (options: PolicyOptions): Promise<string> =>
      answer(options, "own", {}, [toolWith([{ kind: "network", host: "api.example.com" }])]);
    expect(await call({})).toContain("own would reach api.example.com");
    expect(await call({ mode: "accept-edits" })).toContain("Approval required");
    expect(await call({ mode: "full" })).toBe("allowed");
    expect(await call({ mode: "read-only", allow: ["own"] })).toContain("Permission denied");
    expect(await call({ allow: ["effect:network(*.example.com)"] })).toBe("allowed");
    expect(await call({ allow: ["own(api.example.com)"] })).toBe("allowed");
    expect(await call({ allow: ["effect:network(example.com)"] })).toContain("Approval required");
    expect(await call({ mode: "full", deny: ["effect:network(API.example.com)"] })).toContain("Permission denied");
    expect(await call({ mode: "full", ask: ["own(a b)"] })).toContain("Approval required");
  });
});

describe("a tool that does not declare its effects", () => {
  const tool = (more: object = {}): ExecutableTool => toolWith([], { effects: undefined, ...more });
  const call = (options: PolicyOptions, more: object = {}): Promise<string> => answer(options, "own", {}, [tool(more)]);

  test("is asked about, unless its traits say that it changes nothing and stays on this machine", async () => {
    expect(await call({})).toContain("own would run; asked because the tool does not say what it does");
    expect(await call({ mode: "accept-edits" })).toContain("Approval required");
    expect(await call({ mode: "full" })).toBe("allowed");
    expect(await call({ mode: "read-only", allow: ["own"] })).toContain("Permission denied");
    expect(await call({ allow: ["own"] })).toBe("allowed");
    expect(await call({}, { readOnly: true })).toBe("allowed");
    expect(await call({ mode: "read-only" }, { readOnly: true })).toBe("allowed");
    expect(await call({}, { readOnly: true, openWorld: true })).toContain("Approval required");
    expect(await call({}, { hints: { readOnly: true } })).toContain("Approval required");
  });

  test("is bound by every rule of deny or ask, unless a rule allows it by name", async () => {
    expect(await call({ mode: "full", deny: ["effect:write(.env)"] })).toContain(
      "it may do what the rule effect:write(.env) is about",
    );
    expect(await call({ mode: "full", ask: ["effect:network"] })).toContain("Approval required");
    expect(await call({ mode: "full", deny: ["effect:write(.env)"], allow: ["own"] })).toBe("allowed");
    expect(await call({ deny: ["effect:write"] }, { readOnly: true })).toBe("allowed");
    expect(await call({ deny: ["effect:read(.env)"] }, { readOnly: true })).toContain("Approval required");
  });

  test("a pattern never allows it, and binds it in deny and ask", async () => {
    expect(await call({ allow: ["own(x)"] })).toContain("Approval required");
    expect(await call({ mode: "full", deny: ["own(x)"] })).toContain("Permission denied");
  });

  test("of a server: mcp__server__* allows by origin, and denies by name", async () => {
    const mounted = { ...tool({ origin: "mcp:git.hub" }), name: "mcp__git_hub__get" };
    const named: ExecutableTool = {
      ...mounted,
      getSchema: () => ({ ...mounted.getSchema(), function: { ...mounted.getSchema().function, name: mounted.name } }),
    };
    const stolen: ExecutableTool = { ...named, origin: "mcp:git" };
    expect(await answer({ allow: ["mcp__git_hub__*"] }, named.name, {}, [named])).toBe("allowed");
    expect(await answer({ allow: ["mcp__git_hub__*"] }, named.name, {}, [stolen])).toContain("Approval required");
    expect(await answer({ mode: "full", deny: ["mcp__git_hub__*"] }, named.name, {}, [stolen])).toContain(
      "Permission denied",
    );
    expect(await answer({ mode: "full", deny: ["mcp__git__*"] }, named.name, {}, [named])).toBe("allowed");
  });
});
