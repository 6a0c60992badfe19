import { lstatSync, mkdirSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { isToolError } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import {
  canonicalOrUndefined,
  changeAttributes,
  type FilePath,
  inParent,
  isInside,
  makeDirectories,
  OpenDirectory,
  openRegularFile,
  type PathScope,
  plainSystemError,
  systemErrorCode,
  withPathLocks,
  writeAtomically,
} from "@toolcrib/kit/files";
import { moveEntry } from "../move/moveEntry.ts";
import { isMove } from "./recorder.ts";
import { absent, digestOf, isMoved, isSame, type State, type StateOptions, stampOf, stateOf } from "./states.ts";
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
  /** The stamps of directories that this undo has made. */
  readonly own: Set<string>;
  readonly left: LeftAlone[];
}

const changedSince = "it was changed since by you or another program";

/** Puts back what calls changed at one path, entry by entry. Overwrites nothing that is not as the call left it. Never rejects. */
export async function restore(change: Change, context: RestoreContext): Promise<void> {
  const [path, newPath] = change.paths;
  const { look, left } = context;
  const [before, after] = [new Map(change.before), new Map(change.after)];
  const old = (one: string): State => before.get(one) ?? absent;
  const made = (one: string): State => after.get(one) ?? absent;
  const isMoveOf = newPath !== undefined && isMove(change);
  // The content of a directory was not copied.
  if (isMoveOf && !(await moveBack(change.paths, old(path), made(newPath), context)) && old(path).kind === "directory")
    return;
  const unknown = change.before.find(([, state]) => state.kind === "other");
  if (unknown?.[1].kind === "other") {
    left.push({ path, reason: unknown[1].why });
    return;
  }
  if (change.after === undefined) {
    for (const one of [path, newPath]) {
      if (one === undefined || isSame(await stateOf(one, look), old(one))) continue;
      left.push({ path: one, reason: "the program ended in the middle of the call, so nobody knows who wrote it" });
    }
    return;
  }
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (one) => !(isMoveOf && one === newPath) && !isSame(old(one), made(one)),
  );
  // What has a new place holds the only copy there until its old place has it again.
  const isOld = (one: string): boolean => newPath === undefined || isInside(path, one);
  const mostLeft = left.length;
  await putAllBack(paths.filter(isOld), old, made, context);
  const rest = paths.filter((one) => !isOld(one));
  if (left.length === mostLeft) await putAllBack(rest, old, made, context);
  else if (newPath !== undefined && rest.includes(newPath))
    left.push({
      path: newPath,
      reason: `${look.scope.print(path)}, which went in the same call, could not be put back`,
    });
}

type StateAt = (path: string) => State;

async function putAllBack(
  paths: readonly string[],
  old: StateAt,
  made: StateAt,
  context: RestoreContext,
): Promise<void> {
  const isGone = (one: string): boolean => old(one).kind === "absent";
  // The content of a directory goes before it, and comes after it.
  for (const one of paths.filter(isGone).reverse()) await putBack(one, absent, made(one), context);
  const directories: [string, number][] = [];
  for (const one of paths) {
    const state = old(one);
    if (!isGone(one) && (await putBack(one, state, made(one), context)) && state.kind === "directory")
      directories.unshift([one, state.mode]);
  }
  for (const [one, mode] of directories) await closeDirectory(one, mode, context);
}

/** Puts one path back, or says why not. */
async function putBack(path: string, old: State, made: State, context: RestoreContext): Promise<boolean> {
  const { look, done } = context;
  const put = async (): Promise<boolean> => {
    if (canonicalOrUndefined(dirname(path)) !== dirname(path)) throw new Kept("a folder above it is now a link");
    const now = await stateOf(path, look);
    if (isSame(now, old)) return false;
    if (!isSame(now, made)) throw new Kept(changedSince);
    const bytes = old.kind === "file" ? await contentOf(old, context) : undefined;
    if (now.kind !== "absent" && now.kind !== old.kind) {
      await inParent(path, look.scope, (parent, name) =>
        now.kind === "directory" ? rmdirSync(parent.at(name)) : unlinkSync(parent.at(name)),
      );
    }
    // The folder may be gone, too.
    if (old.kind !== "absent") makeDirectories(dirname(path), look.scope).directory.close();
    await make(path, old, now, bytes, context);
    return true;
  };
  return unlessKept(path, context, async () => {
    const isDone = await withPathLocks([path], put);
    if (isDone) done.push({ path, how: old.kind === "absent" ? "removed" : "restored" });
    return isDone;
  });
}

