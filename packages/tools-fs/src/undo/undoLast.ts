import { clip, printableName } from "@toolcrib/core/text";
import { createPathScope, type PathScope } from "@toolcrib/kit/files";
import { type LeftAlone, type PutBack, putBack } from "./putBack.ts";
import type { LookOptions } from "./states.ts";
import type { NotUndoable, TurnStore } from "./turnStore.ts";

/** What `undo` did. */
export interface UndoneTurn {
  /** The one that `begin` was given. */
  readonly turn: string;
  readonly putBack: readonly PutBack[];
  readonly left: readonly LeftAlone[];
  /** Calls whose effects nobody can take back: commands, requests, tools that do not say what they change. */
  readonly notUndoable: readonly NotUndoable[];
  /** Nothing could be put back, so the turn was not forgotten: the next call tries it once more. */
  readonly isKept?: true;
}

/** Takes back the last turn that changed anything, and forgets it, but for one try that could put nothing back; leaves a note for the model. */
export async function undoLast(
  store: TurnStore,
  look: Pick<LookOptions, "scope" | "maxFileBytes">,
): Promise<UndoneTurn | undefined> {
  let found = store.last();
  // A turn whose calls changed nothing in the end.
  while (found && found.turn.changes.length + found.turn.others.length === 0) {
    found.drop();
    found = store.last();
  }
  if (!found) return undefined;
  const { changes, others, turn } = found.turn;
  const done: PutBack[] = [];
  const left: LeftAlone[] = [];
  const context = { look: { ...look, tree: false }, readCopy: found.readCopy, done, left };
  for (const change of changes.toReversed()) await putBack(change, context);
  const undone: UndoneTurn = { turn, putBack: once(done), left, notUndoable: others };
  if (done.length === 0 && left.length > 0 && !found.wasTried) {
    found.keep();
    return { ...undone, isKept: true };
  }
  store.writeNote(`${store.readNote() ?? ""}${noteOf(undone, look.scope)}\n`);
  found.drop();
  return undone;
}

/** Describes what was done, in lines for people; paths below `directory` are relative to it. */
export function describeUndone({ turn, putBack, left, notUndoable, isKept }: UndoneTurn, directory: string): string {
  const { print } = createPathScope({ cwd: directory });
  const back = putBack.map(({ how, path, from }) =>
    how === "moved" && from !== undefined
      ? `  moved back  ${print(path)} (from ${print(from)})`
      : `  ${how.padEnd(10)}  ${print(path)}`,
  );
  return [
    `${putBack.length > 0 ? "Taken back" : "Nothing was taken back"}: ${printableName(clip(turn, 100)) || "a turn"}`,
    ...back,
    ...left.map(({ path, reason }) => `  left alone  ${print(path)}: ${reason}`),
    ...notUndoable.map(({ tool, what }) => `  not undone  ${tool}: ${what}`),
    ...(isKept ? ["The next undo tries this turn once more, then it goes further back."] : []),
  ].join("\n");
}

/** A file that several calls changed is named once, by what was done last. */
function once(done: readonly PutBack[]): PutBack[] {
  return [...new Map(done.map((one) => [one.path, one])).values()];
}

const mostNamed = 50;

/** Writes what the model must know; otherwise it thinks that its changes still exist. */
function noteOf({ turn, putBack, left, notUndoable }: UndoneTurn, scope: PathScope): string {
  const list = (paths: readonly string[]): string => {
    const shown = paths.slice(0, mostNamed).map((path) => scope.print(path));
    return `${shown.join(", ")}${paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : ""}`;
  };
  const what = `what you changed in the turn ${JSON.stringify(clip(turn, 100))}`;
  const parts = [
    putBack.length > 0 ? `The user has taken back ${what}.` : `The user wanted to take back ${what}; nothing could be.`,
  ];
  if (putBack.length > 0)
    parts.push(`These paths are as they were before it: ${list(putBack.map(({ path }) => path))}.`);
  if (left.length > 0) parts.push(`These stay as they are now: ${list(left.map(({ path }) => path))}.`);
  if (notUndoable.length > 0) parts.push("What commands and other programs did was not taken back.");
  return `[${parts.join(" ")} Read a file again before you rely on it.]`;
}
