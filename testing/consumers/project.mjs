// A temporary project as a user would make it, and the programs run in it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** The folder of this run; removed at its end. */
export const workspace = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-consumers-")));
/** Ends a program that hangs. */
const hangMs = 300_000;
const children = new Set();
/** The Node versions that the packages are tried on. */
export const nodeVersions = { oldest: "22.18.0", current: "24.21.0", newest: "26.10.0" };

/** The environment of a user's shell: nothing of the program that started this suite. */
export function userEnvironment(extra = {}) {
  const { HOME, PATH, TMPDIR, npm_config_cache: cache } = process.env;
  const own = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_registry|NPM_CONFIG_|SSL_|NODE_EXTRA_CA|HTTPS?_PROXY|NO_PROXY)/i.test(name),
  );
  return {
    ...Object.fromEntries(own),
    HOME,
    // This Node first, and none of this repository's own programs.
    PATH: [
      dirname(process.execPath),
      ...PATH.split(delimiter).filter((folder) => !folder.includes("node_modules/.bin")),
    ].join(delimiter),
    ...(TMPDIR ? { TMPDIR } : {}),
    ...(cache ? { npm_config_cache: cache } : {}),
    CI: "true",
    NO_COLOR: "1",
    NEXT_TELEMETRY_DISABLED: "1",
    ...extra,
  };
}

/** A folder with these files; `package.json` is written from `manifest`. */
export function createProject(name, { manifest = {}, files = {} } = {}) {
  const folder = join(workspace, name);
  mkdirSync(folder, { recursive: true });
  write(folder, { "package.json": JSON.stringify({ name, private: true, ...manifest }, undefined, 2), ...files });
  return folder;
}

export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

export async function npmInstall(folder) {
  const quiet = "--no-audit --no-fund --ignore-scripts --loglevel=error --no-package-lock --prefer-offline";
  await run(folder, "npm", ["install", ...quiet.split(" ")]);
}

/** Starts a program that runs until the end of all cases. */
export function start(cwd, command, args, { env = {} } = {}) {
  const child = spawn(command, args, { cwd, env: userEnvironment(env), stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  return child;
}

/** Runs a program to its end. Throws with what it printed unless it exits with `expected`. */
export function run(cwd, command, args, { env = {}, expected = 0 } = {}) {
  return new Promise((resolve, reject) => {
    const child = start(cwd, command, args, { env });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const timer = setTimeout(() => child.kill("SIGKILL"), hangMs);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      children.delete(child);
      if (code === expected) resolve({ stdout, stderr });
      else {
        const shown = `${stdout}\n${stderr}`.trim().slice(-4000);
        reject(new Error(`${command} ${args.join(" ").slice(0, 200)} ended with ${signal ?? code}:\n${shown}`));
      }
    });
  });
}

const binaries = new Map();
/** The path of a Node binary of this version, from the npm package that holds it. */
export function nodeBinary(version) {
  if (!binaries.has(version)) binaries.set(version, installNode(version));
  return binaries.get(version);
}

async function installNode(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = createProject(`node-${version}`, { manifest: { dependencies: { [name]: version } } });
  await npmInstall(folder);
  return join(folder, "node_modules", name, "bin/node");
}

export function cleanUp() {
  for (const child of children) child.kill("SIGKILL");
  if (process.env.TOOLCRIB_KEEP) console.log(`kept: ${workspace}`);
  else rmSync(workspace, { recursive: true, force: true, maxRetries: 5 });
}
