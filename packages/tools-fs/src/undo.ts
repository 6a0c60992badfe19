import { isAbsolute } from "node:path";
import type { ExecutableTool, Middleware, ToolEffect } from "@toolcrib/core";
import { option, readOptions, withDefault } from "@toolcrib/core/internal";
import { clip, messageOf, printableName } from "@toolcrib/core/text";
import { createPathScope, type PathScope, scopeOptions } from "@toolcrib/kit/files";
import { TurnRecorder } from "./undo/recorder.ts";
import { type LeftAlone, type RestoreContext, type RestoredPath, restore } from "./undo/restore.ts";
import { type NotUndoable, TurnStore } from "./undo/turnStore.ts";

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

/** The result of `undo`. */
export interface UndoneTurn {
  /** The one that `begin` was given. */
  readonly turn: string;
  readonly restored: readonly RestoredPath[];
  readonly left: readonly LeftAlone[];
  /** Calls whose effects nobody can take back: commands, requests, tools that do not say what they change. */
  readonly notUndoable: readonly NotUndoable[];
  /** Nothing could be put back, so the turn was not forgotten: the next call tries it once more. */
  readonly isKept?: true;
}

/** Takes back the last turn that changed anything, and forgets it, but for one try that could put nothing back; leaves a note for the model. */
async function undoLast(
  store: TurnStore,
  { look, own }: Pick<RestoreContext, "look" | "own">,
): Promise<UndoneTurn | undefined> {
  let found = store.last();
  // A turn whose calls changed nothing in the end.
  while (found && found.changes.length + found.others.length === 0) {
    found.drop();
    found = store.last();
  }
  if (!found) return undefined;
  const { changes, others, turn } = found;
  const done: RestoredPath[] = [];
  const left: LeftAlone[] = [];
  for (const change of changes.toReversed()) await restore(change, { look, own, readCopy: found.readCopy, done, left });
  // A file that several calls changed is named once, by what was done last.
  const restored = [...new Map(done.map((one) => [one.path, one])).values()];
  const undone: UndoneTurn = { turn, restored, left, notUndoable: others };
  if (done.length === 0 && left.length > 0 && found.keep()) return { ...undone, isKept: true };
  store.writeNote(`${store.readNote() ?? ""}${noteOf(undone, look.scope)}\n`);
  found.drop();
  return undone;
}

/** Describes what was done, in lines for people; paths below `directory` are relative to it. */
export function describeUndone({ turn, restored, left, notUndoable, isKept }: UndoneTurn, directory: string): string {
  const { print } = createPathScope({ cwd: directory });
  const back = restored.map(({ how, path, from }) =>
    how === "moved" && from !== undefined
      ? `  moved back  ${print(path)} (from ${print(from)})`
      : `  ${how.padEnd(10)}  ${print(path)}`,
  );
  return [
    `${restored.length > 0 ? "Taken back" : "Nothing was taken back"}: ${printableName(clip(turn, 100)) || "a turn"}`,
    ...back,
    ...left.map(({ path, reason }) => `  left alone  ${print(path)}: ${reason}`),
    ...notUndoable.map(({ tool, what }) => `  not undone  ${tool}: ${what}`),
    ...(isKept ? ["The next undo tries this turn once more, then it goes further back."] : []),
  ].join("\n");
}

const mostNamed = 50;

/** Writes what the model must know; otherwise it thinks that its changes still exist. */
function noteOf({ turn, restored, left, notUndoable }: UndoneTurn, scope: PathScope): string {
  const list = (paths: readonly string[]): string => {
    const shown = paths.slice(0, mostNamed).map((path) => scope.print(path));
    return `${shown.join(", ")}${paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : ""}`;
  };
  const what = `what you changed in the turn ${JSON.stringify(clip(turn, 100))}`;
  const parts = [
    restored.length > 0
      ? `The user has taken back ${what}.`
      : `The user wanted to take back ${what}; nothing could be.`,
  ];
  if (restored.length > 0)
    parts.push(`These paths are as they were before it: ${list(restored.map(({ path }) => path))}.`);
  if (left.length > 0) parts.push(`These stay as they are now: ${list(left.map(({ path }) => path))}.`);
  if (notUndoable.length > 0) parts.push("What commands and other programs did was not taken back.");
  return `[${parts.join(" ")} Read a file again before you rely on it.]`;
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