/** Resolves to the old content of a file. */
async function contentOf(old: State & { kind: "file" }, { readCopy }: RestoreContext): Promise<Buffer> {
  if (old.copy === undefined) throw new Kept(`its old content was not saved: ${old.notKept}`);
  const bytes = readCopy(old.copy);
  if ((await digestOf(bytes)) !== old.digest) throw new Kept("the copy of its old content is damaged");
  return bytes;
}

async function make(
  path: string,
  old: State,
  now: State,
  bytes: Buffer | undefined,
  context: RestoreContext,
): Promise<void> {
  const { scope } = context.look;
  if (old.kind === "link") {
    await inParent(path, scope, (parent, name) => {
      if (now.kind === "link") unlinkSync(parent.at(name));
      symlinkSync(old.target, parent.at(name));
    });
  } else if (old.kind === "directory") {
    if (now.kind === "directory") return;
    await inParent(path, scope, (parent, name) => {
      mkdirSync(parent.at(name), 0o700);
      context.own.add(stampOf(lstatSync(parent.at(name))));
    });
  } else if (old.kind === "file" && bytes !== undefined) {
    const isNew = now.kind !== "file";
    const beforeReplace = (file: FilePath): void => {
      if (isNew || now.stamp !== stampOf(lstatSync(file))) throw new Kept(changedSince);
    };
    await writeAtomically(path, bytes, { scope, beforeReplace, ...(isNew && { private: true }) });
    const file = openRegularFile(path, scope);
    try {
      if ((file.stats.mode & 0o7777) !== old.mode) changeAttributes(file, { mode: old.mode });
    } finally {
      file.close();
    }
  }
}

/** Gives a directory that was made its old mode, now that all is in it. */
async function closeDirectory(path: string, mode: number, context: RestoreContext): Promise<void> {
  const change = (): Promise<void> =>
    inParent(path, context.look.scope, (parent, name) => {
      const directory = new OpenDirectory(parent.at(name));
      try {
        changeAttributes({ descriptor: directory.descriptor, path: directory.at(".") }, { mode });
      } finally {
        directory.close();
      }
    });
  await unlessKept(path, context, change, "its mode is not the old one: ");
}

function moveBack(
  [path, from = path]: Change["paths"],
  old: State,
  made: State,
  context: RestoreContext,
): Promise<boolean> {
  const { look, done, own } = context;
  return unlessKept(from, context, async () => {
    const now = await stateOf(from, look);
    // What was removed or written there later, and is back by now, is another entry.
    const isBack = now.kind === "directory" ? own.has(now.stamp) : isSame(now, made);
    if (!isBack && !isMoved(now, old, true))
      throw new Kept(
        now.kind === "absent" ? `it was moved to ${look.scope.print(from)}, and is no longer there` : changedSince,
      );
    if ((await stateOf(path, look)).kind !== "absent") throw new Kept("another file has its old name");
    await withPathLocks([path, from], () => moveEntry(from, path, look.scope, {}));
    done.push({ path, how: "moved", from });
    return true;
  });
}

/** A reason to leave a path alone. */
class Kept extends Error {}

/** Resolves to what the work does; to false where that fails, as the path is left alone then. */
async function unlessKept<Value>(
  path: string,
  { look: { scope }, left }: RestoreContext,
  work: () => Promise<Value>,
  before = "",
): Promise<Value | false> {
  try {
    return await work();
  } catch (error) {
    left.push({ path, reason: `${before}${reasonOf(error, path, scope)}` });
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
