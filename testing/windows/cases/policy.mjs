// What the policy decides about files and commands on paths of Windows, in every spelling.
import assert from "node:assert/strict";
import fs, { mkdirSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { createPolicy } from "@toolcrib/policy";
import { createBashTools } from "@toolcrib/tools-bash";
import { createFsTools } from "@toolcrib/tools-fs";
import { newFolder, runTests, shortNameOf, test } from "../harness.mjs";

/** Says what is decided about a call, in a root that has some protected files. */
function setUp(options = {}) {
  const root = newFolder();
  mkdirSync(join(root, ".git", "hooks"), { recursive: true });
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src", "a.ts"), "");
  writeFileSync(join(root, ".git", "config"), "");
  const registry = new ToolRegistry([
    ...createFsTools({ root, cwd: root }),
    ...createBashTools({ root, cwd: root, runner: async () => ({ stdout: "", stderr: "", exitCode: 0, running: [] }) }),
  ]);
  registry.guard(createPolicy({ roots: [root], ...options }).guard);
  const decide = async (name, args) => {
    const outcome = await registry.check(name, args);
    return outcome.ok ? "runs" : outcome.error.code;
  };
  return {
    root,
    decide,
    write: (path) => decide("write_file", { path, content: "x" }),
    bash: (command) => decide("run_bash", { command }),
  };
}

test("each mode decides as elsewhere", async () => {
  for (const [mode, read, write] of [
    ["ask", "runs", "approval_required"],
    ["read-only", "runs", "permission_denied"],
    ["accept-edits", "runs", "runs"],
    ["full", "runs", "runs"],
  ]) {
    const { decide } = setUp({ mode });
    assert.equal(await decide("read_file", { path: "src\\a.ts" }), read, mode);
    assert.equal(await decide("write_file", { path: "src/b.ts", content: "" }), write, mode);
  }
});

test("a protected path is asked about in any letter case, with both slashes, and by its short name", async () => {
  const { root, write, decide } = setUp({ mode: "full" });
  const paths = [
    ".git/hooks/x",
    ".GIT\\hooks\\x",
    "src\\..\\.git\\config",
    ".Git/HOOKS/pre-commit",
    ".mcp.JSON",
    "src\\.vscode\\x",
  ];
  for (const path of [...paths, join(root, ".git\\config"), join(root, ".git\\config").toUpperCase()])
    assert.equal(await write(path), "approval_required", path);
  const short = shortNameOf(root, ".git");
  if (short !== undefined) assert.equal(await write(`${short}\\config`), "approval_required", short);
  assert.equal(await decide("remove", { path: ".GIT" }), "approval_required");
});

test("the tool's own folders are protected where Windows has them", async () => {
  for (const name of ["APPDATA", "LOCALAPPDATA"]) {
    const folder = process.env[name];
    assert.ok(folder, name);
    const registry = new ToolRegistry(createFsTools({ cwd: newFolder() }));
    registry.guard(createPolicy({ mode: "full", roots: [folder] }).guard);
    const outcome = await registry.check("write_file", { path: join(folder, "ToolCrib", "x.json"), content: "" });
    assert.equal(outcome.error?.code, "approval_required", name);
  }
});

test("rules hold in any letter case and with both slashes, from the root and from a drive", async () => {
  const slashed = (path) => path.replaceAll("\\", "/");
  const { root } = setUp();
  for (const pattern of ["src/", slashed(join(root, "src/")), `${slashed(root).replace(/^C/, "c")}/src/`]) {
    const { write, decide } = setUpIn(root, {
      mode: "accept-edits",
      deny: [`effect:write(${pattern})`, "effect:read(src/)"],
    });
    for (const path of [
      "src/a.ts",
      "SRC\\b",
      ".\\Src\\a.ts",
      join(root, "src\\a.ts"),
      join(root, "src\\a.ts").toLowerCase(),
    ])
      assert.equal(await write(path), "permission_denied", `${pattern} ${path}`);
    assert.equal(await decide("read_file", { path: "SRC\\A.ts" }), "permission_denied");
    assert.equal(await write("free.txt"), "runs", pattern);
  }
  assert.throws(() => createPolicy({ roots: [root], deny: ["effect:read(src\\a.ts)"] }), /write \/ between names/);
});

/** The file tools in a root that is there, with a policy of its own. */
function setUpIn(root, options) {
  const registry = new ToolRegistry(createFsTools({ root, cwd: root }));
  registry.guard(createPolicy({ roots: [root], ...options }).guard);
  const decide = async (name, args) => {
    const outcome = await registry.check(name, args);
    return outcome.ok ? "runs" : outcome.error.code;
  };
  return { decide, write: (path) => decide("write_file", { path, content: "x" }) };
}

test("a command is judged by the paths it names: drives as sh writes them, both slashes, any letter case", async () => {
  const { root, bash } = setUp({
    mode: "accept-edits",
    allow: ["run_bash(cat *)", "run_bash(node *)"],
    deny: ["effect:read(src/)"],
  });
  const drive = root.replace(/^([A-Za-z]):/, (_, letter) => `/${letter.toLowerCase()}`).replaceAll("\\", "/");
  const inQuotes = (path) => `"${path}"`;
  for (const path of [
    "src/a.ts",
    "SRC/A.ts",
    "./src/../src/a.ts",
    inQuotes(`${drive}/src/a.ts`),
    inQuotes(`${root.replaceAll("\\", "/")}/src/a.ts`),
  ])
    assert.equal(await bash(`cat ${path}`), "permission_denied", path);
  assert.equal(await bash("echo x > .GIT/hooks/pre-commit"), "approval_required");
  assert.equal(await bash(`echo x > ${inQuotes(`${drive}/.git/hooks/pre-commit`)}`), "approval_required");
  assert.equal(await bash("rm -rf /c/"), "approval_required");
});

/** Runs something and lists the paths on shares that the file system was asked about meanwhile. */
async function sharesLookedAt(run) {
  const asked = [];
  const names = ["statSync", "lstatSync", "readdirSync", "readFileSync", "openSync", "existsSync"];
  const places = [...names.map((name) => [fs, name]), [fs.realpathSync, "native"], [fs.promises, "opendir"]];
  const originals = places.map(([owner, name]) => owner[name]);
  for (const [at, [owner, name]] of places.entries()) {
    const wrapped = (path, ...more) => {
      if (/^[\\/]{2}/.test(String(path))) asked.push(`${name} ${path}`);
      return originals[at].call(owner, path, ...more);
    };
    owner[name] = Object.assign(wrapped, originals[at]);
  }
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    for (const [at, [owner, name]] of places.entries()) owner[name] = originals[at];
    syncBuiltinESMExports();
  }
  return asked;
}

