import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { mcpConfigName } from "@toolcrib/mcp/config";
import { createPolicy, memoryStore } from "@toolcrib/policy";
import { connectTools } from "@toolcrib/remote";
import { temporaryFolder } from "@toolcrib/testing";
import { createLeftovers } from "@toolcrib/tools-bash";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { findFolders } from "../state/folders.ts";
import { createPermissions, type PermissionFlags, type Permissions } from "./permissions.ts";
import { createToolSet } from "./toolSet.ts";

let root = "";
let state = "";
beforeEach(() => {
  root = temporaryFolder("(perm) [a]");
  state = join(root, "home", "link");
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
  linkSync(join(root, "a.txt"), join(root, "twice.txt"));
});

function permissions(flags: PermissionFlags = {}): Permissions {
  const terminal = { style: { dim: String }, note: () => {} } as never;
  return createPermissions(
    flags,
    [root],
    { folders: findFolders({ XDG_STATE_HOME: state }), cwd: process.cwd(), terminal },
    "ask",
  );
}

function tools(flags: PermissionFlags = { mode: "full" }): ToolRegistry {
  const program = {
    leftovers: createLeftovers(),
    folders: findFolders({ XDG_STATE_HOME: state }),
    cwd: process.cwd(),
    terminal: {} as never,
  };
  return createToolSet({ root: [root], enable: ["remove", "run_bash"] }, permissions(flags), program);
}

type Attempt = readonly [tool: string, args: Record<string, unknown>];
const write = (path: string): Attempt => ["write_file", { path, content: "x" }];
const run = (command: string): Attempt => ["run_bash", { command }];
const edits = [{ old_text: "{}", new_text: "[]" }];

function expectUnchanged(): void {
  expect(readFileSync(join(root, "conf", "servers.json"), "utf8")).toBe("{}");
  expect(readFileSync(join(root, "sub", ".mcp.json"), "utf8")).toBe("{}");
  expect(existsSync(join(root, "a.txt"))).toBe(true);
}

