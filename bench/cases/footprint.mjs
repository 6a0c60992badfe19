import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { spread } from "../pairs.mjs";
import { installPeer } from "../peers.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Milliseconds that an import adds to a process that has just started. */
export async function startup(report, { rounds }) {
  for (const [name, goal] of [
    ["core", 10],
    ["defaults", 40],
  ]) {
    const file = JSON.stringify(join(root, `packages/${name}/dist/index.js`));
    const code = `const t = performance.now(); await import(${file}); console.log(performance.now() - t)`;
    const run = () => Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }));
    run();
    report({
      name: `import of @toolcrib/${name}`,
      value: spread(Array.from({ length: rounds }, run)).median,
      unit: "ms",
      goal,
    });
  }
  if (process.env.TOOLCRIB_BEFORE) toBefore(report, process.env.TOOLCRIB_BEFORE, rounds * 3);
  const bin = join(root, "packages/cli/dist/bin.js");
  const time = (args) => {
    const started = performance.now();
    spawnSync(process.execPath, args, { stdio: "ignore" });
    return performance.now() - started;
  };
  time([bin, "--version"]);
  const ratios = Array.from({ length: rounds * 3 }, () => time([bin, "--version"]) / time(["-e", "0"]));
  report({ name: "toolcrib --version, to node -e 0", goal: 1.5, ratio: spread(ratios) });
  for (const [name, words] of [
    ["toolcrib --help", ["--help"]],
    ["the first tool call of a process", ["tools", "call", "list_dir", "--path", "."]],
  ]) {
    // The first start keeps compiled code for those that follow.
    time([bin, ...words]);
    report({
      name: `${name}, to 1.2 of node -e 0 and 60 ms`,
      goal: 1,
      ratio: spread(Array.from({ length: rounds * 3 }, () => time([bin, ...words]) / (1.2 * time(["-e", "0"]) + 60))),
    });
  }
  if (spawnSync("script", ["--version"]).status !== 0) return;
  const state = mkdtempSync(join(tmpdir(), "toolcrib-prompt-"));
  try {
    // The first start keeps compiled code here, too.
    await prompt(bin, state);
    const times = [];
    while (times.length < rounds) times.push(await prompt(bin, state));
    report({ name: "the prompt of toolcrib chat", value: spread(times).median, unit: "ms", goal: 150 });
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

/** Compares with a checkout that is built, in the folder that TOOLCRIB_BEFORE names: new processes in turn, without a compile cache. */
function toBefore(report, before, rounds) {
  for (const [name, then, goal] of [
    ["import of @toolcrib/defaults", "", 0.65],
    ["import of @toolcrib/defaults and one call of read_file", 'await tools().execute("read_file", { path })', 0.75],
  ]) {
    const run = (folder) => {
      const file = JSON.stringify(join(folder, "packages/defaults/dist/index.js"));
      const code = `const path = ${JSON.stringify(join(root, "README.md"))}, t = performance.now();
        const { createDefaultToolRegistry: tools } = await import(${file}); ${then}; console.log(performance.now() - t)`;
      return Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }));
    };
    for (const folder of [root, before]) run(folder);
    const ratios = Array.from({ length: rounds }, () => run(root) / run(before));
    report({ name: `${name}, to the build before`, goal, ratio: spread(ratios) });
  }
}

/** Milliseconds from the start of a chat on a terminal to its prompt. */
function prompt(bin, state) {
  const env = { ...process.env, XDG_STATE_HOME: state, XDG_CONFIG_HOME: state, TERM: "xterm" };
  const started = performance.now();
  const line = `'${process.execPath}' '${bin}' chat -m offline`;
  const child = spawn("script", ["--quiet", "--command", line, "/dev/null"], {
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    let printed = "";
    let time;
    child.once("error", reject);
    child.once("close", () =>
      time === undefined ? reject(new Error(`there was no prompt in ${JSON.stringify(printed)}`)) : resolve(time),
    );
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      if (time !== undefined || !printed.includes(">\u001b[3G")) return;
      time = performance.now() - started;
      child.stdin.write("\u0004");
    });
  });
}

/** Those that bring an SDK, an engine or a parser of pages with them, or serve one protocol alone. */
const large = ["acp", "mcp", "page", "durable", "tools-web", "tools-program", "cli"];

