import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { attempt } from "@toolcrib/core/internal";
import { isInside, systemErrorCode } from "@toolcrib/kit/files";
import { type BytePath, isAscii, toText } from "./bytePath.ts";

/** Most files and directories that are looked at before a command. */
export const longestWalk = 250_000;
/** Milliseconds of work after which other events get their turn. */
const sliceMs = 10;
/** Linux takes 4,096 bytes, and bubblewrap puts a prefix before a path. */
const longestPath = 4000;

/** Lists directories one after another, a bounded number of entries in all. */
export class TreeWalk {
  readonly #longest: number;
  readonly #advice: string;
  #looked = 0;
  #sliceEnds = performance.now() + sliceMs;

  constructor(longest: number, advice: string) {
    this.#longest = longest;
    this.#advice = advice;
  }

  /** Lists a directory: empty if it is gone, undefined if it may not be read. Throws an Error in plain words for anything else. */
  async list(directory: BytePath): Promise<Dirent<BytePath>[] | undefined> {
    if (performance.now() > this.#sliceEnds) {
      await setImmediate();
      this.#sliceEnds = performance.now() + sliceMs;
    }
    if (directory.length > longestPath) throw new Error(`a path of more than ${longestPath} bytes cannot be masked`);
    try {
      const path = toSystemPath(directory);
      const entries = readdirSync(path, { withFileTypes: true, encoding: "latin1" }) as Dirent<BytePath>[];
      this.#looked += entries.length;
      if (this.#looked <= this.#longest) return entries;
    } catch (error) {
      if (["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) return undefined;
      if (isGone(error)) return [];
      throw cannotLook(directory, error);
    }
    throw new Error(`there are more than ${this.#longest} files to look at before the command; ${this.#advice}`);
  }
}

/** Returns whether the error says that there is nothing, or a link that leads nowhere. */
export function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes(systemErrorCode(error) ?? "");
}

export function cannotLook(path: BytePath, cause: unknown): Error {
  return new Error(`${toText(path)} cannot be looked at (${systemErrorCode(cause) ?? "unknown reason"})`, { cause });
}

export function entryPath(directory: BytePath, name: BytePath): BytePath {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Returns the directories that lie in no other of them, each once. */
export function outermost<Path extends string>(directories: readonly Path[]): Path[] {
  const kept: Path[] = [];
  for (const path of [...directories].sort((a, b) => a.length - b.length)) {
    if (!kept.some((outer) => isInside(outer, path))) kept.push(path);
  }
  return kept;
}

/** Converts to the form that `node:fs` takes. Apart from the type of such paths, so that published types do not name Node's. */
export function toSystemPath(path: BytePath): string | Buffer {
  return isAscii(path) ? path : Buffer.from(path, "latin1");
}

/** Returns the canonical path; undefined for a link that leads nowhere, or what is not there. */
export function realBytePath(path: BytePath): BytePath | undefined {
  return attempt(() => realpathSync.native(toSystemPath(path), { encoding: "latin1" }));
}