describe("the folder of what the user has allowed is changed by no tool, in no mode, whatever is allowed", () => {
  const own = "home/state/toolcrib";
  const attempts: readonly Attempt[] = [
    write("home/link/toolcrib/consents/x.json"),
    write(`${own}/sessions/x.jsonl`),
    write("home/state/TOOLCRIB/permissions.json"),
    write("home/state/tool\u200bcrib/permissions.json"),
    write("home/x/../state/./toolcrib/permissions.json"),
    ["mkdir", { path: own }],
    ["mkdir", { path: `${own}/consents/deep` }],
    ["edit_file", { path: `${own}/permissions.json`, edits }],
    ["remove", { path: own }],
    ["remove", { path: "home" }],
    ["move", { source: "home/state", destination: "home/other" }],
    ["move", { source: "home", destination: "away" }],
    ["move", { source: "a.txt", destination: `${own}/x` }],
    run(`echo x > ${own}/permissions.json`),
    run("cp a.txt home/link/toolcrib/permissions.json"),
    run(`rm -r ${own}`),
    run(`cd home/state && tee toolcrib/permissions.json < a.txt`),
  ];
  test.each(attempts)("%s %j", async (name, args) => {
    for (const exists of [false, true]) {
      if (exists) mkdirSync(join(root, own));
      if (exists) writeFileSync(join(root, own, "permissions.json"), "{}");
      const outcome = await tools({ mode: "full", allow: [name] }).invoke(name, args);
      expect(outcome).toMatchObject({ ok: false, error: { code: "permission_denied" } });
      expect(String(!outcome.ok && outcome.error.message)).toContain("toolcrib stores the user's answers");
    }
    expect(readFileSync(join(root, own, "permissions.json"), "utf8")).toBe("{}");
    expectUnchanged();
  });

  test("by another name of a file there", async () => {
    mkdirSync(join(root, own, "consents"), { recursive: true });
    writeFileSync(join(root, own, "consents", "x.json"), "{}");
    linkSync(join(root, own, "consents", "x.json"), join(root, "linked.json"));
    for (const [name, args] of [write("linked.json"), ["edit_file", { path: "linked.json", edits }]] as const) {
      const outcome = await tools().execute(name, args);
      expect(outcome).toContain("toolcrib stores the user's answers");
    }
    expect(readFileSync(join(root, "linked.json"), "utf8")).toBe("{}");
  });

  test("and permissions explain says so", async () => {
    const { policy } = permissions({ mode: "full" });
    const registry = tools();
    const explain = async ([name, args]: Attempt): Promise<string> =>
      (await policy.explain({ name, args, tool: registry.get(name) as never })).text;
    expect(await explain(write(`${own}/x`))).toMatch(/^Denied: .*toolcrib stores the user's answers/);
    expect(await explain(run(`rm -r ${own}`))).toMatch(/^Denied: .*toolcrib stores the user's answers/);
    expect(await explain(write("hard.json"))).toMatch(
      /^Asked: write_file would write hard\.json; it is another name of \.mcp\.json/,
    );
    expect(await explain(write("a.txt"))).toMatch(/^Allowed: /);
  });
});

describe("what names programs is asked about in every mode, and so refused where nobody is asked", () => {
  const attempts: readonly Attempt[] = [
    ...[".mcp.json", "new/.mcp.json", "sub/.mcp.json", ".MCP.json", ".mcp.json.", ".mcp.j\u200bson", ".mcp.json:x"].map(
      write,
    ),
    ...["conf/servers.json", "hard.json", "soft.json", "folder/.mcp.json", "sub/../.mcp.json"].map(write),
    ["edit_file", { path: "sub/.mcp.json", edits }],
    ["edit_file", { path: "soft.json", edits }],
    ["mkdir", { path: ".mcp.json" }],
    ["remove", { path: ".mcp.json" }],
    ["remove", { path: "conf" }],
    ["remove", { path: "folder/.mcp.json" }],
    ["move", { source: ".mcp.json", destination: "b.json" }],
    ["move", { source: "a.txt", destination: "sub/.Mcp.Json" }],
    ["move", { source: "conf", destination: "conf2" }],
    ...[".git/hooks/pre-commit", ".envrc", ".vscode/tasks.json", ".toolcrib/x", ".github/workflows/x.yml"].map(write),
    run("echo x > .mcp.json"),
    run("cp a.txt .git/hooks/pre-commit"),
  ];
  test.each(attempts)("%s %j", async (name, args) => {
    for (const mode of ["full", "accept-edits", "ask"] as const) {
      const outcome = await tools({ mode, allow: ["write_file(*)"] }).invoke(name, args);
      expect(outcome).toMatchObject({ ok: false, error: { code: "approval_required" } });
    }
    const outcome = await tools({ mode: "read-only" }).invoke(name, args);
    expect(outcome).toMatchObject({ ok: false, error: { code: "permission_denied" } });
    expectUnchanged();
  });
});

const harmless: readonly Attempt[] = [
  ...["mcp.json", ".mcp.json.txt", "home/other.txt", "twice.txt"].map(write),
  ["read_file", { path: ".mcp.json" }],
  ["mkdir", { path: "." }],
  ["mkdir", { path: "home/state" }],
  ["remove", { path: "soft.json" }],
  ["remove", { path: "folder" }],
  ["move", { source: "a.txt", destination: "b.txt" }],
  run('for f in a b; do echo "$(date) $f"; done'),
];
test.each(harmless)("%s %j goes on in the mode full", async (name, args) => {
  expect(await tools().invoke(name, args)).toMatchObject({ ok: true });
});

test("a path outside the root is refused in the tool's own words", async () => {
  expect(await tools().execute(...(write("/x/.mcp.json") as [string, object]))).toMatch(
    /Permission denied: \/x\/\.mcp\.json is outside/,
  );
});

test("a denied path is read, found and listed by no tool, and by no command", async () => {
  writeFileSync(join(root, ".env"), "TOKEN=secret-value\n");
  const registry = tools({ mode: "full", deny: ["effect:read(.env)"] });
  for (const [name, args] of [
    ["read_file", { path: ".env" }],
    ["write_file", { path: ".env", content: "" }],
    ["search_text", { query: "TOKEN", paths: ["."] }],
    ["search_files", { pattern: "**/.e*" }],
    ["list_dir", { path: "." }],
    ["remove", { path: "." }],
    run("cat .env"),
    run("cat ./.en?"),
    run("grep -r secret ."),
    run('cat "$(echo .env)"'),
    ["run_bash", { command: "cat .env", cwd: root }],
  ] as const) {
    const output = await registry.execute(name, args);
    expect(output, `${name} ${JSON.stringify(args)}`).not.toMatch(/secret-value|^\.env/m);
  }
  expect(existsSync(join(root, ".env"))).toBe(true);
});

test("the file of servers is guarded under the name by which it is read", async () => {
  // The link is all that leads there: no pattern knows the name of the file itself.
  rmSync(join(root, ".mcp.json"));
  symlinkSync(join("conf", "servers.json"), join(root, mcpConfigName));
  const outcome = await tools().check("write_file", { path: "conf/servers.json", content: "x" });
  expect(outcome).toMatchObject({ ok: false, error: { code: "approval_required" } });
});

test("an answer that is remembered for one command of --on holds for no other", async () => {
  const remembered = memoryStore();
  const ask = async (on: string): Promise<boolean> => {
    const remote = await connectTools(on, { root });
    onTestFinished(() => remote.close());
    const policy = createPolicy({ remotes: { [remote.name]: root }, remembered });
    const registry = new ToolRegistry(remote.tools).guard(policy.guard);
    let isAsked = false;
    await registry.execute(
      "write_file",
      { path: "a.txt", content: "x" },
      {
        approve: async (call, question) => {
          isAsked = true;
          await policy.remember(call, question);
          return true;
        },
      },
    );
    return isAsked;
  };
  const [dev, prod] = ["command:env STAGE=dev", "command:env STAGE=prod"];
  expect([await ask(dev), await ask(dev), await ask(prod)]).toEqual([true, false, true]);
});
