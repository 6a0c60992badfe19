// Reads every manifest and every import, and fails on an arrow between packages, or between the rooms (folders) of one package, that
// the house does not allow, on a circle of files, and on a recursive fs.mkdir, rm or cp in what is published.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The packages that a package may use, by folder name. */
const packs = ["tools-fs", "tools-search", "tools-bash"];
const allowed = {
  core: [],
  kit: ["core"],
  ...Object.fromEntries(packs.map((pack) => [pack, ["core", "kit"]])),
  "tools-web": ["core", "kit"],
  "tools-program": ["core"],
  skills: ["core", "kit"],
  agent: ["core", "kit"],
  mcp: ["core", "kit"],
  remote: ["core", "kit"],
  policy: ["core", "kit"],
  contracts: ["core"],
  adapters: ["core"],
  acp: ["core", "kit", "agent", "policy"],
  page: ["core", "kit", "agent"],
  durable: ["core", "kit", "agent"],
  defaults: ["core", "kit", ...packs, "agent"],
  cli: [
    "core",
    "kit",
    ...packs,
    "acp",
    "agent",
    "defaults",
    "mcp",
    "policy",
    "remote",
    "skills",
    "tools-program",
    "tools-web",
    "contracts",
  ],
};

/** Rooms that are built into a program of its own, which holds what it uses, and what that may be. */
const bundled = { "remote/src/host": packs };

/** Run-time dependencies from elsewhere, by folder name: one added here needs a reason in its commit. */
const external = {
  core: ["@cfworker/json-schema", "@standard-schema/spec"],
  kit: [],
  remote: [],
  "tools-fs": ["diff"],
  "tools-search": ["fast-glob"],
  "tools-bash": [],
  "tools-web": ["parse5"],
  "tools-program": ["quickjs-wasi"],
  skills: [],
  agent: [],
  mcp: ["@modelcontextprotocol/server", "@modelcontextprotocol/client", "jsonc-parser"],
  policy: ["unbash"],
  contracts: [],
  adapters: [],
  // The SDK of the protocol names zod as a peer.
  acp: ["@agentclientprotocol/sdk", "zod"],
  page: [],
  durable: [],
  defaults: [],
  cli: ["jsonc-parser"],
};

const wireParts = ["providers/models", "providers/errors", "providers/shared"];

/**
 * The rooms that the files of a room may import from, by package; the package's root and the room itself always. `as types` allows
 * types alone, `lazily` an `import()` alone. A room inside another has its own line.
 */
const rooms = {
  core: {
    arguments: ["text"],
    definitions: ["arguments"],
    registry: ["arguments", "text"],
    text: [],
  },
  kit: { files: ["paths", "text"], paths: ["files"], text: [], threads: [] },
  agent: {
    conversation: [],
    instructions: [],
    models: [
      "providers/models",
      "providers/shared",
      ...["openai", "anthropic", "chat", "offline"].map((wire) => `providers/${wire} lazily`),
    ],
    "providers/models": [],
    "providers/errors": ["providers/models"],
    "providers/shared": ["providers/models", "providers/errors"],
    "providers/openai": [...wireParts, "conversation"],
    "providers/anthropic": [...wireParts, "conversation"],
    "providers/chat": [...wireParts, "conversation", "textCalls"],
    "providers/aiSdk": [...wireParts, "conversation"],
    "providers/offline": [...wireParts, "conversation"],
    session: ["conversation"],
    testing: ["conversation"],
    textCalls: ["conversation"],
    transcript: ["conversation", "session"],
    turn: ["conversation", "session", "providers/models", "textCalls"],
  },
  "tools-search": { engine: ["memory"], expression: [], memory: [], threads: ["engine", "memory"] },
  // What parses a page runs in a thread, and imports Node and the parser alone.
  "tools-web": { net: [], page: [] },
  // What runs a program in a thread knows nothing of registries.
  "tools-program": { engine: [] },
  "tools-bash": { jobs: ["process"], process: [], runtime: ["process"], sandbox: ["process"] },
  "tools-fs": {
    edit: [],
    move: ["remove"],
    patch: ["edit", "move", "remove"],
    read: [],
    remove: [],
    undo: ["move", "remove"],
  },
  // Each protocol is a room.
  page: { agUi: [], aiSdk: [] },
  // Each engine is a room.
  durable: { dbos: [], restate: [] },
  // The program that runs on remotes.
  remote: { host: [] },
  policy: { judge: ["programs", "rules", "shell"], programs: [], remembered: [], rules: [], shell: ["programs"] },
  mcp: {
    client: ["client/transport", "oauth"],
    "client/transport": ["client as types"],
    config: ["client"],
    http: [],
    oauth: ["client/transport"],
    server: ["http"],
  },
  cli: {
    commands: [
      "config",
      "doctor",
      "model",
      "state",
      "terminal",
      "tools",
      "commands/chat lazily",
      "commands/config lazily",
      "commands/mcp lazily",
      "commands/run lazily",
    ],
    "commands/chat": ["commands", "config", "model", "state", "terminal", "tools"],
    "commands/run": ["commands", "model", "state", "terminal", "tools"],
    "commands/mcp": ["commands", "model", "state", "terminal", "tools"],
    "commands/config": ["commands", "config", "state", "terminal"],
    config: ["state", "terminal"],
    doctor: ["config", "model", "state", "terminal", "tools"],
    model: [],
    state: [],
    terminal: ["state", "tools as types", "terminal/screen lazily"],
    "terminal/screen": ["state", "terminal"],
    tools: ["config", "state", "terminal"],
  },
};

