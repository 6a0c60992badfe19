import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
let house: string;

beforeEach(() => {
  house = temporaryFolder("house");
});

const put = (path: string, text: string): void => writeIn(house, path, text);

function check(script: string): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [join(here, script), house], { encoding: "utf8" });
  return { status, stderr };
}

test("boundaries: the workspace itself passes", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(here, "checkBoundaries.mjs")], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("boundaries: an import against the arrows fails the check", () => {
  put("packages/core/package.json", "{}");
  put("packages/core/src/a.ts", 'import { Agent } from "@toolcrib/agent";\n');
  const { status, stderr } = check("checkBoundaries.mjs");
  expect(status).toBe(1);
  expect(stderr).toContain("packages/core/src/a.ts: may not import @toolcrib/agent");
});

test("boundaries: one pack importing another, also dynamically, fails the check", () => {
  put("packages/tools-fs/package.json", "{}");
  put("packages/tools-fs/src/a.ts", 'const x = await import("@toolcrib/tools-bash");\n');
  expect(check("checkBoundaries.mjs").stderr).toContain("may not import @toolcrib/tools-bash");
});

test("boundaries: a manifest against the arrows fails the check", () => {
  put("packages/core/package.json", '{ "dependencies": { "left-pad": "1" } }');
  put("packages/core/src/a.ts", "");
  expect(check("checkBoundaries.mjs").stderr).toContain("may not depend on left-pad");
});

test("boundaries: a recursive mkdir or rm in what is published fails the check, in a test it does not", () => {
  put("packages/core/package.json", "{}");
  put("packages/core/src/a.ts", "rmSync(folder, { force: true, recursive: true });\n");
  put("packages/core/src/b.ts", 'await mkdir(join(a, "b"), {\n  recursive: true,\n});\n');
  put("packages/core/src/c.ts", "readdirSync(folder, { recursive: true });\n");
  put("packages/core/src/d.test.ts", "rmSync(folder, { recursive: true });\n");
  expect(check("checkBoundaries.mjs").stderr.trimEnd().split("\n")).toEqual([
    "boundaries: packages/core/src/a.ts: a recursive rmSync; use ensureDirectory, makeDirectories or removeTree",
    "boundaries: packages/core/src/b.ts: a recursive mkdir; use ensureDirectory, makeDirectories or removeTree",
  ]);
});

test("boundaries: a relative import into another package fails the check", () => {
  put("packages/agent/package.json", "{}");
  put("packages/agent/src/a.ts", 'export { x } from "../../core/src/x.ts";\n');
  expect(check("checkBoundaries.mjs").stderr).toContain("reaches into another package");
});

test("boundaries: importing the package's own published face fails the check", () => {
  put("packages/agent/package.json", "{}");
  put("packages/agent/src/index.ts", "");
  put("packages/agent/src/a.ts", 'import { x } from "./index.ts";\n');
  expect(check("checkBoundaries.mjs").stderr).toContain("imports the published face");
});

test.each([
  ["a file of 301 lines", "noExcessiveLinesPerFile", "g();\n".repeat(301)],
  ["a function of 81 lines", "noExcessiveLinesPerFunction", `function f() {\n${"  g();\n".repeat(81)}}\n`],
  [
    "one whose parameters fill lines of their own",
    "noExcessiveLinesPerFunction",
    `function f(\n  a: string,\n): { b: string } {\n${"  g();\n".repeat(81)}}\n`,
  ],
])("lengths: %s fails the lint", (_what, rule, text) => {
  put("biome.json", readFileSync(join(root, "biome.json"), "utf8"));
  put("packages/core/src/long.ts", text);
  const args = [join(root, "node_modules/@biomejs/biome/bin/biome"), "lint", "--vcs-enabled=false"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: house, encoding: "utf8" });
  expect(status, stdout).toBe(1);
  expect(stderr).toContain(rule);
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
  const { stderr } = check("checkBoundaries.mjs");
  expect(stderr).toContain("a function has more than 80 lines");
  expect(stderr).not.toContain("short.ts");
});

test("lengths: a class or an object of more than 80 lines passes", () => {
  put("packages/core/package.json", "{}");
  for (const head of [
    "export class A extends B(C) {",
    "export const a: B = {",
    "interface A extends B {",
    "type A = {",
  ])
    put("packages/core/src/a.ts", `${head}\n${"  b: 1,\n".repeat(90)}}\n`);
  expect(check("checkBoundaries.mjs").stderr).toBe("");
});

test("boundaries: an import from a room that is not open, a circle and an unknown room fail the check", () => {
  put("packages/agent/package.json", "{}");
  put("packages/agent/src/turn/loop.ts", "export const loop = 1;\n");
  put("packages/agent/src/providers/openai/reply.ts", 'import { loop } from "../../turn/loop.ts";\nexport { loop };\n');
  put("packages/agent/src/a.ts", 'import type { B } from "./b.ts";\nexport type A = B;\n');
  put("packages/agent/src/b.ts", 'import type { A } from "./a.ts";\nexport type B = A;\n');
  put("packages/agent/src/attic/old.ts", "");
  put("packages/agent/src/c.ts", 'import "./attic/old.ts";\nexport * from "./attic/old.ts";\n');
  const { status, stderr } = check("checkBoundaries.mjs");
  expect(status).toBe(1);
  expect(stderr).toContain(
    "packages/agent/src/providers/openai/reply.ts: may not import turn/loop.ts; providers/openai may use",
  );
  expect(stderr).toContain("packages/agent/src: a circle: a.ts > b.ts > a.ts");
  expect(stderr).toContain("packages/agent/src/attic: not a room of the house");
});

test("the map has a line for every folder of sources, and at most 9 KB", () => {
  const map = readFileSync(join(root, "AGENTS.md"), "utf8");
  expect(Buffer.byteLength(map)).toBeLessThanOrEqual(9216);
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

test("comments begin with a verb or a noun, and a file of sources has at most 300 lines", () => {
  const sources = readdirSync(join(root, "packages")).flatMap((name) =>
    readdirSync(join(root, "packages", name, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => /(?<!\.test|\.test-d)\.ts$/.test(path))
      .map((path) => join(root, "packages", name, "src", path)),
  );
  expect(sources.length).toBeGreaterThan(500);
  for (const path of sources) {
    const text = readFileSync(path, "utf8");
    expect(text.match(/\/\*\*[\s*]*(?:What|Who|Where|Whether|Which|How|Why)\b.*/g), path).toBeNull();
    expect(text.trimEnd().split("\n").length, path).toBeLessThanOrEqual(300);
  }
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
