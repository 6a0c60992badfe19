import { lstatSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { isToolError, type ToolCallInfo, ToolError } from "@toolcrib/core";
import {
  inParent,
  makeDirectories,
  type PathScope,
  plainSystemError,
  renameRetrying,
  systemErrorCode,
  temporaryName,
  type WriteResult,
  writeAtomically,
} from "@toolcrib/kit/files";
import { moveEntry } from "../move/moveEntry.ts";
import type { SeenFiles } from "../seenFiles.ts";

/** A change of one file. Paths are canonical. */
export type Change =
  | { readonly kind: "create"; readonly path: string; readonly content: string }
  | (OldFile & { readonly kind: "replace"; readonly path: string; readonly content: string })
  /** Its content is undefined where it stays as it is. */
  | (OldFile & {
      readonly kind: "move";
      readonly from: string;
      readonly path: string;
      readonly content: string | undefined;
    })
  | { readonly kind: "remove"; readonly path: string };

/** The text of a file, and the state that it was read in. */
interface OldFile {
  readonly old: string;
  readonly state: SeenFiles;
}

/** A change that was made. */
interface Made {
  /** As errors name it. */
  readonly path: string;
  undo(): unknown;
  /** Does what is left once all changes are made. */
  finish?(): Promise<void> | void;
}

/**
 * Makes all changes, or none: where one fails, or the call ends, those before it are undone, last first. Each file alone is written
 * as `writeAtomically` does it; a crash in between leaves some changed. Returns how each path was written. Throws in plain words.
 */
export async function commitChanges(
  changes: readonly Change[],
  scope: PathScope,
  call: ToolCallInfo,
): Promise<ReadonlyMap<string, WriteResult>> {
  const made: Made[] = [];
  const written = new Map<string, WriteResult>();
  try {
    for (const change of changes) {
      const result = await make(change, scope, call, made);
      if (result !== undefined) written.set(change.path, result);
    }
  } catch (error) {
    const kept: string[] = [];
    for (const { path, undo } of made.reverse()) {
      try {
        await undo();
      } catch (failed) {
        kept.push(`${scope.print(path)} (${systemErrorCode(failed) ?? "failed"})`);
      }
    }
    if (kept.length === 0) throw error;
    const reason = isToolError(error) ? error.message : String(error);
    const message = `${reason}. Not all of the patch could be undone: look at ${kept.join(", ")}`;
    throw new ToolError({ code: "execution_failed", message, cause: error });
  }
  for (const { finish } of made) await finish?.();
  return written;
}

/** Makes the steps, and adds each to `made` at once, so that it can be undone alone. */
async function make(
  change: Change,
  scope: PathScope,
  call: ToolCallInfo,
  made: Made[],
): Promise<WriteResult | undefined> {
  const { path } = change;
  switch (change.kind) {
    case "create": {
      makeParents(path, scope, call, made);
      const beforeReplace = (): never => {
        throw new ToolError({ code: "execution_failed", message: `Already exists: ${scope.print(path)}; try again` });
      };
      const result = await writeAtomically(path, change.content, { scope, call, beforeReplace });
      made.push({ path, undo: () => inParent(path, scope, (parent, name) => unlinkSync(parent.at(name))) });
      return result;
    }
    case "replace":
    case "move": {
      const { old, content, state } = change;
      const from = change.kind === "move" ? change.from : path;
      const beforeReplace = (file: Parameters<SeenFiles["refuseUnseen"]>[0]): void =>
        state.refuseUnseen(file, from, scope.print(from));
      if (change.kind === "move") {
        makeParents(path, scope, call, made);
        beforeReplace(from);
        await moveEntry(from, path, scope, call);
        made.push({ path: from, undo: () => moveEntry(path, from, scope, {}) });
      }
      if (content === undefined) return undefined;
      // A file that was moved has other attributes.
      const check = change.kind === "replace" ? { beforeReplace } : {};
      const result = await writeAtomically(path, content, { scope, call, ...check });
      made.push({ path, undo: () => writeAtomically(path, old, { scope }) });
      return result;
    }
    case "remove":
      made.push(await setAside(path, scope, call));
      return undefined;
  }
}

function makeParents(path: string, scope: PathScope, call: ToolCallInfo, made: Made[]): void {
  try {
    const parents = makeDirectories(dirname(path), scope, () => call.beginCommit?.());
    parents.directory.close();
    if (parents.made > 0) made.push({ path: dirname(path), undo: parents.undo });
  } catch (error) {
    throw plainSystemError(error, scope.print(path));
  }
}

/** Gives an entry another name in its directory, under which it is unlinked in the end. */
async function setAside(path: string, scope: PathScope, call: ToolCallInfo): Promise<Made> {
  const aside = temporaryName();
  const within = async (work: Parameters<typeof inParent<void>>[2]): Promise<void> => {
    try {
      await inParent(path, scope, work);
    } catch (error) {
      throw plainSystemError(error, scope.print(path));
    }
  };
  await within((parent, name) => {
    call.beginCommit?.();
    return renameRetrying(parent.at(name), parent.at(aside), scope.print(path));
  });
  return {
    path,
    undo: () =>
      within((parent, name) => {
        if (lstatSync(parent.at(name), { throwIfNoEntry: false }))
          throw Object.assign(new Error("taken"), { code: "EEXIST" });
        return renameRetrying(parent.at(aside), parent.at(name), scope.print(path));
      }),
    finish: () =>
      within((parent) => {
        unlinkSync(parent.at(aside));
        return parent.sync();
      }),
  };
}
