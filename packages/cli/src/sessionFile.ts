import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { usageError } from "./endings.ts";

export interface SessionFlags {
  /** `-c` */
  readonly continue?: boolean | undefined;
  /** `-r FILE` */
  readonly resume?: string | undefined;
}

/** Where this conversation is kept, and whether it goes on from what is there. Throws a usage error when there is nothing to go on from. */
export function sessionFile(
  flags: SessionFlags,
  directory: string,
  env: NodeJS.ProcessEnv,
): { path: string; resumes: boolean } {
  if (flags.resume !== undefined) {
    const path = resolve(directory, flags.resume);
    if (!existsSync(path))
      throw usageError(`--resume ${flags.resume}: there is no such file; pass one that save_session_context wrote`);
    return { path, resumes: true };
  }
  const path = ownFile(directory, env);
  const resumes = flags.continue === true;
  if (resumes && !existsSync(path))
    throw usageError("nothing to continue: no conversation was held in this directory yet");
  makeFolders(dirname(path));
  return { path, resumes };
}

/**
 * One file for each working directory, outside of it: what lies in a directory that somebody else wrote must not become a
 * conversation of the user's.
 */
function ownFile(directory: string, env: NodeJS.ProcessEnv): string {
  const state =
    env.XDG_STATE_HOME || (process.platform === "win32" && env.LOCALAPPDATA) || join(homedir(), ".local", "state");
  const name = createHash("sha256").update(directory).digest("hex").slice(0, 16);
  return join(state, "toolcrib", "sessions", `${name}.json`);
}

/** For the user alone. What fails here is told when the conversation is saved; it can do without. */
function makeFolders(sessions: string): void {
  const state = dirname(dirname(sessions));
  // One by one: a recursive mkdirSync never returns below /proc.
  for (const folder of [dirname(state), state, dirname(sessions), sessions]) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch {
      // Usually it is there.
    }
  }
}
