import { spawnSync } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { findProblems } from "./checkBoundaries.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
let house: string;

beforeEach(() => {
  house = temporaryFolder("house");
});

const put = (path: string, text: string): void => writeIn(house, path, text);
const check = (script: string): { status: number | null; stderr: string } => {
  const { status, stderr } = spawnSync(process.execPath, [join(here, script), house], { encoding: "utf8" });
  return { status, stderr };
};

test("boundaries: the workspace itself passes", () => {
  expect(findProblems(root)).toEqual([]);
});

test("boundaries: a problem fails the command", () => {
  put("packages/core/package.json", '{ "dependencies": { "left-pad": "1" } }');
  put("packages/core/src/a.ts", "");
  expect(check("checkBoundaries.mjs")).toEqual({
    status: 1,
    stderr: "boundaries: packages/core/package.json: may not depend on left-pad\n",
  });
});

/** Each row: what it is, the package, its source, and the problem. */
test.each([
  [
    "an import against the arrows",
    "core",
    'import { Agent } from "@toolcrib/agent";',
    "may not import @toolcrib/agent;",
  ],
  [
    "a dynamic one of another pack",
    "tools-fs",
    'const x = await import("@toolcrib/tools-bash");',
    "may not import @toolcrib/tools-bash;",
  ],
  [
    "a recursive rm",
    "core",
    "rmSync(folder, { force: true, recursive: true });",
    "a recursive rmSync; use ensureDirectory,",
  ],
  [
    "a recursive mkdir",
    "core",
    'await mkdir(join(a, "b"), {\n  recursive: true,\n});',
    "a recursive mkdir; use ensureDirectory,",
  ],
  [
    "a relative import into another package",
    "agent",
    'export { x } from "../../core/src/x.ts";',
    "reaches into another package",
  ],
  [
    "an import of the package's own published face",
    "agent",
    'import { x } from "./index.ts";',
    "imports the published face",
  ],
])("boundaries: %s fails the check, in a test it does not", (_what, name, text, problem) => {
  put(`packages/${name}/package.json`, "{}");
  put(`packages/${name}/src/a.ts`, `${text}\nreaddirSync(folder, { recursive: true });\n`);
  put(`packages/${name}/src/b.test.ts`, `${text}\n`);
  const problems = findProblems(house);
  expect(problems.join("\n")).toContain(`packages/${name}/src/a.ts: ${problem}`);
  expect(problems.join("\n")).not.toContain("b.test.ts");
});

test("lengths: a file of 301 lines and functions of 81 lines fail the lint", () => {
  put("biome.json", readFileSync(join(root, "biome.json"), "utf8"));
  const body = `${"  g();\n".repeat(81)}}\n`;
  put("packages/core/src/file.ts", "g();\n".repeat(301));
  put("packages/core/src/short.ts", `function f() {\n${body}`);
  put("packages/core/src/long.ts", `function f(\n  a: string,\n): { b: string } {\n${body}`);
  const args = [join(root, "node_modules/@biomejs/biome/bin/biome"), "lint", "--vcs-enabled=false"];
  const { stderr } = spawnSync(process.execPath, args, { cwd: house, encoding: "utf8" });
  const found = [...stderr.matchAll(/src\/(\w+)\.ts\S* lint\/\w+\/noExcessiveLinesPer(\w+)/g)];
  expect(found.map(([, file, what]) => `${file} ${what}`).sort()).toEqual([
    "file File",
    "long Function",
    "short Function",
  ]);
});

test.each([
  "export const a = {\n  get b() {\n",
  "class A {\n  static set b(c) {\n",
  "function a() {\n  const b = async (\n    c: string,\n  ): Promise<{ d: string }> => {\n",
  "function a(): () => void {\n  return () => {\n",
])("lengths: a function of 81 lines fails the check, blank ones counted, a shorter one does not", (head) => {
  const body = (lines: number): string => `${head}${"    g();\n".repeat(lines - 1)}\n`;
  put("packages/core/package.json", "{}");
  put("packages/core/src/short.ts", `${body(75)}  },\n};\n`);
  put("packages/core/src/long.ts", `${body(81)}  },\n};\n`);
  const problem = /long\.ts:\d: a function has more than 80 lines$/;
  const found = findProblems(house);
  expect(found.length).toBeGreaterThan(0);
  for (const one of found) expect(one).toMatch(problem);
});

test("lengths: a class or an object of more than 80 lines passes", () => {
  put("packages/core/package.json", "{}");
  const heads = ["export class A extends B(C) {", "export const a: B = {", "interface A extends B {", "type A = {"];
  for (const [index, head] of heads.entries())
    put(`packages/core/src/a${index}.ts`, `${head}\n${"  b: 1,\n".repeat(90)}}\n`);
  expect(findProblems(house)).toEqual([]);
});

