// Reads every manifest and every import, and fails on an arrow between packages that the house does not allow.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** What a package may use, by folder name. */
const packs = ["tools-fs", "tools-search", "tools-bash"];
const allowed = {
  core: [],
  ...Object.fromEntries(packs.map((pack) => [pack, ["core"]])),
  agent: ["core"],
  mcp: ["core"],
  adapters: ["core"],
  defaults: ["core", ...packs, "agent"],
  cli: ["core", ...packs, "agent", "defaults", "mcp"],
};

/** Run-time dependencies from elsewhere, by folder name: one added here needs a reason in its commit. */
const external = {
  core: ["@cfworker/json-schema", "@standard-schema/spec"],
  "tools-fs": ["diff"],
  "tools-search": ["fast-glob", "ignore"],
  "tools-bash": [],
  agent: [],
  mcp: ["@modelcontextprotocol/server", "@modelcontextprotocol/client"],
  adapters: [],
  defaults: [],
  cli: ["commander", "jsonc-parser", "openai", "@anthropic-ai/sdk"],
};

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."));
const problems = [];

for (const name of readdirSync(join(root, "packages"))) {
  const folder = join(root, "packages", name);
  if (!existsSync(join(folder, "package.json"))) continue;
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!(name in allowed)) {
    problems.push(`packages/${name}: not in the house; give it its arrows in scripts/checkBoundaries.mjs`);
    continue;
  }
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const own = dependency.startsWith("@toolcrib/") ? dependency.slice("@toolcrib/".length) : undefined;
    if (own === undefined ? !external[name].includes(dependency) : !allowed[name].includes(own)) {
      problems.push(`packages/${name}/package.json: may not depend on ${dependency}`);
    }
  }
  for (const file of sources(join(folder, "src"))) checkImports(name, folder, file);
}

function checkImports(name, folder, file) {
  const isTest = /\.test(-d)?\.ts$/.test(file);
  const at = relative(root, file);
  for (const [, specifier] of readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
    const own = /^@toolcrib\/([^/]+)/.exec(specifier)?.[1];
    if (own !== undefined && !isTest && own !== name && !allowed[name].includes(own)) {
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

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "fixtures" ? [] : sources(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

for (const problem of problems) console.error(`boundaries: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