test("what lies on another share is asked about, and not looked at", async () => {
  const { bash } = setUp({ mode: "accept-edits" });
  assert.equal(await bash("cat //192.0.2.1/share/x"), "approval_required");
  const share = "//192.0.2.1/share";
  const lines = [
    "cat X/x",
    "cat X/*",
    "cd X && git status",
    "cd X; ls *",
    "md5sum -c X/sums",
    "diff X/a src",
    "rm -rf X/a",
  ];
  const more = [
    "mv X/a src",
    "cp -r src X/a",
    "cp -r X/a/ .",
    "echo x > X/a",
    "git diff X/a",
    "node X/a.js",
    "cat < X/a",
  ];
  const root = newFolder();
  const state = { folders: [join(root, "state")], why: "it is the state", files: { "own.json": "decides" } };
  const rules = ["cat", "cp", "mv", "rm", "node"].map((program) => `run_bash(${program} *)`);
  const policy = createPolicy({
    roots: [root],
    allow: [...rules, "effect:write(//192.0.2.1/share/d/)"],
    deny: ["effect:read(.env)", "effect:write(.env)"],
    ownState: state,
  });
  const [tool] = createBashTools({ root, cwd: root });
  const explain = (effects) => policy.explain({ name: "x", args: {}, tool, origin: "own", effects });
  const asked = await sharesLookedAt(async () => {
    for (const line of [...lines, ...more])
      await explain([{ kind: "execute", command: line.replaceAll("X", share), cwd: root }]);
    await explain([{ kind: "execute", command: "ls", cwd: "\\\\192.0.2.1\\share" }]);
    for (const kind of ["read", "write", "delete"]) {
      for (const tree of [true, false]) await explain([{ kind, path: "\\\\192.0.2.1\\share\\d", tree }]);
    }
  });
  assert.deepEqual(asked, []);
  assert.deepEqual((await sharesLookedAt(() => fs.existsSync(share))).length, 1);
});

await runTests();