/** Measures the packages that npm puts into an empty folder, ours included, and their megabytes, beside those of peers for the same work. */
export async function size(report) {
  const packs = ["core", "kit", "tools-fs", "tools-search", "tools-bash"];
  const all = readdirSync(join(root, "packages"));
  measure(report, "core", ["core"], { goal: { packages: 3, megabytes: 1 } });
  measure(report, "core + tools-fs", ["core", "kit", "tools-fs"], { peers: ["mcp-filesystem"] });
  measure(report, "core and the three packs", packs);
  measure(report, "core + skills", ["core", "kit", "skills"]);
  measure(report, "core + tools-web", ["core", "kit", "tools-web"]);
  measure(report, "core + tools-program", ["core", "tools-program"], { goal: { packages: 5, megabytes: 3.2 } });
  measure(
    report,
    "everything but SDKs, MCP, durable, tools-web and the CLI",
    all.filter((name) => !large.includes(name)),
    { goal: { packages: 36, megabytes: 5 }, peers: ["ai", "pi-agent-core", "openai-agents"] },
  );
}

function measure(report, label, names, { goal = {}, peers = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-size-"));
  try {
    const dependencies = Object.fromEntries(names.map((name) => [`@toolcrib/${name}`, `file:${pack(name, folder)}`]));
    // Packages that depend on each other find the packed ones, not the registry's.
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ private: true, dependencies, overrides: dependencies }),
    );
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", "--omit=peer", "--omit=optional"], {
      cwd: folder,
      stdio: "ignore",
    });
    const own = measured(join(folder, "node_modules"));
    report({ name: `installed: ${label}, packages`, value: own.packages, unit: "packages", goal: goal.packages });
    report({ name: `installed: ${label}, size`, value: own.megabytes, unit: "MB", goal: goal.megabytes });
    for (const peer of peers) compare(report, `installed: ${label}`, own, peer);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compare(report, label, own, peer) {
  const rows = { packages: `${label}, packages, to ${peer}`, megabytes: `${label}, size, to ${peer}` };
  try {
    const other = measured(join(installPeer(peer), "node_modules"));
    for (const [what, name] of Object.entries(rows)) report({ name, ratio: spread([own[what] / other[what]]) });
  } catch (error) {
    for (const name of Object.values(rows)) report({ name, missing: error.message.split("\n")[0] });
  }
}

function measured(modules) {
  return { packages: countPackages(modules), megabytes: bytesIn(modules) / 1e6 };
}

/** A tarball as the registry would hold it: `workspace:` and `catalog:` written out. */
function pack(name, into) {
  const copy = join(into, `src-${name}`);
  const source = join(root, "packages", name);
  cpSync(source, copy, { recursive: true, filter: (path) => !path.startsWith(join(source, "node_modules")) });
  const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8"));
  for (const ranges of [manifest.dependencies ?? {}, manifest.peerDependencies ?? {}]) {
    for (const [dependency, range] of Object.entries(ranges)) {
      if (range.startsWith("workspace:")) ranges[dependency] = "^0.1.0";
      if (range.startsWith("catalog:")) ranges[dependency] = catalogRange(dependency);
    }
  }
  delete manifest.devDependencies;
  writeFileSync(join(copy, "package.json"), JSON.stringify(manifest));
  const tarball = execFileSync("npm", ["pack", "--silent", "--pack-destination", into], {
    cwd: copy,
    encoding: "utf8",
  }).trim();
  rmSync(copy, { recursive: true });
  return join(into, tarball);
}

function catalogRange(dependency) {
  const catalog = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const line = catalog.split("\n").find((one) => one.trim().replaceAll('"', "").startsWith(`${dependency}: `));
  if (!line) throw new Error(`${dependency} is not in the catalog of pnpm-workspace.yaml`);
  return line.slice(line.lastIndexOf(": ") + 2);
}

/** Counts packages, those that lie below another one too. */
function countPackages(modules) {
  if (!existsSync(modules)) return 0;
  const names = readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((own) => join(name, own)) : [name],
    );
  return names.reduce((sum, name) => sum + countPackages(join(modules, name, "node_modules")), names.length);
}

function bytesIn(path) {
  const found = lstatSync(path);
  return found.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0) : found.size;
}

/** o200k tokens of the ten schemas, as the JSON of a chat-completions request. */
export async function tokens(report) {
  const schemas = createDefaultToolRegistry()
    .listTools()
    .map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters, strict: false },
    }));
  report({
    name: "tokens of the ten schemas (o200k)",
    value: encode(JSON.stringify(schemas)).length,
    unit: "tokens",
    goal: 1000,
  });
  for (const schema of schemas) {
    report({ name: `tokens of ${schema.function.name}`, value: encode(JSON.stringify(schema)).length, unit: "tokens" });
  }
}