/** Of a function, as in biome.json. */
const mostLines = 80;
let root;
let problems;

/** Finds the faults in the packages of a workspace, one line each. */
export function findProblems(workspace) {
  root = workspace;
  problems = [];
  for (const name of readdirSync(join(root, "packages"))) checkPackage(name);
  return [...new Set(problems)];
}

function checkPackage(name) {
  const folder = join(root, "packages", name);
  if (!existsSync(join(folder, "package.json"))) return;
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!(name in allowed)) {
    problems.push(`packages/${name}: not in the house; give it its arrows in scripts/checkBoundaries.mjs`);
    return;
  }
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const own = dependency.startsWith("@toolcrib/") ? dependency.slice("@toolcrib/".length) : undefined;
    if (own === undefined ? !external[name].includes(dependency) : !allowed[name].includes(own)) {
      problems.push(`packages/${name}/package.json: may not depend on ${dependency}`);
    }
  }
  for (const file of sources(join(folder, "src"))) checkImports(name, folder, file);
  checkRooms(name, join(folder, "src"));
}

function checkImports(name, folder, file) {
  const isTest = /\.test(-d)?\.ts$/.test(file);
  const at = relative(root, file);
  const text = readFileSync(file, "utf8");
  // The first spins below /proc, the others follow links.
  const [, call] = isTest ? [] : (/\b((?:mkdir|rmdir|rm|cp)(?:Sync)?)\([^;]*?\brecursive: true/.exec(text) ?? []);
  if (call) problems.push(`${at}: a recursive ${call}; use ensureDirectory, makeDirectories or removeTree`);
  if (!isTest) checkLengths(at, text.split("\n"));
  for (const [, specifier] of text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
    const own = /^@toolcrib\/([^/]+)/.exec(specifier)?.[1];
    const within = bundled[relative(join(root, "packages"), dirname(file)).replaceAll(sep, "/")] ?? [];
    if (own !== undefined && !isTest && own !== name && !allowed[name].includes(own) && !within.includes(own)) {
      problems.push(`${at}: may not import ${specifier}; ${name} may use ${allowed[name].join(", ") || "no package"}`);
    }
    if (own === "testing" && !isTest) problems.push(`${at}: only tests import @toolcrib/testing`);
    if (specifier.startsWith(".")) {
      const target = resolve(dirname(file), specifier);
      if (!target.startsWith(folder + sep) && !isTest)
        problems.push(`${at}: reaches into another package: ${specifier}`);
      if (target === join(folder, "src", "index.ts") && !isTest) {
        problems.push(`${at}: imports the published face; import the file that holds the thing`);
      }
    }
  }
}

/**
 * The linter leaves out getters, setters and blank lines. Formatted, a body ends at the indentation of the line that opens it.
 * Everything else is a declaration or an object.
 */
function checkLengths(at, lines) {
  for (const [start, line] of lines.entries()) {
    const [, indent] = /^( *)(?!.*\b(?:class|interface|type) ).*(?:\)|\): .*|=>) \{$/.exec(line) ?? [];
    if (indent === undefined) continue;
    const end = lines.findIndex((one, index) => index > start && one.startsWith(`${indent}}`));
    if (end - start - 1 > mostLines) problems.push(`${at}:${start + 1}: a function has more than ${mostLines} lines`);
  }
}

function checkRooms(name, folder) {
  const imports = new Map();
  for (const file of sources(folder)) if (!/\.test(-d)?\.ts$/.test(file)) imports.set(file, importsOf(file));
  for (const [file, targets] of imports) {
    for (const { target, how } of targets) checkRoom(name, folder, file, target, how);
  }
  const finished = new Set();
  const follow = (file, path) => {
    if (path.includes(file)) {
      const circle = [...path.slice(path.indexOf(file)), file].map((each) => relative(folder, each));
      problems.push(`packages/${name}/src: a circle: ${circle.join(" > ")}`);
    } else if (!finished.has(file)) {
      for (const { target } of imports.get(file) ?? []) follow(target, [...path, file]);
      finished.add(file);
    }
  };
  for (const file of imports.keys()) follow(file, []);
}

/** The package's own files that a file imports, and how: "", "as types" or "lazily". */
function importsOf(file) {
  const pattern = /^\s*(?:import|export)\s+(type\s+)?[^"'`;]*?from\s+"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;
  return [...readFileSync(file, "utf8").matchAll(pattern)].map(([, type, direct, lazy]) => ({
    target: resolve(dirname(file), direct ?? lazy),
    how: type ? "as types" : lazy ? "lazily" : "",
  }));
}

function checkRoom(name, folder, file, target, how) {
  const [from, to] = [roomOf(folder, file), roomOf(folder, target)];
  const table = rooms[name];
  for (const room of [from, to]) {
    if (room !== "." && !(table && room in table)) {
      problems.push(
        `packages/${name}/src/${room}: not a room of the house; give it its arrows in scripts/checkBoundaries.mjs`,
      );
      return;
    }
  }
  const open = table?.[from];
  if (from === to || to === "." || open === undefined) return;
  if (open.includes(to) || open.includes(`${to} ${how}`)) return;
  problems.push(
    `${relative(root, file)}: may not import ${relative(folder, target)}${how ? ` ${how}` : ""}; ${from} may use ${open.join(", ") || "the root alone"}`,
  );
}

function roomOf(folder, file) {
  return relative(folder, dirname(file)).split(sep).join("/") || ".";
}

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "fixtures" ? [] : sources(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = findProblems(resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "..")));
  for (const problem of found) console.error(`boundaries: ${problem}`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
