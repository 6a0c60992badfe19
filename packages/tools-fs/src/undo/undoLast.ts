import { clip, printableName } from "@toolcrib/core/text";
import { createPathScope, type PathScope } from "@toolcrib/kit/files";
import { type LeftAlone, type RestoreContext, type RestoredPath, restore } from "./restore.ts";
import type { NotUndoable, TurnStore } from "./turnStore.ts";

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
export async function undoLast(
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
