import { type Stats, statSync, unlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { FileLock, namesIn, removeFlatFolder, removeIfPossible, systemErrorCode } from "@toolcrib/kit/files";
import { AgentError } from "../errors.ts";
import { listSessions, type SessionSummary } from "./listSessions.ts";

/** The limits of what is kept. */
export interface SessionLimits {
  /** Sessions that were not changed for more days are removed. Default: 90. */
  readonly maxAgeDays?: number | undefined;
  /** Bytes of all sessions with what is kept beside them; the oldest go first. Default: 500 MB. */
  readonly maxBytes?: number | undefined;
}

/** The sessions and bytes that `prune` removed. */
export interface PrunedSessions {
  readonly sessions: number;
  readonly bytes: number;
}

const defaultMaxAgeDays = 90;
const defaultMaxBytes = 500 * 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * The sessions of a folder, each a journal, and what is kept beside them under its name: a saved context, long outputs in
 * `outputs/NAME`, old content for undo in `undo/NAME`. Nothing is read or made before a method is called.
 */
export class SessionFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /** Returns the folder of all long outputs. */
  get outputs(): string {
    return join(this.path, "outputs");
  }

  /** Returns the folder for a session's long outputs; undefined for a journal outside of this folder, with which they could not go. */
  outputsOf(journal: string | undefined): string | undefined {
    return this.#beside("outputs", journal);
  }

  /** Returns the folder of old content for undo; undefined as for `outputsOf`. */
  undoOf(journal: string | undefined): string | undefined {
    return this.#beside("undo", journal);
  }

  /** Lists the sessions, the last changed first. */
  list(): Promise<SessionSummary[]> {
    return listSessions(this.path);
  }

  /**
   * Finds a session by its number in `list`, from 1 (up to five digits), its id or a beginning of it that no other has, or the
   * name of its file.
   */
  async find(text: string): Promise<SessionSummary | undefined> {
    const all = await this.list();
    if (/^\d{1,5}$/.test(text)) return all[Number(text) - 1];
    const named = all.find(({ id, file }) => id === text || basename(file, ".jsonl") === basename(text, ".jsonl"));
    const [only, ...others] = text === "" ? [] : all.filter(({ id }) => id.startsWith(text));
    return named ?? (others.length === 0 ? only : undefined);
  }

  /**
   * Holds a journal while a conversation goes on in it: two programs that write it would mix up their lines. Undefined where no lock
   * can be made. Throws an AgentError `busy` where another program holds it.
   */
  async lock(journal: string): Promise<FileLock | undefined> {
    let lock: FileLock | undefined;
    try {
      lock = await FileLock.take(`${journal}.lock`);
    } catch (error) {
      // Then the journal cannot be written either, which is reported.
      if (systemErrorCode(error)) return undefined;
      throw error;
    }
    if (lock) return lock;
    throw new AgentError({
      code: "busy",
      message: `the conversation in ${journal} is open in another toolcrib; end that one, or start a new conversation here`,
    });
  }

  /** Removes a session with what is kept beside it. Throws an AgentError `busy` while a program holds it. */
  async remove({ file }: Pick<SessionSummary, "file">): Promise<void> {
    if (dirname(resolve(file)) !== this.path) throw new TypeError(`${file} is not a session of ${this.path}`);
    const lock = await this.lock(file);
    try {
      unlinkSync(file);
      this.#removeBeside(basename(file, ".jsonl"));
    } finally {
      lock?.release();
    }
  }

  /** Removes what is too old or too much, the oldest first, but never what a program holds. What cannot be removed stays. */
  async prune({
    maxAgeDays = defaultMaxAgeDays,
    maxBytes = defaultMaxBytes,
  }: SessionLimits = {}): Promise<PrunedSessions> {
    const found = namesIn(this.path).flatMap((name) => {
      const stats = name.endsWith(".jsonl") ? statsOf(join(this.path, name)) : undefined;
      return stats?.isFile() ? [{ name, changedMs: stats.mtimeMs, bytes: stats.size + this.#bytesBeside(name) }] : [];
    });
    const oldest = found.sort((a, b) => a.changedMs - b.changedMs);
    let total = oldest.reduce((sum, { bytes }) => sum + bytes, 0);
    const pruned = { sessions: 0, bytes: 0 };
    for (const { name, changedMs, bytes } of oldest) {
      if (Date.now() - changedMs <= maxAgeDays * dayMs && total <= maxBytes) continue;
      try {
        await this.remove({ file: join(this.path, name) });
      } catch {
        // In use, or not ours to remove.
        continue;
      }
      total -= bytes;
      pruned.sessions += 1;
      pruned.bytes += bytes;
    }
    return pruned;
  }

  /** Removes what is kept beside sessions whose journal was removed by hand. What cannot be removed stays. */
  removeLost(): void {
    const there = new Set(namesIn(this.path));
    for (const kind of kinds) {
      for (const name of namesIn(join(this.path, kind))) if (!there.has(`${name}.jsonl`)) this.#removeBeside(name);
    }
  }

  #beside(kind: Kind, journal: string | undefined): string | undefined {
    if (journal === undefined || dirname(resolve(journal)) !== this.path) return undefined;
    return join(this.path, kind, basename(journal, ".jsonl"));
  }

  #removeBeside(name: string): void {
    for (const file of [`${name}.json`, `${name}.jsonl.answers.lock`]) removeIfPossible(join(this.path, file));
    removeFlatFolder(join(this.path, "outputs", name));
    const undo = join(this.path, "undo", name);
    for (const turn of namesIn(undo)) if (/^\d+$/.test(turn)) removeFlatFolder(join(undo, turn));
    removeFlatFolder(undo);
  }

  #bytesBeside(journal: string): number {
    const name = basename(journal, ".jsonl");
    const undo = join(this.path, "undo", name);
    const folders = [join(this.path, "outputs", name), ...namesIn(undo).map((turn) => join(undo, turn))];
    const files = folders.flatMap((folder) => namesIn(folder).map((file) => join(folder, file)));
    return [join(this.path, `${name}.json`), ...files].reduce((sum, file) => sum + (statsOf(file)?.size ?? 0), 0);
  }
}

/** Returns whether a session file is a journal, which grows, and not one document. Its first line says so. */
export async function isJournal(path: string): Promise<boolean> {
  const handle = await process.getBuiltinModule("node:fs/promises").open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(32));
    return buffer.toString("latin1", 0, bytesRead).startsWith('{"type":"session"');
  } finally {
    await handle.close();
  }
}

const kinds = ["outputs", "undo"] as const;
type Kind = (typeof kinds)[number];

function statsOf(path: string): Stats | undefined {
  return attempt(() => statSync(path, { throwIfNoEntry: false }));
}
