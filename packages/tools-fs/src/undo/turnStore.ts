import {
  appendFileSync,
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { ensureDirectory, namesIn, removeFlatFolder, removeIfPossible, systemErrorCode } from "@toolcrib/kit/files";
import type { Keeper, States } from "./states.ts";

/** A change that one call made at one path. */
export interface Change {
  readonly tool: string;
  readonly path: string;
  readonly tree: boolean;
  readonly before: States;
  /** Undefined until the call has ended. */
  readonly after?: States | undefined;
  /** The path to which the entry was moved, as it is. */
  readonly movedTo?: string | undefined;
}

/** An action of a turn that nobody can take back. */
export interface NotUndoable {
  readonly tool: string;
  readonly what: string;
}

/** One turn as it was written down. */
export interface RecordedTurn {
  readonly turn: string;
  readonly changes: readonly Change[];
  readonly others: readonly NotUndoable[];
}

type Line =
  | { readonly type: "turn"; readonly turn: string; readonly at: string }
  | { readonly type: "change"; readonly change: Change }
  /** The end of a change; `isDropped`: it changed nothing. */
  | { readonly type: "end"; readonly index: number; readonly change?: Change; readonly isDropped?: true }
  | { readonly type: "other"; readonly other: NotUndoable };

/** A turn that is being written. */
export interface OpenTurn {
  readonly keeper: Keeper;
  /** Gives the number of the change. */
  add(change: Change): number;
  end(index: number, change: Change | undefined): void;
  other(other: NotUndoable): void;
}

/** The turn that is taken back next. */
export interface LastTurn {
  readonly turn: RecordedTurn;
  readCopy(name: string): Buffer;
  /** True if it was kept before. */
  readonly wasTried: boolean;
  /** Keeps the turn, to be tried once more. */
  keep(): void;
  /** Forgets it. */
  drop(): void;
}

export interface StoreLimits {
  readonly maxBytes: number;
  readonly maxTurns: number;
}

const journalName = "turn.jsonl";

/**
 * The turns of one directory: a folder each, with a journal that grows and copies of old content. The user's alone (0700, 0600). The
 * oldest are removed where they are too many or too large.
 */
export class TurnStore {
  readonly #directory: string;
  readonly #limits: StoreLimits;
  /** Bytes of copies by the name of the turn's folder, oldest first; undefined until the directory was read. */
  #sizes: Map<string, number> | undefined;

  /** The folder of the turn of which nothing could be put back. */
  #tried: string | undefined;

  constructor(directory: string, limits: StoreLimits) {
    this.#directory = directory;
    this.#limits = limits;
  }

  begin(turn: string): OpenTurn {
    const sizes = this.#prepare();
    while (sizes.size > 0 && sizes.size >= this.#limits.maxTurns) this.#removeOldest(sizes);
    const name = String(Number([...sizes.keys()].at(-1) ?? 0) + 1).padStart(6, "0");
    const folder = join(this.#directory, name);
    mkdirSync(folder, { mode: 0o700 });
    sizes.set(name, 0);
    const write = (line: Line): void =>
      appendFileSync(join(folder, journalName), `${JSON.stringify(line)}\n`, { mode: 0o600 });
    write({ type: "turn", turn, at: new Date().toISOString() });
    let changes = 0;
    return {
      keeper: this.#keeper(name, folder),
      add(change) {
        write({ type: "change", change });
        changes += 1;
        return changes - 1;
      },
      end: (index, change) => write({ type: "end", index, ...(change ? { change } : { isDropped: true }) }),
      other: (other) => write({ type: "other", other }),
    };
  }

  /** Returns the last turn; undefined where none is left. */
  last(): LastTurn | undefined {
    const sizes = this.#prepare();
    const name = [...sizes.keys()].at(-1);
    if (name === undefined) return undefined;
    const folder = join(this.#directory, name);
    return {
      turn: readTurn(join(folder, journalName)),
      readCopy: (copy) => readFileSync(join(folder, copy)),
      wasTried: this.#tried === name,
      keep: () => {
        this.#tried = name;
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

  #keeper(name: string, folder: string): Keeper {
    const sizes = this.#prepare();
    const { maxBytes } = this.#limits;
    let copies = 0;
    return {
      keep: (bytes) => {
        const total = (): number => [...sizes.values()].reduce((sum, size) => sum + size, bytes);
        while (total() > maxBytes && sizes.size > 1) this.#removeOldest(sizes);
        if (total() > maxBytes) return `what the turn changed is more than ${maxBytes} bytes`;
        copies += 1;
        const copy = String(copies);
        let descriptor = openSync(join(folder, copy), "wx", 0o600);
        return {
          write(chunk) {
            for (let done = 0; done < chunk.length; ) done += writeSync(descriptor, chunk, done);
            sizes.set(name, (sizes.get(name) ?? 0) + chunk.length);
          },
          done() {
            if (descriptor >= 0) closeSync(descriptor);
            descriptor = -1;
            return copy;
          },
        };
      },
    };
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
    // The next turn may get its name.
    if (this.#tried === name) this.#tried = undefined;
  }
}

/** Reads the whole lines of a journal: a crash may have torn the last one. */
function readTurn(file: string): RecordedTurn {
  const changes: (Change | undefined)[] = [];
  const others: NotUndoable[] = [];
  let turn = "";
  // Undefined: a crash came between the folder and its journal, or in the middle of its removal.
  for (const text of (readIfThere(file) ?? "").split("\n").slice(0, -1)) {
    const line: Line = JSON.parse(text);
    if (line.type === "turn") turn = line.turn;
    else if (line.type === "change") changes.push(line.change);
    else if (line.type === "end") changes[line.index] = line.change;
    else others.push(line.other);
  }
  return { turn, changes: changes.filter((change) => change !== undefined), others };
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
