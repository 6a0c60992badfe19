import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childProcess } from "../process/platform.ts";
import type { RuntimeConfig, RuntimeManager } from "./runtimePackage.ts";

/** The package started for commands: it has one configuration for the whole process, with its proxies. */
interface Session {
  readonly manager: RuntimeManager;
  /** Tells configurations apart. */
  readonly key: string;
  /** A private directory for temporary files, which commands may write. */
  readonly temporary: string;
  /** Resolves to whether there is something to end. Never rejects. */
  readonly isInitialized: Promise<boolean>;
  /** Rejects if it could not be started, or does not hold. */
  readonly started: Promise<void>;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** A session in use by one command. */
export interface SessionUse {
  readonly manager: RuntimeManager;
  readonly temporary: string;
  /** Ends the use. Call it once; `isWrapped` says whether a command was wrapped. */
  release(isWrapped: boolean): void;
}

/** The time that its proxies wait for the next command. They keep the process alive until then. */
const idleMs = 1000;

let current: Session | undefined;
/** Settles when the last session has ended. */
let ended: Promise<void> = Promise.resolve();

/**
 * Starts the package for this configuration, or joins what runs with the same one; `prepare` is called once after the start. Rejects with an
 * Error in plain words.
 */
export async function useSession(
  manager: RuntimeManager,
  config: RuntimeConfig,
  prepare: (use: Omit<SessionUse, "release">) => Promise<void>,
): Promise<SessionUse> {
  const key = JSON.stringify(config);
  if (current && (current.manager !== manager || current.key !== key)) {
    if (current.users > 0)
      throw new Error("commands with other hosts run in this process now; try again when they have ended");
    end(current);
  }
  const session = current ?? open(manager, config, key, prepare);
  current = session;
  clearTimeout(session.idle);
  session.users += 1;
  const release = (isWrapped: boolean): void => {
    if (isWrapped) manager.cleanupAfterCommand();
    session.users -= 1;
    if (session.users === 0 && current === session) session.idle = setTimeout(() => end(session), idleMs).unref();
  };
  try {
    await session.started;
  } catch (error) {
    release(false);
    if (current === session) end(session);
    throw error;
  }
  return { manager, temporary: session.temporary, release };
}

function open(
  manager: RuntimeManager,
  config: RuntimeConfig,
  key: string,
  prepare: (use: Omit<SessionUse, "release">) => Promise<void>,
): Session {
  const temporary = mkdtempSync(join(realpathSync(tmpdir()), "toolcrib-"));
  const before = ended;
  const initialize = async (): Promise<void> => {
    await before;
    // Its hosts would be those of the other.
    if (manager.getProxyPort() !== undefined)
      throw new Error("other code of this process already uses it, and only one user is possible");
    await manager.initialize(config);
  };
  const initialized = initialize();
  const isInitialized = initialized.then(
    () => true,
    () => false,
  );
  const started = initialized.then(() => prepare({ manager, temporary }));
  return { manager, key, temporary, isInitialized, started, users: 0, idle: undefined };
}

function end(session: Session): void {
  clearTimeout(session.idle);
  current = undefined;
  ended = close(session, ended);
}

/** Ends it after the one before. Never rejects: what cannot be ended is no reason against the next one. */
async function close({ manager, isInitialized, temporary }: Session, before: Promise<void>): Promise<void> {
  await before;
  try {
    if (await isInitialized) await manager.reset();
  } catch {
    // Its own clean-up at the end of the process is left.
  }
  await removeFolder(temporary);
}

/** Removes whatever commands have left there, by a program that follows no link. */
function removeFolder(folder: string): Promise<void> {
  return new Promise((resolve) => {
    childProcess()
      .spawn("/bin/rm", ["-rf", "--", folder], { stdio: "ignore" })
      .on("error", () => resolve())
      .on("close", () => resolve());
  });
}
