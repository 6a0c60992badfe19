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
  /** No longer listed; kept so that a change is noticed when it comes back. */
  readonly gone?: true;
}

/** What is kept about a server between runs. */
export interface KnownServer {
  /** Digest of the entry of the server. When it differs, the server is asked for its tools again. */
  config: string;
  tools: KnownTool[];
}

/**
 * Keeps what is known about servers, by name. Only the user may be able to write it, because it decides which tools are
 * accepted.
 */
export interface McpToolStore {
  load(server: string): Promise<KnownServer | undefined>;
  save(server: string, known: KnownServer): Promise<void>;
}

/**
 * A store in one JSON file that only the user can read. A file with other content counts as empty. Processes that save at the
 * same time wait for each other. Throws a TypeError for a path below the working folder, where the tools of an agent may write.
 * Loading and saving reject when somebody else may have written the file: when it is a link, belongs to another user, or can be
 * written by others.
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
      // Saves of this process take turns without polling for the lock.
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

/** The directory of the path with links resolved, as far as it exists. */
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
  // Follows no link and does not wait for a named pipe.
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
    if (process.getuid && stats.uid !== process.getuid()) throw notOwn("it belongs to another user");
    if (process.getuid && (stats.mode & 0o022) !== 0) throw notOwn("others can write it");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function notOwn(reason: string): Error {
  return new Error(`the file that keeps the accepted tools is not trusted: ${reason}; check it, then remove it`);
}
