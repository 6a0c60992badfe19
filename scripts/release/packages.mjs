// What the release scripts share: the published packages of this checkout, what the registry has of them, and npm.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** `{ name, version, needs }` of every published package, each after those it depends on. */
export function releasedSet() {
  const manifests = readdirSync(join(root, "packages"))
    .map((folder) => JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")))
    .filter((manifest) => !manifest.private);
  const names = new Set(manifests.map(({ name }) => name));
  const waiting = manifests.map(({ name, version, dependencies = {} }) => ({
    name,
    version,
    needs: Object.keys(dependencies).filter((dependency) => names.has(dependency)),
  }));
  const ordered = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ needs }) => needs.every((need) => ordered.some(({ name }) => name === need)));
    if (next === -1) fail(`these packages depend on each other in a circle: ${waiting.map(({ name }) => name)}`);
    ordered.push(...waiting.splice(next, 1));
  }
  return ordered;
}

/** The changesets that are in no version yet. */
export function pendingChangesets() {
  return readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md");
}

/** `name@version` of each, for people. */
export function told(packages) {
  return packages.map(({ name, version }) => `${name}@${version}`).join(", ");
}

/** Reads the registry's entry of a package: its tags, and the integrity of each version. */
export async function onRegistry(name) {
  const response = await ask(`${registryOf(name)}${name.replace("/", "%2f")}`);
  if (response.status === 404) return { tags: {}, versions: {} };
  if (!response.ok) fail(`the registry answered ${response.status} when asked about ${name}: try again later`);
  const { "dist-tags": tags = {}, versions = {} } = await response.json();
  return {
    tags,
    versions: Object.fromEntries(Object.entries(versions).map(([version, { dist }]) => [version, dist.integrity])),
  };
}

/** Asked again where a connection breaks, as one kept from an earlier question may. */
async function ask(url, attempts = 3) {
  const headers = { accept: "application/json", "cache-control": "no-cache" };
  return await fetch(url, { headers }).catch((error) => {
    if (attempts > 1) return ask(url, attempts - 1);
    return fail(`the registry cannot be reached at ${new URL(url).origin}: ${error.cause?.message ?? error.message}`);
  });
}

const registries = new Map();
function registryOf(name) {
  const scope = name.split("/")[0];
  if (!registries.has(scope)) {
    const own = npmOutput(["config", "get", `${scope}:registry`]);
    const address = /^https?:/.test(own) ? own : npmOutput(["config", "get", "registry"]);
    registries.set(scope, address.endsWith("/") ? address : `${address}/`);
  }
  return registries.get(scope);
}

function npmOutput(args) {
  const { status, stdout, stderr } = spawnNpm(args, ["ignore", "pipe", "pipe"]);
  if (status !== 0) fail(`npm ${args.join(" ")} failed:\n${stderr}`);
  return stdout.trim();
}

/** Runs npm before the eyes of whoever releases, so that it can ask for a second factor. Returns whether it went well. */
export function npm(args) {
  return spawnNpm(args, "inherit").status === 0;
}

function spawnNpm(args, stdio) {
  return spawnSync("npm", args, { cwd: root, encoding: "utf8", stdio, shell: process.platform === "win32" });
}

/** The options of the command line, of which only those in `known` are taken. */
export function options(known) {
  const words = Object.entries(known).map(([name, { type }]) => `--${name}${type === "string" ? " NAME" : ""}`);
  const refuse = (problem) => fail(`${problem}; known are: ${words.join(", ")}`);
  try {
    return { ...keptByNpm(known, refuse), ...parseArgs({ options: known }).values };
  } catch (error) {
    return refuse(error.message.split(/[.\n]/)[0]);
  }
}

/** npm run keeps options that do not follow `--` for itself, and shows them in the environment. Misspelt ones stand among the
 * settings of npm, so those are refused that are the beginning of a known one, or one without its dash. */
function keptByNpm(known, refuse) {
  const kept = {};
  for (const [key, value] of Object.entries(process.env)) {
    const word = /^npm_config_(\w+)$/i.exec(key)?.[1].replaceAll("_", "-").toLowerCase();
    if (!word || !value) continue;
    if (word in known) kept[word] = known[word].type === "string" ? value : value === "true";
    else if (Object.keys(known).some((name) => name.replace("-", "").startsWith(word.replace("-", ""))))
      refuse(`Unknown option '--${word}'`);
  }
  return kept;
}

/** Ends the program with one sentence. */
export function fail(problem) {
  console.error(`release: ${problem}`);
  process.exit(1);
}
