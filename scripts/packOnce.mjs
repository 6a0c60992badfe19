// Packs every published package once for each state of what is built, for all that installs them: into
// node_modules/.cache/packed/DIGEST, whose path it prints. `overrides.json` there names each tarball by its file.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const workspace = fileURLToPath(new URL("..", import.meta.url));
/** Folders of a package that are never packed. */
const unpacked = new Set(["node_modules", "src", "api", "fixtures"]);
/** An unused folder is removed after this. */
const keptMs = 24 * 3_600_000;

/** The folder of tarballs of what `root` has built. Packs only if there is none yet. */
export function packOnce(root = workspace) {
  const cache = join(root, "node_modules/.cache/packed");
  const folder = join(cache, digestOf(root));
  if (existsSync(folder)) {
    const now = new Date();
    utimesSync(folder, now, now);
    return folder;
  }
  removeOld(cache);
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts/packAll.mjs"), making], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) {
    rmSync(making, { recursive: true, force: true });
    throw new Error(`packing failed:\n${stdout}${stderr}`);
  }
  const list = join(making, "overrides.json");
  const overrides = Object.entries(JSON.parse(readFileSync(list, "utf8")));
  const moved = overrides.map(([name, address]) => [name, `file:${join(folder, basename(address))}`]);
  writeFileSync(list, `${JSON.stringify(Object.fromEntries(moved), undefined, 2)}\n`);
  try {
    renameSync(making, folder);
  } catch (error) {
    // Another process was quicker: its tarballs have the same bytes.
    rmSync(making, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** Covers all that tarballs are made from, and the Node that compresses them. */
export function digestOf(root) {
  const hash = createHash("sha256").update(process.version);
  const add = (path) => {
    if (existsSync(join(root, path)))
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(root, path)))
        .update("\0");
  };
  for (const file of ["package.json", "pnpm-workspace.yaml", "LICENSE", "scripts/packAll.mjs", "scripts/runPnpm.mjs"])
    add(file);
  const walk = (folder, leftOut) => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = `${folder}/${entry.name}`;
      if (entry.isFile() && !entry.name.endsWith(".tsbuildinfo")) add(path);
      else if (entry.isDirectory() && !leftOut.has(entry.name)) walk(path, new Set());
    }
  };
  for (const name of readdirSync(join(root, "packages")).sort()) walk(`packages/${name}`, unpacked);
  return hash.digest("hex").slice(0, 16);
}

function removeOld(cache) {
  if (!existsSync(cache)) return;
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    if (Date.now() - statSync(folder).mtimeMs > keptMs) rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(packOnce());
