// Node's versions and modes: what runs the packages. `npm run test:runtimes` asks Bun and Deno more than the scenario here.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createProject, nodeBinary, nodeVersions, npmInstall, run, workspace, write } from "../project.mjs";
import { commonJsProgram, esModule, esProgram, runScenario, withoutThreads } from "../scenario.mjs";
import { npmProject, tarballs } from "../tarballs.mjs";

const { oldest, current, newest } = nodeVersions;
let installed;
/** All packages in one project, installed by npm; shared by the cases that only run it. */
export function sharedProject() {
  installed ??= npmProject("shared", {
    files: { "esm.mjs": esProgram, "common.cjs": commonJsProgram, "scenario.mjs": esModule, ...hosts },
  });
  return installed;
}

const hosts = {
  "thread.mjs": `import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { scenario } from "./scenario.mjs";
if (isMainThread) new Worker(new URL(import.meta.url)).on("message", (result) => console.log("RESULT" + result));
else parentPort.postMessage(JSON.stringify(await scenario()));
`,
  "cluster.mjs": `import cluster from "node:cluster";
import { scenario } from "./scenario.mjs";
if (cluster.isPrimary) cluster.fork().on("message", (result) => console.log("RESULT" + result));
else process.send(JSON.stringify(await scenario()), () => process.disconnect());
`,
  "readOnly.mjs": `import { createDefaultToolRegistry } from "@toolcrib/defaults";
const registry = createDefaultToolRegistry(undefined, { root: "/proc/self", search: {} });
console.log(await registry.execute("write_file", { path: "note.txt", content: "x" }));
console.log(await registry.execute("mkdir", { path: "folder" }));
console.log(await registry.execute("search_text", { query: "Name:", paths: ["status"] }));
`,
  "missing.mjs": `import { mkdtempSync, rmdirSync } from "node:fs";
const folder = mkdtempSync("gone-");
process.chdir(folder);
rmdirSync(process.cwd());
const { createDefaultToolRegistry } = await import("@toolcrib/defaults");
let registry;
try {
  registry = createDefaultToolRegistry(undefined, { enable: ["run_bash"] });
} catch (error) {
  console.log("MADE " + error.message);
}
for (const [name, args] of [["list_dir", { path: "." }], ["search_text", { query: "x", paths: ["."] }], ["run_bash", { command: "true" }]]) {
  if (registry) console.log("CALL " + (await registry.execute(name, args)));
}
`,
};

const onNode =
  (version, file, flags = [], options = {}) =>
  async () => {
    const folder = await sharedProject();
    return void (await runScenario(folder, await nodeBinary(version), [...flags, file], options));
  };

const files = ["--allow-fs-read=*", "--allow-fs-write=*"];
const noShell = /^Error executing run_bash: .*(--allow-child-process|not allowed|permission)/is;

async function readOnly() {
  const folder = await sharedProject();
  const { stdout } = await run(folder, await nodeBinary(current), ["readOnly.mjs"]);
  assert.match(
    stdout,
    /^Error executing write_file: .*note\.txt.*\nError executing mkdir: .*folder.*\nstatus:1:Name:/s,
  );
}

async function missing() {
  const folder = await sharedProject();
  const { stdout } = await run(folder, await nodeBinary(current), ["missing.mjs"]);
  assert.match(stdout, /^(MADE .*director.*|(CALL Error executing \w+: .*\n){3})/i);
}

async function oneByOne() {
  const folder = createProject("core-alone", { manifest: { type: "module" } });
  mkdirSync(join(workspace, "core-alone"), { recursive: true });
  write(folder, {
    "package.json": JSON.stringify({ type: "module", dependencies: { "@toolcrib/core": tarballs["@toolcrib/core"] } }),
    "main.mjs": 'import * as core from "@toolcrib/core"; console.log(new core.ToolRegistry().getToolNames().length);',
  });
  await npmInstall(folder);
  const { stdout } = await run(folder, await nodeBinary(current), ["main.mjs"]);
  assert.equal(stdout, "0\n");
}

export const runtimes = [
  [`node ${oldest}, ES module`, onNode(oldest, "esm.mjs"), { short: true }],
  [`node ${oldest}, require()`, onNode(oldest, "common.cjs"), { short: true }],
  [`node ${current}, ES module`, onNode(current, "esm.mjs")],
  [`node ${current}, require()`, onNode(current, "common.cjs")],
  [`node ${newest}, ES module`, onNode(newest, "esm.mjs"), { short: true }],
  [`node ${newest}, require()`, onNode(newest, "common.cjs")],
  [
    "permission model with threads and processes",
    onNode(current, "esm.mjs", ["--permission", "--allow-worker", "--allow-child-process", ...files]),
  ],
  [
    "permission model without threads and processes",
    onNode(current, "esm.mjs", ["--permission", ...files], { differing: { ...withoutThreads, shell: noShell } }),
    { short: true },
  ],
  ["worker thread", onNode(current, "thread.mjs")],
  ["cluster", onNode(current, "cluster.mjs")],
  ["read-only folder", readOnly, { short: true }],
  ["missing working directory", missing, { short: true }],
  ["core alone", oneByOne],
];
