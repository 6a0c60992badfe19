import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  compileDenyRules,
  type DeniedPaths,
  type DenyRules,
  homeFolder,
  isInside,
  systemErrorCode,
} from "@toolcrib/core/files";
import { type BytePath, toBytePath, toSystemPath, toText } from "./bytePath.ts";

/** What exists and is denied: canonical paths. What lies in one of the directories is not listed. */
export interface FoundPaths {
  readonly files: readonly BytePath[];
  readonly directories: readonly BytePath[];
}

/** Most files and directories that are looked at before a command. */
export const longestWalk = 250_000;
/** Most names whose answer is kept during a walk. */
const mostKnownNames = 50_000;
/** Most paths that are masked: bubblewrap takes 0.8 s for 500, and four times as long for twice as many. */
export const mostMasks = 500;
/** Milliseconds of work after which other events get their turn. */
const sliceMs = 10;
/** Linux takes 4,096 bytes, and bubblewrap puts a prefix before a path. */
const longestPath = 4000;

/**
 * What is denied in the directories `walked`, and elsewhere in the places that patterns from `/` and `~/` name. Rejects with an Error in
 * plain words if that could not all be looked at.
 */
export async function findDenied(
  deny: DenyRules,
  walked: readonly string[],
  longest: number = longestWalk,
): Promise<FoundPaths> {
  // A name at any depth is matched by itself, which is cheaper than by the whole path.
  const names = deny.patterns.filter(isName);
  const placed = deny.patterns.filter((pattern) => !isName(pattern));
  const walk = new DenyWalk(
    compileDenyRules({ ...deny, patterns: names }),
    compileDenyRules({ ...deny, patterns: placed }),
    longest,
  );
  const outermost = walked.filter((path) => !walked.some((other) => other !== path && isInside(other, path)));
  for (const directory of new Set(outermost)) {
    await walk.visit(toBytePath(directory), names.length > 0);
  }
  for (const start of new Set(placed.flatMap(startOf))) {
    if (!outermost.some((directory) => isInside(directory, start))) await walk.visit(toBytePath(start), false);
  }
  return { files: [...walk.files], directories: [...walk.directories] };
}

/** A pattern without a place: it matches at any depth. */
function isName(pattern: string): boolean {
  return !pattern.slice(0, -1).includes("/") && !["/", "~", "."].includes(pattern);
}

/** Where to look for what a pattern from `/` or `~/` matches: what exists of the plain names at its head, links followed. */
function startOf(pattern: string): string[] {
  const fromHome = pattern === "~" || pattern.startsWith("~/");
  if (!fromHome && !pattern.startsWith("/")) return [];
  const top = fromHome ? homeFolder() : "/";
  let start = top === undefined ? undefined : realPath(top);
  for (const name of pattern.split("/").slice(fromHome ? 1 : 0)) {
    if (start === undefined || /[*?[\\]/.test(name)) break;
    start = realPath(join(start, name)) ?? start;
  }
  return start === undefined ? [] : [start];
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** The directories that are still to be listed are kept in a list: a tree may be thousands of levels deep. */
class DenyWalk {
  readonly files = new Set<BytePath>();
  readonly directories = new Set<BytePath>();
  readonly #names: DeniedPaths;
  readonly #placed: DeniedPaths;
  readonly #knownNames = new Map<string, boolean>();
  #looked = 0;
  #sliceEnds = performance.now() + sliceMs;

  readonly #longest: number;

  constructor(names: DeniedPaths, placed: DeniedPaths, longest: number) {
    this.#names = names;
    this.#placed = placed;
    this.#longest = longest;
  }

  /** Looks at a path and at all below it where something may match; at names without a place only with `everyName`. */
  async visit(start: BytePath, everyName: boolean): Promise<void> {
    if (this.#placed.match(toText(start)) !== undefined) return this.#deny(start);
    const isDirectory = lstatSync(toSystemPath(start), { throwIfNoEntry: false })?.isDirectory();
    const waiting = isDirectory ? [start] : [];
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      await this.#takeTurns();
      const mayMatch = this.#placed.mayMatchBelow(toText(directory));
      if (!everyName && !mayMatch) continue;
      for (const entry of this.#list(directory)) {
        const path = directory === "/" ? `/${entry.name}` : `${directory}/${entry.name}`;
        const kind = entry.isSymbolicLink() ? undefined : entry.isDirectory();
        if ((everyName && this.#isDeniedName(entry.name, kind)) || (mayMatch && this.#isDeniedPath(path, kind))) {
          this.#deny(path);
        } else if (kind) {
          waiting.push(path);
        }
      }
    }
  }

  #isDeniedPath(path: BytePath, isDirectory: boolean | undefined): boolean {
    return this.#placed.match(toText(path), isDirectory) !== undefined;
  }

  /** Names repeat: most directories of a tree hold an `index.js`. */
  #isDeniedName(name: BytePath, isDirectory: boolean | undefined): boolean {
    const key = `${isDirectory === false ? "" : "/"}${name}`;
    const known = this.#knownNames.get(key);
    if (known !== undefined) return known;
    const denied = this.#names.match(`/${toText(name)}`, isDirectory) !== undefined;
    if (this.#knownNames.size < mostKnownNames) this.#knownNames.set(key, denied);
    return denied;
  }

  /** Adds what the path leads to: a link cannot be masked, and its target can be read by its own name. */
  #deny(path: BytePath): void {
    try {
      const target = realpathSync.native(toSystemPath(path), { encoding: "latin1" });
      const isDirectory = statSync(toSystemPath(target)).isDirectory();
      (isDirectory ? this.directories : this.files).add(target);
      if (this.directories.size + this.files.size > mostMasks) throw tooManyMasks();
    } catch (error) {
      // A link that leads nowhere, or gone meanwhile.
      if (isGone(error)) return;
      throw systemErrorCode(error) === undefined ? error : cannotLook(path, error);
    }
  }

  #list(directory: BytePath): Dirent<BytePath>[] {
    if (directory.length > longestPath) throw new Error(`a path of more than ${longestPath} bytes cannot be masked`);
    try {
      const path = toSystemPath(directory);
      const entries = readdirSync(path, { withFileTypes: true, encoding: "latin1" }) as Dirent<BytePath>[];
      this.#looked += entries.length;
      if (this.#looked > this.#longest) {
        throw new Error(
          `there are more than ${this.#longest} files to look at before the command; deny folders by their place`,
        );
      }
      return entries;
    } catch (error) {
      const code = systemErrorCode(error);
      // A command of the same user could make it readable.
      if (code === "EACCES" || code === "EPERM") this.directories.add(directory);
      else if (code === undefined) throw error;
      else if (!isGone(error)) throw cannotLook(directory, error);
      return [];
    }
  }

  async #takeTurns(): Promise<void> {
    if (performance.now() < this.#sliceEnds) return;
    await setImmediate();
    this.#sliceEnds = performance.now() + sliceMs;
  }
}

function isGone(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}

function cannotLook(path: BytePath, cause: unknown): Error {
  return new Error(`${toText(path)} cannot be looked at (${systemErrorCode(cause) ?? "unknown reason"})`, { cause });
}

export function tooManyMasks(): Error {
  return new Error(`more than ${mostMasks} paths would have to be masked; deny the folders that hold them`);
}