test("boundaries: an import from a room that is not open, a circle and an unknown room fail the check", () => {
  put("packages/agent/package.json", "{}");
  put("packages/agent/src/turn/loop.ts", "export const loop = 1;\n");
  put("packages/agent/src/providers/openai/reply.ts", 'import { loop } from "../../turn/loop.ts";\nexport { loop };\n');
  put("packages/agent/src/a.ts", 'import type { B } from "./b.ts";\nexport type A = B;\n');
  put("packages/agent/src/b.ts", 'import type { A } from "./a.ts";\nexport type B = A;\n');
  put("packages/agent/src/attic/old.ts", "");
  put("packages/agent/src/c.ts", 'import "./attic/old.ts";\nexport * from "./attic/old.ts";\n');
  const text = findProblems(house).join("\n");
  expect(text).toContain("agent/src/providers/openai/reply.ts: may not import turn/loop.ts; providers/openai may use");
  expect(text).toContain("packages/agent/src: a circle: a.ts > b.ts > a.ts");
  expect(text).toContain("packages/agent/src/attic: not a room of the house");
});

test("the map has a line for every folder of sources, and at most 6 KB", () => {
  const map = readFileSync(join(root, "AGENTS.md"), "utf8");
  expect(Buffer.byteLength(map)).toBeLessThanOrEqual(6144);
  const rows = map.split("\n").filter((line) => line.startsWith("| "));
  for (const name of readdirSync(join(root, "packages"))) {
    const own = rows.filter((row) =>
      /^\| ([^|]*) \|/
        .exec(row)?.[1]
        ?.split(/[ ,/]+/)
        .includes(name),
    );
    expect(own.length, name).toBeGreaterThan(0);
    const entries = readdirSync(join(root, "packages", name, "src"), { withFileTypes: true });
    for (const { name: folder } of entries.filter((entry) => entry.isDirectory() && name !== "durable"))
      expect(own.join(), `${name}/${folder}`).toMatch(new RegExp(`${name}/${folder}\\b|\`${folder}\``));
  }
});

/** Sources and tests of the whole workspace, relative to its root. */
const sources = globSync(["packages/*/*/**", "{scripts,testing,bench,examples}/**", "docs/{*,src/**}"], {
  cwd: root,
  exclude: ["**/{node_modules,dist,api}/**"],
}).filter((path) => /\.[mc]?[jt]sx?$/.test(path));

/** The first words of the doc comments of a text that begin with a relative clause, which hides who does what. */
function clauses(text: string): string[] {
  const words = "What|Whatever|Who|Whoever|Whose|Whom|Where|Wherever|When|Whenever|Whether|Which|How|Why";
  return text.match(new RegExp(`/\\*\\*[\\s*]*(?:${words})\\b.*`, "g")) ?? [];
}

test("doc comments begin with a verb or a noun", () => {
  expect(sources.length).toBeGreaterThan(1500);
  for (const path of sources) expect(clauses(readFileSync(join(root, path), "utf8")), path).toEqual([]);
  const forms = [" What it is. */", "\n   * How it\n   * is.\n   */", "\n *\n * Whether it is. */"];
  for (const form of forms) expect(clauses(`let a;\n  /**${form}\nexport let b;`), form).toHaveLength(1);
  expect(clauses("/** Returns what it is. Where it is, too. */\n/** Whatsoever. */")).toEqual([]);
});

test("a file of sources has at most 300 lines", () => {
  const files = sources.filter((path) => /^packages\/[^/]+\/src\/.*(?<!\.test|\.test-d)\.ts$/.test(path));
  expect(files.length).toBeGreaterThan(500);
  for (const path of files)
    expect(readFileSync(join(root, path), "utf8").trimEnd().split("\n").length, path).toBeLessThanOrEqual(300);
});

/** A commit of these files, on top of those before. */
function commit(message: string, ...files: string[]): void {
  for (const file of files) put(file, `${message}\n`);
  const identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
  for (const args of [
    ["add", "-A"],
    [...identity, "commit", "-q", "-m", message],
  ]) {
    expect(spawnSync("git", args, { cwd: house }).status).toBe(0);
  }
}

test("commits: a source changed without a changeset and a long subject fail the check, from the commit that brought it on", () => {
  spawnSync("git", ["init", "-q"], { cwd: house });
  commit("Change much; say little", "packages/core/src/a.ts");
  commit("Check commits", "scripts/checkCommits.mjs");
  commit("Change with a changeset", "packages/core/src/a.ts", ".changeset/a.md");
  commit("Change a test", "packages/core/src/a.test.ts");
  commit("Reword a comment\n\nChangeset: none, comments only", "packages/core/src/b.ts");
  expect(check("checkCommits.mjs")).toEqual({ status: 0, stderr: "" });
  commit("Change without a changeset", "packages/core/src/c.ts");
  commit(`Say ${"much ".repeat(15)}`, "README.md");
  commit("Do one thing; do another", "README.md");
  const { status, stderr } = check("checkCommits.mjs");
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /"Change without a changeset" changes packages\/core\/src\/c\.ts: add a changeset, or the line/,
  );
  expect(stderr).toMatch(/"Say much .*": a subject of \d+ characters, at most 72/);
  expect(stderr).toMatch(/"Do one thing; do another": a subject with a semicolon/);
});
