import { constants, type Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isObject, messageOf } from "@toolcrib/core/text";
import type { Recorder } from "../conversation/history.ts";
import type { ConversationLine } from "../conversation/state.ts";
import { AgentError } from "../errors.ts";
import { type JournalLine, sessionFormat, sessionVersion } from "./session.ts";
import { sessionTarget } from "./sessionPath.ts";

export interface ReadJournal {
  /** Of its whole lines: a torn line after them is cut off. */
  readonly bytes: number;
  /** Of all of it. */
  readonly size: number;
  readonly inode: number;
}

/** The time that an answer waits for another process that answers at this moment. */
const longestWaitMs = 10_000;

export interface JournalStart {
  readonly file: string;
  readonly name?: string | undefined;
  /** The prompt for the header of a new journal. */
  readonly systemPrompt: () => string;
  readonly resumed?: ReadJournal | undefined;
  /** Called with the first failure, after which nothing more is written. Without it failures are thrown. */
  readonly onError?: ((error: AgentError) => void) | undefined;
  /** The lines with which a new journal starts. */
  readonly lines?: readonly ConversationLine[];
}

/**
 * Writes a history to a file as it grows: one JSON object a line, on disk (fsync) before the turn goes on; lines of the
 * record of a call are on disk only where a call begins that must not run twice, as a killed process leaves what it wrote. Opened by the
 * first write of a turn and closed at its end. Throws an AgentError `bad_session` where the file cannot be written, or another
 * process has written to it. A turn that answers starts its calls under a lock, so that no two processes run one call.
 */
export class Journal implements Recorder {
  readonly #start: JournalStart;
  /** Bytes of whole lines; undefined while there is no file. */
  #bytes: number | undefined;
  /** The state of the file when this journal last read or wrote it; undefined while that is not known. */
  #seen: { readonly size: number; readonly inode: number } | undefined;
  #handle: FileHandle | undefined;
  #isAnswering = false;
  /** Another process has gone on with the conversation: nothing more is written here. */
  #refusal: AgentError | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isGivenUp = false;

  constructor(start: JournalStart) {
    this.#start = start;
    this.#bytes = start.resumed?.bytes;
    this.#seen = start.resumed;
  }

  write(lines: readonly ConversationLine[], sync = true): Promise<void> {
    // Also without a new answer: calls that were answered before a crash start now.
    if (lines.some((line) => line.type === "answers")) this.#isAnswering = true;
    const written = lines.filter((line) => line.type !== "answers" || Object.keys(line.answers).length > 0);
    if (written.length === 0) return Promise.resolve();
    const timed = written.map((line) => (isTimed.has(line.type) ? { ...line, at: now() } : line));
    const isLocked = this.#isAnswering && written.some(({ type }) => type === "answers" || type === "tool-start");
    return this.#enqueue(() => (isLocked ? this.#appendLocked(timed) : this.#append(timed, sync)));
  }

