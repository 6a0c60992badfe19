import { isAbsolute } from "node:path";
import type { Middleware } from "@toolcrib/core";
import { readOptions } from "@toolcrib/core/internal";
import { byteLimit, messageOf } from "@toolcrib/core/text";
import { createPathScope } from "@toolcrib/kit/files";
import type { LeftAlone, PutBack } from "./undo/putBack.ts";
import { type NotUndoable, TurnStore } from "./undo/turnStore.ts";
import { describeUndone, type UndoneTurn, undoLast } from "./undo/undoLast.ts";
import { watchCalls } from "./undo/watchCalls.ts";

export type { LeftAlone, NotUndoable, PutBack, UndoneTurn };
export { describeUndone };

export interface UndoOptions {
  /** Where old content is kept: absolute, and where no tool may write. It is made when it is needed, for the user alone. One program at a time. */
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
  /** From now on calls belong to this turn; its text comes back from `undo`. */
  begin(turn: string): void;
  /**
   * Takes the last turn back that changed anything, and forgets it; the next call goes further back. Undefined where none is left. What
   * was changed since by others stays as it is; a turn of which nothing could be put back is kept for one more try (`isKept`). Rejects
   * while a call still runs.
   */
  undo(): Promise<UndoneTurn | undefined>;
  /** What was taken back since the last time, in words for the model; kept on disk until it is asked for. */
  takeNote(): string | undefined;
}

const defaultMaxBytes = 256 * 1024 * 1024;
const defaultMaxFileBytes = 32 * 1024 * 1024;
const defaultMaxTurns = 50;

/**
 * Remembers what files were before each call changes them, by what its tool says in `effects`, so that a turn can be taken back.
 * Throws a TypeError for invalid options.
 */
export function createUndo(options: UndoOptions): Undo {
  const { directory, maxTurns, maxBytes, onError, ...look } = checked(options);
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
        onError?.(new Error(`What was taken back cannot be read: ${messageOf(cause)}`, { cause }));
        return undefined;
      }
    },
  };
}

function checked(options: UndoOptions) {
  readOptions<UndoOptions>("createUndo", options, {
    directory: true,
    root: true,
    maxBytes: true,
    maxFileBytes: true,
    maxTurns: true,
    onError: true,
  });
  const { directory, root, onError, maxTurns = defaultMaxTurns } = options;
  if (typeof directory !== "string" || !isAbsolute(directory))
    throw new TypeError(
      "directory must be an absolute path where no tool may write, such as one below the user's state folder",
    );
  if (!Number.isInteger(maxTurns) || maxTurns < 1) throw new TypeError("maxTurns must be a whole number above 0");
  return {
    directory,
    maxTurns,
    maxBytes: byteLimit("maxBytes", options.maxBytes ?? defaultMaxBytes),
    maxFileBytes: byteLimit("maxFileBytes", options.maxFileBytes ?? defaultMaxFileBytes),
    scope: createPathScope({ root }),
    onError,
  };
}
