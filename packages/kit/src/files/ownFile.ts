import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { canonicalOrUndefined } from "../paths/canonicalPath.ts";
import { isInside } from "../paths/pathLimits.ts";
import { createPathScope } from "../paths/pathScope.ts";
import { writeAtomically } from "./atomicWrite.ts";
import { ensureDirectory } from "./directories.ts";
import { withFileLock } from "./fileLock.ts";
import { systemErrorCode } from "./systemErrors.ts";

const defaultMaxBytes = 64 * 1024 * 1024;

/**
 * A file in which a program keeps what its user has decided: readable by the user alone, and trusted only where nobody else can have
 * written it. Nothing is read or made before it is used. The folders that are made for it are the user's alone, too.
 */
export class OwnFile {
  readonly #path: string;
  readonly #what: string;
  readonly #maxBytes: number;
  #last: Promise<unknown> = Promise.resolve();

  /** `what` names its content in errors: "the accepted tools". A longer file than `maxBytes` is not read. */
  constructor(path: string, { what, maxBytes = defaultMaxBytes }: { what: string; maxBytes?: number | undefined }) {
    this.#path = resolve(path);
    this.#what = what;
    this.#maxBytes = maxBytes;
  }

  /** Returns the text; undefined where there is no file. Rejects when somebody else may have written it. */
  read(): Promise<string | undefined> {
    return readOwn(this.#path, this.#what, this.#maxBytes);
  }

  /** Replaces the text at once, no other process or call in between. Rejects as `read` does. */
  change(change: (text: string | undefined) => string): Promise<void> {
    // Changes by this process take turns without polling for the lock.
    const run = this.#last.then(() => this.#replace(change));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #replace(change: (text: string | undefined) => string): Promise<void> {
    const folder = dirname(this.#path);
    ensureDirectory(folder, 0o700);
    await withFileLock(`${this.#path}.lock`, async () => {
      const text = change(await this.read());
      const scope = createPathScope({ root: folder, cwd: folder });
      await writeAtomically(join(scope.cwd, basename(this.#path)), text, { scope, private: true });
    });
  }
}

/** Returns whether a path lies below one of the folders, links followed as far as it exists: where the tools of an agent may write. */
export function isBelowAny(path: string, folders: readonly string[]): boolean {
  const placeOf = (folder: string): string =>
    canonicalOrUndefined(folder) ?? (dirname(folder) === folder ? folder : placeOf(dirname(folder)));
  const place = placeOf(dirname(resolve(path)));
  return folders.some((folder) => isInside(folder, place));
}

async function readOwn(path: string, what: string, maxBytes: number): Promise<string | undefined> {
  const notOwn = (reason: string): Error =>
    new Error(`the file that stores ${what} is not trusted: ${reason}; check it, then remove it`);
  // Follows no link and does not wait for a named pipe.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let file: FileHandle;
  try {
    file = await process.getBuiltinModule("node:fs/promises").open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw code === "ELOOP" ? notOwn("it is a link") : error;
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw notOwn("it is not a regular file");
    if (process.getuid && stats.uid !== process.getuid()) throw notOwn("it belongs to another user");
    if (process.getuid && (stats.mode & 0o022) !== 0) throw notOwn("others can write it (chmod go-w takes that away)");
    if (stats.size > maxBytes) throw notOwn(`it is larger than ${maxBytes} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
