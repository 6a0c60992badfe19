import { isAbsolute } from "node:path";
import type { ExecutableTool, Middleware, ToolEffect } from "@toolcrib/core";
import { option, readOptions, withDefault } from "@toolcrib/core/internal";
import { clip, messageOf, printableName } from "@toolcrib/core/text";
import { createPathScope, scopeOptions } from "@toolcrib/kit/files";
import { TurnRecorder } from "./undo/recorder.ts";
import { TurnStore } from "./undo/turnStore.ts";
import { describeUndone, type UndoneTurn, undoLast } from "./undo/undoLast.ts";

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
  const own = new Set<string>();
  let turn = "";
  let recorder: TurnRecorder | undefined;
  let running = 0;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const done = last.then(task);
    last = done.catch(() => undefined);
    return done;
  };
  // The call runs all the same.
  const written = <T>(task: () => Promise<T>): Promise<T | undefined> =>
    inTurn(task).catch((cause: unknown) => {
      onError?.(new Error(`The changes of this turn cannot be saved for undo: ${messageOf(cause)}`, { cause }));
      return undefined;
    });
  const recording = (): TurnRecorder => {
    recorder ??= new TurnRecorder(store.begin(turn), look);
    return recorder;
  };
  return {
    async middleware(call, next) {
      const { tool } = call;
      if (!tool) return next();
      let hasStarted = false;
      let after: AfterCall | undefined;
      const beforeRun: typeof call.beforeRun = async (args) => {
        await call.beforeRun?.(args);
        // Not before: a call may wait for the user's answer for ever.
        hasStarted = true;
        running += 1;
        after = await written(() => record(tool, args, recording));
      };
      let isOk = false;
      try {
        const outcome = await next({ ...call, beforeRun });
        isOk = outcome.ok;
        return outcome;
      } finally {
        await written(async () => after?.(isOk));
        if (hasStarted) running -= 1;
      }
    },
    begin(text) {
      turn = text;
      recorder = undefined;
    },
    async undo() {
      if (running > 0) throw new Error("A call still runs: wait for it to end, then undo.");
      recorder = undefined;
      return inTurn(() => undoLast(store, { look, own }));
    },
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

type Arguments = Readonly<Record<string, unknown>>;
type AfterCall = (isOk: boolean) => Promise<void>;

/** Writes down what a call is about to change. Resolves to what is to be done when it has ended. */
async function record(tool: ExecutableTool, args: Arguments, recording: () => TurnRecorder): Promise<AfterCall> {
  const effects = await effectsOf(tool, args);
  if (effects === undefined) {
    // A call that failed for the same reason has changed nothing.
    return async (isOk) => {
      if (isOk) recording().other(tool.name, "it could not say what it would change");
    };
  }
  const others = notUndoable(tool, effects);
  if (others.length === 0 && effects.every(({ kind }) => kind === "read")) return async () => {};
  const recorder = recording();
  for (const what of others) recorder.other(tool.name, what);
  const begun = await recorder.begin(effects);
  return () => recorder.end(begun);
}

/** Returns the effects of a call; undefined if the tool cannot say. */
async function effectsOf(tool: ExecutableTool, args: Arguments): Promise<readonly ToolEffect[] | undefined> {
  try {
    return tool.effects ? await tool.effects({ ...args }) : [];
  } catch {
    return undefined;
  }
}

/** Words what a call does that nobody can take back. */
function notUndoable(tool: ExecutableTool, effects: readonly ToolEffect[]): string[] {
  if (!tool.effects) return tool.readOnly ? [] : ["it does not say what it changes"];
  return effects.flatMap(({ kind, command, host, path }) => {
    if (kind === "execute") return [`the effects of this command: ${printableName(clip(command ?? "a program"))}`];
    if (kind === "network") return [`its requests to ${printableName(clip(host ?? "another machine"))}`];
    return kind !== "read" && path === undefined ? ["it does not say which paths it changes"] : [];
  });
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
