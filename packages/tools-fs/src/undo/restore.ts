import { lstatSync, mkdirSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { isToolError } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import {
  canonicalOrUndefined,
  changeMode,
  type FilePath,
  inParent,
  openDirectory,
  openRegularFile,
  type PathScope,
  plainSystemError,
  systemErrorCode,
  withPathLocks,
  writeAtomically,
} from "@toolcrib/kit/files";
import { moveEntry } from "../move/moveEntry.ts";
import { absent, hasSameId, isSame, newHash, type State, type StateOptions, stampOf, stateOf } from "./states.ts";
import type { Change } from "./turnStore.ts";

/** A path that is as it was before the turn. */
export interface RestoredPath {
  /** Absolute. */
  readonly path: string;
  /** `restored`: its old content; `removed`: it was not there; `moved`: back from `from`. */
  readonly how: "restored" | "removed" | "moved";
  readonly from?: string;
}

/** A path that stays as it is. */
export interface LeftAlone {
  readonly path: string;
  readonly reason: string;
}

/** The means of putting back. */
export interface RestoreContext {
  readonly look: StateOptions;
  readonly readCopy: (name: string) => Buffer;
  readonly done: RestoredPath[];
  readonly left: LeftAlone[];
}

const changedSince = "it was changed since by you or another program";

/** Puts back what one call changed at one path, entry by entry. Overwrites nothing that is not as the call left it. Never rejects. */
export async function restore(change: Change, context: RestoreContext): Promise<void> {
  const before = new Map(change.before);
  if (change.movedTo !== undefined) {
    const isBack = await moveBack(change, change.movedTo, context);
    // The content of a directory was not copied.
    if (!isBack && before.get(change.path)?.kind === "directory") return;
  }
  const unknown = change.before.find(([, state]) => state.kind === "other");
  if (unknown?.[1].kind === "other") {
    context.left.push({ path: change.path, reason: unknown[1].why });
    return;
  }
  if (change.after === undefined) {
    const now = await stateOf(change.path, context.look);
    if (!isSame(now, before.get(change.path) ?? absent))
      context.left.push({
        path: change.path,
        reason: "the program ended in the middle of the call, so nobody knows who wrote it",
      });
    return;
  }
  const after = new Map(change.after);
  const differs = (path: string): boolean => !isSame(before.get(path) ?? absent, after.get(path) ?? absent);
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(differs);
  const isGone = (path: string): boolean => (before.get(path) ?? absent).kind === "absent";
  // The content of a directory goes before it, and comes after it.
  for (const path of paths.filter(isGone).reverse()) await one(path, absent, after.get(path) ?? absent, context);
  const made: [string, State][] = [];
  for (const path of paths.filter((path) => !isGone(path))) {
    const old = before.get(path) ?? absent;
    if (await one(path, old, after.get(path) ?? absent, context)) made.push([path, old]);
  }
  for (const [path, old] of made.reverse()) if (old.kind === "directory") await closeDirectory(path, old.mode, context);
}

/** Puts one path back, or says why not. */
async function one(path: string, old: State, left: State, context: RestoreContext): Promise<boolean> {
  const { look } = context;
  const put = async (): Promise<boolean> => {
    const parent = canonicalOrUndefined(dirname(path));
    if (parent !== dirname(path)) throw new Kept("a folder above it is now a link");
    const now = await stateOf(path, look);
    if (isSame(now, old)) return false;
    if (!isSame(now, left)) throw new Kept(changedSince);
    if (now.kind !== "absent" && now.kind !== old.kind) await removeOne(path, now, look.scope);
    if (old.kind !== "absent") await make(path, old, now, context);
    return true;
  };
  try {
    const isDone = await withPathLocks([path], put);
    if (isDone) context.done.push({ path, how: old.kind === "absent" ? "removed" : "restored" });
    return isDone;
  } catch (error) {
    context.left.push({ path, reason: reasonOf(error, path, look.scope) });
    return false;
  }
}

/** A reason to leave a path alone. */
class Kept extends Error {}

function removeOne(path: string, now: State, scope: PathScope): Promise<void> {
  return inParent(path, scope, (parent, name) =>
    now.kind === "directory" ? rmdirSync(parent.at(name)) : unlinkSync(parent.at(name)),
  );
}

async function make(
  path: string,
  old: State,
  now: State,
  { look: { scope }, readCopy }: RestoreContext,
): Promise<void> {
  if (old.kind === "link") {
    await inParent(path, scope, (parent, name) => {
      if (now.kind === "link") unlinkSync(parent.at(name));
      symlinkSync(old.target, parent.at(name));
    });
  } else if (old.kind === "directory") {
    if (now.kind !== "directory") await inParent(path, scope, (parent, name) => mkdirSync(parent.at(name), 0o700));
  } else if (old.kind === "file") {
    if (old.copy === undefined) throw new Kept(`its old content was not saved: ${old.notKept}`);
    const bytes = readCopy(old.copy);
    if (newHash().update(bytes).digest("hex") !== old.digest) throw new Kept("the copy of its old content is damaged");
    const isNew = now.kind !== "file";
    const beforeReplace = (file: FilePath): void => {
      if (isNew || now.stamp !== stampOf(lstatSync(file))) throw new Kept(changedSince);
    };
    await writeAtomically(path, bytes, { scope, beforeReplace, ...(isNew && { private: true }) });
    const file = openRegularFile(path, scope);
    try {
      if ((file.stats.mode & 0o7777) !== old.mode) changeMode(file, old.mode);
    } finally {
      file.close();
    }
  }
}

/** Gives a directory that was made its old mode, now that all is in it. */
async function closeDirectory(path: string, mode: number, { look: { scope }, left }: RestoreContext): Promise<void> {
  try {
    await inParent(path, scope, (parent, name) => {
      const directory = openDirectory(parent.at(name));
      try {
        changeMode({ descriptor: directory.descriptor, path: directory.at(".") }, mode);
      } finally {
        directory.close();
      }
    });
  } catch (error) {
    left.push({ path, reason: `its mode is not the old one: ${reasonOf(error, path, scope)}` });
  }
}

async function moveBack({ path, before }: Change, from: string, context: RestoreContext): Promise<boolean> {
  const { look, done, left } = context;
  try {
    const now = await stateOf(from, look);
    const old = new Map(before).get(path) ?? absent;
    if (!hasSameId(now, old))
      throw new Kept(
        now.kind === "absent" ? `it was moved to ${look.scope.print(from)}, and is no longer there` : changedSince,
      );
    if ((await stateOf(path, look)).kind !== "absent") throw new Kept("another file has its old name");
    await withPathLocks([path, from], () => moveEntry(from, path, look.scope, {}));
    done.push({ path, how: "moved", from });
    return true;
  } catch (error) {
    left.push({ path: from, reason: reasonOf(error, from, look.scope) });
    return false;
  }
}

function reasonOf(error: unknown, path: string, scope: PathScope): string {
  if (error instanceof Kept) return error.message;
  if (isToolError(error) && error.cause instanceof Kept) return error.cause.message;
  const code = systemErrorCode(error);
  if (code === "ENOTEMPTY" || code === "EEXIST") return "it holds something that the turn did not make";
  return messageOf(plainSystemError(error, scope.print(path)));
}
