import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { listSessions } from "@toolcrib/agent";
import { type FileLock, fileKind, systemErrorCode, takeFileLock } from "@toolcrib/core/files";
import { CliError, usageError } from "../exitReasons.ts";
import { refuseMore } from "./givenFile.ts";
import { makeStateFolder, stateFolder, stateName } from "./stateFolder.ts";

/** Megabytes of a file that `-r` names. It is read whole, and several times its size is needed for that. */
const mostSessionMegabytes = 100;

export interface SessionFlags {
  /** `-c` */
  readonly continue?: boolean | undefined;
  /** `-r FILE` */
  readonly resume?: string | undefined;
}

/**
 * The folder of the journals of one working directory, outside of it: somebody else may have written the directory, and its
 * files must not become a conversation of the user.
 */
export function sessionFolder(directory: string, env: NodeJS.ProcessEnv): string {
  return join(stateFolder(env), "sessions", stateName(directory));
}

/** The conversation that `-r` names, or for `-c` the folder's last; undefined for a new one. Throws a usage error where there is none. */
export async function resumedFile(flags: SessionFlags, folder: string): Promise<string | undefined> {
  if (flags.resume !== undefined) {
    const path = resolve(flags.resume);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) {
      refuseMore(stats.size, `--resume ${flags.resume}`, mostSessionMegabytes);
      return path;
    }
    throw usageError(
      `--resume ${flags.resume}: ${stats ? `it is a ${fileKind(stats)}` : "there is no such file"}; pass a journal, or what save_session_context wrote`,
    );
  }
  if (!flags.continue) return undefined;
  const [last] = await listSessions(folder);
  if (last) return last.file;
  throw usageError("nothing to continue: no conversation was held in this directory yet");
}

/** Whether a session file is a journal, which grows, and not one document. Its first line says so. */
export async function isJournal(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(32));
    return buffer.toString("latin1", 0, bytesRead).startsWith('{"type":"session"');
  } finally {
    await handle.close();
  }
}

/** Makes the folder, for the user alone; returns what went wrong, if anything. */
export function makeSessionFolder(directory: string, env: NodeJS.ProcessEnv): string | undefined {
  try {
    makeStateFolder(env, "sessions", stateName(directory));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Holds a journal while a conversation goes on in it: two programs that write it would mix up their lines. Undefined where no lock can be
 * made. Throws where another program holds it.
 */
export async function lockJournal(journal: string): Promise<FileLock | undefined> {
  let lock: FileLock | undefined;
  try {
    lock = await takeFileLock(`${journal}.lock`);
  } catch (error) {
    // Then the journal cannot be written either, which is reported.
    if (systemErrorCode(error)) return undefined;
    throw error;
  }
  if (lock) return lock;
  throw new CliError(
    "failed",
    `the conversation in ${journal} is open in another toolcrib; end that one, or start a new conversation here`,
  );
}
