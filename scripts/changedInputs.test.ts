import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { checksFor, checksToRun, inputs } from "./changedInputs.mjs";

const all = ["consumers", "release", "docs", "runtimes", "windows"];

test.each<[string, string[]]>([
  ["packages/mcp/src/client/mountMcp.ts", []],
  ["packages/mcp/src/errors.ts", ["consumers", "release", "docs", "runtimes"]],
  ["packages/mcp/src/errors.test.ts", []],
  ["packages/core/package.json", ["consumers", "release", "runtimes", "windows"]],
  ["packages/core/api/index.api.md", ["consumers", "release", "docs"]],
  ["packages/tools-web/src/page/pageWorker.ts", ["consumers", "runtimes"]],
  ["packages/kit/src/paths/pathStyle.ts", ["windows"]],
  ["packages/tools-search/src/threads/searchPool.ts", ["consumers", "runtimes", "windows"]],
  ["pnpm-lock.yaml", ["consumers", "release", "runtimes", "windows"]],
  ["package.json", all],
  ["README.md", ["consumers", "docs"]],
  ["docs/src/content/docs/guides/start.md", ["docs"]],
  ["examples/delegate/answer.ts", ["consumers"]],
  [".changeset/first-core.md", ["release"]],
  ["scripts/packOnce.mjs", ["consumers", "release", "runtimes", "windows"]],
  ["testing/windows/cases/files.mjs", ["windows"]],
  ["testing/runtimes/program/files.mjs", ["runtimes"]],
  ["packages/tools-bash/src/process/polledPipe.ts", ["runtimes", "windows"]],
  ["testing/consumers/project.mjs", ["consumers", "release", "runtimes"]],
  ["scripts/changedInputs.mjs", all],
  [".ci/run", all],
])("after a change of %s these checks run: %j", (path, checks) => {
  expect(checksFor([path])).toEqual(checks);
});

test("every pattern matches a file that there is", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const { stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const files = stdout.split("\n");
  expect(readdirSync(join(root, "scripts"))).toContain("changedInputs.mjs");
  const patterns = new Set(Object.values(inputs).flat());
  expect([...patterns].filter((pattern) => !files.some((file) => matchesGlob(file, pattern)))).toEqual([]);
});

let house: string;
const put = (path: string, text: string): void => writeIn(house, path, text);
const git = (...args: string[]): string =>
  spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@localhost", ...args], { cwd: house, encoding: "utf8" })
    .stdout;
const commit = (): string => {
  git("add", "-A");
  git("commit", "-q", "-m", "x");
  return git("rev-parse", "HEAD").trim();
};
beforeEach(() => {
  house = temporaryFolder("inputs");
  vi.stubEnv("TOOLCRIB_ALL", "");
});
afterEach(() => void vi.unstubAllEnvs());

test("what changed since the last full check counts, committed or not, and all of it where there was none before", () => {
  git("init", "-q");
  put("docs/index.md", "a");
  expect(checksToRun(house)).toEqual(all);
  const full = commit();
  put(".ci/last-full", `${full}\n`);
  commit();
  expect(checksToRun(house)).toEqual([]);
  put("docs/index.md", "b");
  expect(checksToRun(house)).toEqual(["docs"]);
  put("testing/windows/new.mjs", "");
  expect(checksToRun(house)).toEqual(["docs", "windows"]);
  commit();
  expect(checksToRun(house)).toEqual(["docs", "windows"]);
  vi.stubEnv("TOOLCRIB_ALL", "1");
  expect(checksToRun(house)).toEqual(all);
  vi.stubEnv("TOOLCRIB_ALL", "");
  // A commit of another branch, and a word that is none.
  for (const id of [full.replace(/^./, (digit) => (digit === "0" ? "1" : "0")), "main"]) {
    put(".ci/last-full", id);
    expect(checksToRun(house)).toEqual(all);
  }
});
