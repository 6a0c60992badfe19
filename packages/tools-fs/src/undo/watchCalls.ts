import type { ExecutableTool, Middleware, ToolEffect } from "@toolcrib/core";
import { clip, messageOf, printableName } from "@toolcrib/core/text";
import { type Begun, TurnRecorder } from "./recorder.ts";
import type { StateOptions } from "./states.ts";
import type { TurnStore } from "./turnStore.ts";

/** Writes down what calls change, one call after another. */
export interface CallWatch {
  readonly middleware: Middleware;
  begin(turn: string): void;
  /** Runs a task while nothing is written down; what follows is a new turn's. Rejects while a call runs. */
  afterCalls<T>(task: () => Promise<T>): Promise<T>;
}

/** Watches calls for a store. What cannot be written down is reported to `onError`; the call runs all the same. */
export function watchCalls(
  store: TurnStore,
  look: Pick<StateOptions, "scope" | "maxFileBytes">,
  onError: ((error: Error) => void) | undefined,
): CallWatch {
  let turn = "";
  let recorder: TurnRecorder | undefined;
  let running = 0;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const done = last.then(task);
    last = done.catch(() => undefined);
    return done;
  };
  const attempt = <T>(task: () => Promise<T>): Promise<T | undefined> =>
    inTurn(task).catch((cause: unknown) => {
      onError?.(new Error(`The changes of this turn cannot be saved for undo: ${messageOf(cause)}`, { cause }));
      return undefined;
    });
  const recording = (): TurnRecorder => {
    recorder ??= new TurnRecorder(store.begin(turn), look);
    return recorder;
  };
  const before = async (tool: ExecutableTool, args: Readonly<Record<string, unknown>>): Promise<BegunCall> => {
    const effects = await effectsOf(tool, args);
    if (!effects) return { isUnknown: true };
    const changes = effects.filter(isChange);
    const others = notUndoable(tool, effects);
    if (changes.length + others.length === 0) return {};
    const own = recording();
    for (const what of others) own.other(tool.name, what);
    return { own, begun: await own.begin(tool.name, changes) };
  };
  const after = async (
    { name }: ExecutableTool,
    { own, begun, isUnknown }: BegunCall,
    isOk: boolean,
  ): Promise<void> => {
    if (begun) await own?.end(begun);
    // A call that failed for the same reason has changed nothing.
    if (isUnknown && isOk) recording().other(name, "it could not say what it would change");
  };

  return {
    async middleware(call, next) {
      const { tool } = call;
      if (!tool) return next();
      let hasStarted = false;
      let started: BegunCall | undefined;
      const beforeRun: typeof call.beforeRun = async (args) => {
        await call.beforeRun?.(args);
        // Not before: a call may wait for the user's answer for ever.
        hasStarted = true;
        running += 1;
        started = await attempt(() => before(tool, args));
      };
      let isOk = false;
      try {
        const outcome = await next({ ...call, beforeRun });
        isOk = outcome.ok;
        return outcome;
      } finally {
        const ended = started;
        if (ended) await attempt(() => after(tool, ended, isOk));
        if (hasStarted) running -= 1;
      }
    },
    begin(text) {
      turn = text;
      recorder = undefined;
    },
    async afterCalls(task) {
      if (running > 0) throw new Error("A call still runs: wait for it to end, then undo.");
      recorder = undefined;
      return inTurn(task);
    },
  };
}

/** The facts known of a call once it starts. */
interface BegunCall {
  readonly own?: TurnRecorder;
  readonly begun?: Begun;
  /** Its tool could not say what it would change. */
  readonly isUnknown?: true;
}

/** Returns the effects of a call; undefined if the tool cannot say. */
async function effectsOf(
  tool: ExecutableTool,
  args: Readonly<Record<string, unknown>>,
): Promise<readonly ToolEffect[] | undefined> {
  try {
    return tool.effects ? await tool.effects({ ...args }) : [];
  } catch {
    return undefined;
  }
}

function isChange({ kind, path }: ToolEffect): boolean {
  return (kind === "write" || kind === "delete") && path !== undefined;
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
