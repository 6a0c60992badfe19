import { basename, dirname, join } from "node:path";
import { ToolError } from "@toolcrib/core";
import { type OpenDirectory, openInside, type PathScope } from "@toolcrib/kit/files";
import { createYielder } from "../yieldToEventLoop.ts";
import { type Entry, listEntries } from "./removeTree.ts";
import { createTreeCursor } from "./treeCursor.ts";

/**
 * Throws for a directory that holds a denied path, at any depth, before anything is touched. `newEntry` is where the tree would be
 * moved to: nothing in it may take a denied path there either. Throws a system error for a directory that cannot be looked into.
 */
export async function refuseDeniedBelow(
  entry: string,
  scope: PathScope,
  signal: AbortSignal | undefined,
  newEntry: string = entry,
): Promise<void> {
  const { denied } = scope;
  const mayHold = (directory: string): boolean => denied?.mayMatchBelow(directory) ?? false;
  if (!mayHold(entry) && !mayHold(newEntry)) return;
  const yieldToEventLoop = createYielder(signal);
  const cursor = createTreeCursor(openInside(dirname(entry), scope));
  const names: string[] = [];
  const pending: Entry[][] = [];
  const enter = (name: string | Buffer): void => {
    cursor.enter(name);
    names.push(name.toString());
    pending.push(listEntries(cursor.directory, Infinity));
  };
  try {
    enter(basename(entry));
    for (let entries = pending.at(-1); entries !== undefined; entries = pending.at(-1)) {
      await yieldToEventLoop();
      const next = entries.pop();
      if (next === undefined) {
        pending.pop();
        names.pop();
        if (pending.length > 0) cursor.leave();
        continue;
      }
      const below = [...names.slice(1), next.name.toString()].join("/");
      const places = [join(entry, below), join(newEntry, below)];
      for (const place of places)
        if (denied?.match(place, next.isDirectory) !== undefined) throw holdsDenied(entry, scope);
      if (next.isDirectory && places.some(mayHold)) enter(next.name);
    }
  } finally {
    cursor.close();
  }
}

/** Throws where an entry that is about to go has become a denied path since it was looked at; undefined where nothing is denied. */
export function confirmNotDenied(
  parent: string,
  scope: PathScope,
): ((directory: OpenDirectory, names: readonly string[]) => void) | undefined {
  if (scope.denied === undefined) return undefined;
  return (directory, names) => {
    const above = join(parent, ...names.slice(0, -1));
    scope.confirm(directory.descriptor, above, { name: names.at(-1) as string });
  };
}

function holdsDenied(entry: string, scope: PathScope): ToolError {
  return new ToolError({
    code: "permission_denied",
    message: `Permission denied: ${scope.print(entry)} contains paths that are on the list of denied paths; name its entries one by one`,
    details: { by: "deny", path: entry },
  });
}