  turnEnded(): Promise<void> {
    this.#isAnswering = false;
    return this.#enqueue(async () => {
      const handle = this.#handle;
      this.#handle = undefined;
      await handle?.close();
    });
  }

  /** Appends while no other process does the same, and only if none has written since. */
  async #appendLocked(lines: readonly ConversationLine[]): Promise<void> {
    const { FileLock, makeDirectories } = await import("@toolcrib/kit/files");
    const { path, scope } = await sessionTarget(this.#start.file);
    makeDirectories(dirname(path), scope, undefined, 0o700).directory.close();
    const lock = await FileLock.take(`${path}.answers.lock`, longestWaitMs);
    if (!lock) {
      const problem = `another process has ${path}.answers.lock locked; wait for it to end, or remove this file if there is none`;
      throw new TakenError(this.#start.file, problem);
    }
    try {
      if (this.#handle) await this.#check(this.#handle);
      await this.#append(lines);
    } finally {
      lock.release();
    }
  }

  async #append(added: readonly ConversationLine[], sync = true): Promise<void> {
    if (this.#refusal) throw this.#refusal;
    this.#handle ??= await this.#open();
    const lines = [...this.#firstLines(), ...added].map((one) => `${JSON.stringify(one)}\n`).join("");
    try {
      await this.#handle.appendFile(lines);
      if (sync) await this.#handle.datasync().catch(ifForbidden);
    } catch (error) {
      // A part that was written is cut off when the file is opened again.
      this.#seen = await this.#handle.stat().then(seenOf, () => undefined);
      await this.#handle.close();
      this.#handle = undefined;
      throw error;
    }
    this.#bytes = (this.#bytes ?? 0) + Buffer.byteLength(lines);
    if (this.#seen) this.#seen = { ...this.#seen, size: this.#bytes };
  }

  /** Refuses a file to which another process, or another agent of this one, has written; closes it then. */
  async #check(handle: FileHandle): Promise<void> {
    const { size, inode } = seenOf(await handle.stat());
    if (!this.#seen || (size === this.#seen.size && inode === this.#seen.inode)) return;
    this.#handle = undefined;
    await handle.close();
    const problem = "another process has continued this conversation; resume it again";
    this.#refusal = new TakenError(this.#start.file, problem);
    throw this.#refusal;
  }

  /** Runs tasks one after another, also when calls that run side by side end together. */
  #enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.#writing
      .then(() => (this.#isGivenUp ? undefined : task()))
      .catch((cause: unknown) => {
        // Not a failure to go on without: calls could run twice.
        if (cause instanceof TakenError) throw cause;
        const error = cannotWrite(this.#start.file, cause);
        if (!this.#start.onError) throw error;
        this.#isGivenUp = true;
        this.#start.onError(error);
      });
    this.#writing = done.catch(() => undefined);
    return done;
  }

  /** Returns the header of a new journal, and what it starts with. */
  #firstLines(): JournalLine[] {
    if (this.#bytes) return [];
    const { name, lines = [] } = this.#start;
    const about = { savedAt: now(), systemPrompt: this.#start.systemPrompt(), ...(name !== undefined && { name }) };
    return [{ type: "session", format: sessionFormat, version: sessionVersion, ...about }, ...lines];
  }

  async #open(): Promise<FileHandle> {
    // Loaded once something is written.
    const { makeDirectories } = await import("@toolcrib/kit/files");
    const { path, scope } = await sessionTarget(this.#start.file);
    const { directory } = makeDirectories(dirname(path), scope, undefined, 0o700);
    try {
      const handle = await openJournal(directory.at(basename(path)), this.#bytes, (opened) => this.#check(opened));
      this.#bytes ??= 0;
      this.#seen = seenOf(await handle.stat());
      await directory.sync();
      return handle;
    } finally {
      directory.close();
    }
  }
}

/** Node 26 never allows to write to the disk at once under its permission model. */
async function ifForbidden(refused: unknown): Promise<void> {
  const { isForbiddenByNode } = await import("@toolcrib/kit/files");
  if (!isForbiddenByNode(refused)) throw refused;
}

const isTimed: ReadonlySet<ConversationLine["type"]> = new Set(["message", "tool-start"] as const);

function now(): string {
  return new Date().toISOString();
}

/** Opens a new file, or an existing one that passes `check`, cut to `bytes`. Only its owner may read it. */
async function openJournal(
  path: string | Buffer,
  bytes: number | undefined,
  check: (handle: FileHandle) => Promise<void>,
): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const how = bytes === undefined ? O_CREAT | O_EXCL : O_NOFOLLOW | O_NONBLOCK;
  const { open } = process.getBuiltinModule("node:fs/promises");
  const handle = await open(path, O_WRONLY | O_APPEND | how, 0o600);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (bytes === undefined) return handle;
    await check(handle);
    // Fails on Windows and under Node's permission model.
    if ((stats.mode & 0o077) !== 0) await handle.chmod(0o600).catch(() => undefined);
    if (stats.size !== bytes) await handle.truncate(bytes);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function seenOf({ size, ino }: Stats): { readonly size: number; readonly inode: number } {
  return { size, inode: ino };
}

/** The conversation is in the hands of another process. */
class TakenError extends AgentError {
  constructor(file: string, problem: string) {
    super({ code: "bad_session", message: `Cannot write the journal ${file}: ${problem}.` });
  }
}

function cannotWrite(file: string, cause: unknown): AgentError {
  const exists = isObject(cause) && cause.code === "EEXIST";
  const problem = exists ? "it exists; resume it or choose another file" : messageOf(cause);
  return new AgentError({ code: "bad_session", message: `Cannot write the journal ${file}: ${problem}.`, cause });
}
