import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect } from "vitest";

/**
 * Records which files of the workspace the tests of a file read or start, beside the modules that they import: what of it is no input
 * of their project would be answered from Nx's cache after a change. `testResults.ts` collects the lines, `checkTestInputs.mjs` judges.
 * Not seen: listings, what other programs read, and what a module shared by several test files reads when it is loaded, but for the first.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, ".nx/reads");
/** One for all files that this process tests. */
const shared = globalThis as { toolcribReads?: Set<string> };
shared.toolcribReads ??= watch();
const seen = shared.toolcribReads;

afterAll(() => {
  const test = relative(root, expect.getState().testPath ?? "");
  if (seen.size > 0) {
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify({ test, files: [...seen] })}\n`);
  }
  seen.clear();
});

function watch(): Set<string> {
  const files = new Set<string>();
  const note = (path: unknown): void => {
    const text = /^file:/.test(String(path)) ? fileURLToPath(String(path)) : path;
    if (typeof text !== "string") return;
    const file = relative(root, resolve(text)).replaceAll(sep, "/");
    if (file === "" || file.startsWith("..") || /(?:^|\/)(?:node_modules|\.nx|\.git)(?:\/|$)/.test(file)) return;
    // What is built stands for the package that it is built from.
    files.add(file.replace(/^(packages\/[^/]+)\/dist\/.*/, "$1/package.json"));
  };
  const builtin = createRequire(import.meta.url);
  const wrap = (target: Record<string, unknown>, name: string, notes: (args: readonly unknown[]) => void): void => {
    const original = target[name] as (...args: unknown[]) => unknown;
    const wrapped = function (this: unknown, ...args: unknown[]): unknown {
      notes(args);
      return original.apply(this, args);
    };
    target[name] = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original));
  };
  const fileSystem = builtin("node:fs") as Record<string, unknown> & { promises: Record<string, unknown> };
  for (const name of ["readFileSync", "createReadStream", "readFile"]) wrap(fileSystem, name, ([path]) => note(path));
  wrap(fileSystem.promises, "readFile", ([path]) => note(path));
  const processes = builtin("node:child_process") as Record<string, unknown>;
  for (const name of ["spawn", "spawnSync", "execFile", "execFileSync", "fork"]) {
    wrap(processes, name, ([file, words]) => {
      for (const word of [file, ...(Array.isArray(words) ? words : [])])
        if (/^file:/.test(String(word)) || existsSync(String(word))) note(word);
    });
  }
  syncBuiltinESMExports();
  return files;
}
