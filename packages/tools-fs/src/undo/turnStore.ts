import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ensureDirectory, namesIn, removeFlatFolder, removeIfPossible, systemErrorCode } from "@toolcrib/kit/files";
import type { Kept, States } from "./states.ts";

/** A change that calls made at one path, or at the old and the new path of an entry. */
export interface Change {
  readonly paths: readonly [path: string, ...newPath: string[]];
  /** Also of all that is below. */
  readonly tree: boolean;
  readonly before: States;
  /** Undefined until the call has ended. */
  readonly after?: States | undefined;
}

/** An action of a turn that nobody can take back. */
export interface NotUndoable {
  readonly tool: string;
  readonly what: string;
}

/** A turn that is being written. */
export interface OpenTurn {
  /** Keeps a copy of a file's content. */
  keep(bytes: Uint8Array): Kept;
  /** Writes a change down under its number, again when it has ended; null if it changed nothing. */
  put(index: number, change: Change | null): void;
  other(other: NotUndoable): void;
}

/** The turn that is taken back next. */
export interface LastTurn {
  readonly turn: string;
  readonly changes: readonly Change[];
  readonly others: readonly NotUndoable[];
  readCopy(name: string): Buffer;
  /** Keeps the turn, to be tried once more. Returns false if it was kept before. */
  keep(): boolean;
  /** Forgets it. */
  drop(): void;
}

interface StoreLimits {
  readonly maxBytes: number;
  readonly maxTurns: number;
}

const [journalName, triedName] = ["turn.jsonl", "tried"];

/**
 * The turns of one directory: a folder each, with a journal that grows and copies of old content. The user's alone (0700, 0600). The
 * oldest are removed where they are too many or too large.
 */
export class TurnStore {
  readonly #directory: string;
  readonly #limits: StoreLimits;
  /** Bytes of copies by the name of the turn's folder, oldest first; undefined until the directory was read. */
  #sizes: Map<string, number> | undefined;

  constructor(directory: string, limits: StoreLimits) {
    this.#directory = directory;
    this.#limits = limits;
  }

  begin(turn: string): OpenTurn {
    const sizes = this.#prepare();
    const { maxBytes, maxTurns } = this.#limits;
    while (sizes.size >= maxTurns) this.#removeOldest(sizes);
    const name = String(Number([...sizes.keys()].at(-1) ?? 0) + 1).padStart(6, "0");
    const folder = join(this.#directory, name);
    mkdirSync(folder, { mode: 0o700 });
    sizes.set(name, 0);
    const write = (line: Line): void =>
      appendFileSync(join(folder, journalName), `${JSON.stringify(line)}\n`, { mode: 0o600 });
    write({ turn });
    let copies = 0;
    return {
      keep: (bytes) => {
        const total = (): number => [...sizes.values()].reduce((sum, size) => sum + size, bytes.length);
        while (total() > maxBytes && sizes.size > 1) this.#removeOldest(sizes);
        if (total() > maxBytes) return { notKept: `what the turn changed is more than ${maxBytes} bytes` };
        copies += 1;
        const copy = String(copies);
        writeFileSync(join(folder, copy), bytes, { flag: "wx", mode: 0o600 });
        sizes.set(name, (sizes.get(name) ?? 0) + bytes.length);
        return { copy };
      },
      put: (index, change) => write({ index, change }),
      other: (other) => write({ other }),
    };
  }

  /** Returns the last turn; undefined where none is left. */
  last(): LastTurn | undefined {
    const sizes = this.#prepare();
    const name = [...sizes.keys()].at(-1);
    if (name === undefined) return undefined;
    const folder = join(this.#directory, name);
    const tried = join(folder, triedName);
    return {
      ...readTurn(join(folder, journalName)),
      readCopy: (copy) => readFileSync(join(folder, copy)),
      keep() {
        if (existsSync(tried)) return false;
        writeFileSync(tried, "", { mode: 0o600 });
        return true;
      },
      drop: () => this.#remove(name, sizes),
    };
  }

  /** Returns a text beside the turns. */
  readNote(): string | undefined {
    return readIfThere(join(this.#directory, "note"));
  }

  writeNote(text: string): void {
    this.#prepare();
    const file = join(this.#directory, "note");
    if (text === "") removeIfPossible(file);
    else writeFileSync(file, text, { mode: 0o600 });
  }

  /** Throws where the directory cannot be the user's own. */
  #prepare(): Map<string, number> {
    if (this.#sizes) return this.#sizes;
    ensureDirectory(this.#directory, 0o700);
    const stats = lstatSync(this.#directory);
    if (!stats.isDirectory()) throw new Error(`${this.#directory} is a link or a file, not a folder; remove it`);
    if (process.getuid && stats.uid !== process.getuid())
      throw new Error(`${this.#directory} belongs to another user; choose another directory for undo`);
    if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) chmodSync(this.#directory, 0o700);
    const names = readdirSync(this.#directory).filter((name) => /^\d{6,}$/.test(name));
    const folders = names.sort((a, b) => Number(a) - Number(b));
    this.#sizes = new Map(folders.map((name) => [name, sizeOf(join(this.#directory, name))]));
    return this.#sizes;
  }

  #removeOldest(sizes: Map<string, number>): void {
    const [oldest] = sizes.keys();
    if (oldest !== undefined) this.#remove(oldest, sizes);
  }

  #remove(name: string, sizes: Map<string, number>): void {
    const folder = join(this.#directory, name);
    // The journal first: copies without it are no turn. Nothing here ever makes a folder in it.
    removeIfPossible(join(folder, journalName));
    removeFlatFolder(folder);
    sizes.delete(name);
  }
}

/** A line of a turn's journal. */
type Line =
  | { readonly turn: string }
  | { readonly index: number; readonly change: Change | null }
  | { readonly other: NotUndoable };

/** Reads the whole lines of a journal: a crash may have torn the last one. */
function readTurn(file: string): Pick<LastTurn, "turn" | "changes" | "others"> {
  const changes: (Change | null)[] = [];
  const others: NotUndoable[] = [];
  let turn = "";
  // Undefined: a crash came between the folder and its journal, or in the middle of its removal.
  for (const text of (readIfThere(file) ?? "").split("\n").slice(0, -1)) {
    const line: Line = JSON.parse(text);
    if ("turn" in line) turn = line.turn;
    else if ("index" in line) changes[line.index] = line.change;
    else others.push(line.other);
  }
  return { turn, changes: changes.filter((change) => change !== null), others };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function sizeOf(folder: string): number {
  return namesIn(folder).reduce((sum, name) => {
    return sum + (lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  }, 0);
}
