// Counts the functions of our built packages that one call enters: `node scripts/functionsEntered.mjs [ROOT]`, ROOT being another clone.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const load = (name) => import(pathToFileURL(join(root, "packages", name, "dist/index.js")).href);
const [{ ToolRegistry }, { createPolicy }, { createFsTools }, { createBashTools }, { createSearchTools }] =
  await Promise.all(["core", "policy", "tools-fs", "tools-bash", "tools-search"].map(load));

const folder = realpathSync(mkdtempSync(join(tmpdir(), "functions-entered-")));
function makeProject(name) {
  const project = join(folder, name);
  mkdirSync(join(project, "src"), { recursive: true });
  for (const path of ["src/a.ts", "src/b.ts", "package.json"]) writeFileSync(join(project, path), "foo\n");
  return project;
}
mkdirSync(join(folder, "bin"));
for (const program of ["rg", "head"]) writeFileSync(join(folder, "bin", program), "", { mode: 0o755 });
process.env.PATH = join(folder, "bin");

/** Counts a call in a project of its own, after one with another word in another project, which loads modules. */
async function count(name, prepare) {
  await prepare(makeProject(`${name}, warm`), "bar")();
  const run = prepare(makeProject(name), "foo");
  await session.post("Profiler.takePreciseCoverage");
  const reply = await run();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const counts = result
    .filter(({ url }) => url.includes("/packages/"))
    .flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0].count).filter((entered) => entered > 0));
  const calls = counts.reduce((sum, entered) => sum + entered, 0);
  console.log(`${name}: ${counts.length} functions, entered ${calls} times (${reply.split("\n")[0]})`);
}

await count("write_file through a registry with a policy", (cwd) => {
  const policy = createPolicy({ mode: "accept-edits", roots: cwd });
  const registry = new ToolRegistry(createFsTools({ root: cwd })).guard(policy.guard);
  return () => registry.execute("write_file", { path: "notes.txt", content: "hello\n" });
});
await count("rg foo src | head judged", (cwd, word) => {
  const policy = createPolicy({ roots: cwd });
  const [tool] = createBashTools({ cwd });
  const call = { name: "run_bash", args: { command: `rg ${word} src | head` }, tool };
  return async () => (await policy.explain(call)).text;
});
await count("one search", (cwd, word) => {
  const registry = new ToolRegistry(createSearchTools({ root: cwd }));
  return () => registry.execute("search_text", { query: word, paths: ["src"] });
});
await count("toolcrib run, by the offline stand-in", (cwd, word) => async () => {
  const { main } = await load("cli");
  const env = { XDG_STATE_HOME: join(folder, "state"), XDG_CONFIG_HOME: join(folder, "config"), NO_COLOR: "1" };
  let printed = "";
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      printed += chunk;
      done();
    },
  });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const nothing = () => {};
  const host = {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env,
    cwd: () => cwd,
    on: nothing,
    once: nothing,
    off: nothing,
  };
  await main(["run", `find ${word} in src`, "-m", "offline"], host);
  return printed;
});
rmSync(folder, { recursive: true });
