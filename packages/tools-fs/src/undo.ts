import { isAbsolute } from "node:path";
import type { Middleware } from "@toolcrib/core";
import { option, readOptions, withDefault } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { createPathScope, scopeOptions } from "@toolcrib/kit/files";
import { TurnStore } from "./undo/turnStore.ts";
import { describeUndone, type UndoneTurn, undoLast } from "./undo/undoLast.ts";
import { watchCalls } from "./undo/watchCalls.ts";

export type { UndoneTurn };
export { describeUndone };

interface UndoOptions {
  /**
   * The directory of old content: absolute, and where no tool may write. It is made when it is needed, for the user alone. One program at a
   * time.
   */
  directory: string;
  /** The directories in which files are put back: those of the tools. */
  root: string | readonly string[];
  /** Most bytes kept for all turns; the oldest turns go first. Default: 256 MB. */
  maxBytes?: number | undefined;
  /** A larger file is not kept. Default: 32 MB. */
  maxFileBytes?: number | undefined;
  /** Most turns kept. Default: 50. */
  maxTurns?: number | undefined;
  /** Told when something cannot be written down: the call runs all the same, and cannot be taken back. */
  onError?: ((error: Error) => void) | undefined;
}

export interface Undo {
  /** For `registry.use`, the last one: what it hands on must reach the tool unchanged. */
  readonly middleware: Middleware;
  /** Begins a turn, to which calls belong from now on; its text comes back from `undo`. */
  begin(turn: string): void;
  /**
   * Takes the last turn back that changed anything, and forgets it; the next call goes further back. Undefined where none is left. What
   * was changed since by others stays as it is; a turn of which nothing could be put back is kept for one more try (`isKept`). Rejects
   * while a call still runs.
   */
  undo(): Promise<UndoneTurn | undefined>;
  /** Returns a note for the model of what was taken back since the last time; kept on disk until it is asked for. */
  takeNote(): string | undefined;
}

/**
 * Remembers what files were before each call changes them, by what its tool says in `effects`, so that a turn can be taken back.
 * Throws a TypeError for invalid options.
 */
export function createUndo(options: UndoOptions): Undo {
  const read = readOptions<UndoOptions, typeof specs>("createUndo", options, specs);
  const { directory, root, maxTurns, maxBytes, maxFileBytes, onError } = read;
  const look = { scope: createPathScope({ root }), maxFileBytes };
  const store = new TurnStore(directory, { maxBytes, maxTurns });
  const { middleware, begin, afterCalls } = watchCalls(store, look, onError);
  return {
    middleware,
    begin,
    undo: () => afterCalls(() => undoLast(store, look)),
    takeNote() {
      try {
        const note = store.readNote();
        if (note !== undefined) store.writeNote("");
        return note?.trimEnd();
      } catch (cause) {
        onError?.(new Error(`The saved changes cannot be read: ${messageOf(cause)}`, { cause }));
        return undefined;
      }
    },
  };
}

const specs = {
  directory: {
    expected: "an absolute path where no tool may write, such as one below the user's state folder",
    fits: (value: unknown) => typeof value === "string" && isAbsolute(value),
    needed: "always",
  },
  root: { ...scopeOptions.root, needed: "always" },
  maxBytes: withDefault(option.bytes, 256 * 1024 * 1024),
  maxFileBytes: withDefault(option.bytes, 32 * 1024 * 1024),
  maxTurns: withDefault(option.whole, 50),
  onError: option.call,
} as const;
