import { constants, realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  createPathScope,
  ensureDirectory,
  isInside,
  systemErrorCode,
  withFileLock,
  writeAtomically,
} from "@toolcrib/core/files";
import { type ListedTool, record } from "../mapping.ts";
import { workingFolder } from "./serverProgram.ts";

/** A tool as it was accepted. */
export interface KnownTool extends ListedTool {
  /** Not listed any more; remembered for the day it comes back. */
  readonly gone?: true;
}

/** What is kept of a server from run to run: the tools as they were accepted. */
export interface KnownServer {
  /** Digest of the server's entry; another one means that it has to be asked anew. */
  config: string;
  tools: KnownTool[];
}

/** Keeps what is known of servers, by their name. A store must be the user's own: a server's tools are trusted by it. */
export interface McpToolStore {
  load(server: string): Promise<KnownServer | undefined>;
  save(server: string, known: KnownServer): Promise<void>;
}

/**
 * A store in one JSON file, made when first written, which only the user can read. A file that is no such JSON counts as empty.
 * Throws a TypeError for a path below the working folder, where an agent's tools may write. Loading and saving reject for
 * a file that somebody else may have put there: a link, another user's, one that others may write.
 */
export function fileToolStore(path: string): McpToolStore {
  refuseWorkingFolder(path);
  let last: Promise<unknown> = Promise.resolve();
  const readAll = async (): Promise<Record<string, unknown>> => {
    const text = await readOwnFile(path);
    try {
      return text === undefined ? {} : record(record(JSON.parse(text)).servers);
    } catch {
      return {};
    }
  };
  const write = async (server: string, known: KnownServer): Promise<void> => {
    const folder = dirname(resolve(path));
    ensureDirectory(folder, 0o700);
    await withFileLock(`${path}.lock`, async () => {
      const servers = { ...(await readAll()), [server]: known };
      const scope = createPathScope({ root: folder, cwd: folder });
      const content = `${JSON.stringify({ servers }, undefined, 2)}\n`;
      await writeAtomically(join(scope.cwd, basename(path)), content, { scope, private: true });
    });
  };
  return {
    async load(server) {
      const all = await readAll();
      if (!Object.hasOwn(all, server)) return undefined;
      const { config, tools } = record(all[server]);
      if (typeof config !== "string" || !Array.isArray(tools)) return undefined;
      return { config, tools: tools.filter((tool): tool is KnownTool => typeof record(tool).name === "string") };
    },
    save(server, known) {
      // A queue for this store's own saves: they need not poll for the lock.
      const run = last.then(() => write(server, known));
      last = run.catch(() => undefined);
      return run;
    },
  };
}

function refuseWorkingFolder(path: string): void {
  const working = workingFolder();
  if (working === undefined || !isInside(working, canonicalPath(resolve(path)))) return;
  throw new TypeError(
    "fileToolStore: the path is below the working folder, where an agent's tools may write; keep it elsewhere, below your " +
      "home directory for example",
  );
}

/** With the links of those directories resolved that are there. */
function canonicalPath(path: string): string {
  try {
    return realpathSync(dirname(path));
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonicalPath(parent), "missing");
  }
}

/** The text of a file that only the user can have written; undefined where there is none. */
async function readOwnFile(path: string): Promise<string | undefined> {
  // Neither a link is followed nor a named pipe waited for.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    const code = systemErrorCode(error);
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw notOwn("it is a link");
    throw error;
  });
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw notOwn("it is not a regular file");
    if (process.getuid && stats.uid !== process.getuid()) throw notOwn("it is another user's");
    if (process.getuid && (stats.mode & 0o022) !== 0) throw notOwn("others may write it");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function notOwn(reason: string): Error {
  return new Error(`the file that keeps the tools as accepted is not trusted: ${reason}; look at it, then remove it`);
}
