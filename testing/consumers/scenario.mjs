// What every host is asked to do: one program, as an ES module or as CommonJS.
import assert from "node:assert/strict";
import { run } from "./project.mjs";

const names = {
  core: "@toolcrib/core",
  fs: "@toolcrib/tools-fs",
  search: "@toolcrib/tools-search",
  defaults: "@toolcrib/defaults",
  offline: "@toolcrib/agent/offline",
};

const body = `
async function scenario() {
  const base = nodeFs.realpathSync(nodeFs.mkdtempSync(nodePath.join(nodeOs.tmpdir(), "scenario-")));
  const file = nodePath.join(base, "session.json");
  const context = { systemPrompt: "", sessionContext: [{ role: "user", content: [{ type: "text", text: "hi" }] }], sessionContextFilePath: file };
  const registry = defaults.createDefaultToolRegistry(context, { root: base, enable: ["remove", "run_bash"], search: { matchLimitMs: 2000 } });
  for (const tool of fs.createFsTools({ root: base })) if (tool.name === "edit_file") registry.register(tool);
  registry.register(core.defineTool({
    name: "with_pattern",
    description: "Takes a word.",
    parameters: { type: "object", properties: { word: { type: "string", pattern: "^a+$" } }, required: ["word"], additionalProperties: false },
    execute: () => "ran",
  }));
  const call = (name, args) => registry.execute(name, args);
  const result = {};
  result.write = await call("write_file", { path: "deep/new/a.txt", content: "one needle\\ntwo\\n" });
  result.read = await call("read_file", { path: "deep/new/a.txt" });
  result.edit = await call("edit_file", { path: "deep/new/a.txt", edits: [{ old_text: "two", new_text: "three" }] });
  result.mkdir = await call("mkdir", { path: "x/y/z" });
  result.move = await call("move", { source: "deep/new/a.txt", destination: "x/b.txt" });
  result.list = await call("list_dir", { path: "x" });
  result.session = await call("save_session_context", { reason: "done" });
  nodeFs.writeFileSync(nodePath.join(base, "evil.txt"), "a".repeat(60) + "!\\n");
  const literal = () => call("search_text", { query: "needle", paths: ["."] });
  result.literal = [...new Set(await Promise.all([literal(), literal(), literal()]))].join("|");
  result.regex = await call("search_text", { query: "ne+dle", regex: true, paths: ["."] });
  result.evil = await call("search_text", { query: "(a+)+$", regex: true, paths: ["."] });
  result.glob = await call("search_files", { pattern: "**/*.txt" });
  result.pattern = await call("with_pattern", { word: "aaa" });
  result.shell = await call("run_bash", { command: "echo out" });
  result.agent = await new defaults.Agent(new offline.OfflineProvider(), { tools: registry }).chat("read x/b.txt").catch(String);
  result.missing = await call("read_file", { path: "nowhere.txt" });
  result.outside = await call("read_file", { path: "/etc/hostname" });
  result.remove = await call("remove", { path: "x" });
  nodeFs.rmSync(base, { recursive: true, force: true });
  return result;
}
`;

const builtins = { nodeFs: "node:fs", nodeOs: "node:os", nodePath: "node:path" };
const imports = Object.entries({ ...builtins, ...names });

/** Exports \`scenario\`. */
export const esModule = `${imports.map(([name, from]) => `import * as ${name} from "${from}";`).join("\n")}\n${body}\nexport { scenario };\n`;
export const commonJs = `${imports.map(([name, from]) => `const ${name} = require("${from}");`).join("\n")}\n${body}\nmodule.exports = { scenario };\n`;

const print = 'scenario().then((result) => console.log("RESULT" + JSON.stringify(result)));\n';
/** Programs that print the result. */
export const esProgram = esModule.replace(/export .*\n$/, print);
export const commonJsProgram = commonJs.replace(/module\.exports .*\n$/, print);

const words = {
  shell: /^\{"stdout":"out\\n","stderr":".*","exit_code":0\}$/,
  evil: /did not end: matching took longer than 2000 ms/,
  literal: "x/b.txt:1:one needle",
  regex: "x/b.txt:1:one needle",
  pattern: "ran",
};

/** The answers of a host without threads: a refusal that says what to do, never a crash or a hang. */
export const withoutThreads = {
  evil: /^Error executing search_text: .*(thread|bundle|worker).*/is,
};

/** Holds what a host answered against what each step has to answer; \`differing\` replaces some of the latter. */
export function checkResult(result, differing = {}) {
  const expected = {
    write: /deep\/new\/a\.txt/,
    read: "one needle\ntwo\n",
    edit: /\+three/,
    mkdir: /x\/y\/z/,
    move: /x\/b\.txt/,
    list: "b.txt\ny/",
    session: /^Saved 1 message/,
    glob: "evil.txt\nx/b.txt",
    agent: /one needle/,
    missing: /^Error executing read_file: .*nowhere\.txt/,
    outside: /^Error executing read_file: Permission denied/,
    remove: /^Removed/,
    ...words,
    ...differing,
  };
  const wrong = Object.entries(expected).filter(([step, wanted]) =>
    wanted instanceof RegExp ? !wanted.test(String(result[step])) : result[step] !== wanted,
  );
  const told = wrong.map(
    ([step, wanted]) => `${step}: expected ${wanted}, got ${JSON.stringify(result[step])?.slice(0, 500)}`,
  );
  if (told.length > 0) throw new Error(told.join("\n"));
}

/** The result that a program printed. */
export function resultOf(stdout) {
  const line = stdout.split("\n").find((each) => each.includes("RESULT"));
  assert.ok(line, `no result was printed:\n${stdout.slice(-2000)}`);
  return JSON.parse(line.slice(line.indexOf("RESULT") + "RESULT".length));
}

/** Runs a program that prints the result, and checks it. */
export async function runScenario(folder, command, args, { env, differing } = {}) {
  const { stdout, stderr } = await run(folder, command, args, { env });
  checkResult(resultOf(stdout), differing);
  return stderr;
}
