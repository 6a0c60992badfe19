import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  ftruncate,
  ftruncateSync,
  lstatSync,
  openSync,
  type Stats,
  unlinkSync,
  write,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { type ToolCallInfo, ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import type { PathScope } from "../paths/pathScope.ts";
import { changeAttributes, type FilePath, flush, type OpenFile } from "./changeAttributes.ts";
import { isMountPoint, type OpenDirectory } from "./descriptors.ts";
import { makeDirectories } from "./directories.ts";
import { openRegularFile, type RegularFile, refuseSpecial } from "./openRegular.ts";
import { renameRetrying } from "./renameRetrying.ts";
import { plainSystemError, systemErrorCode } from "./systemErrors.ts";

export interface AtomicWriteOptions {
  scope: PathScope;
  /** Its `beginCommit` is called right before the change; its `signal` ends the write before that. */
  call?: ToolCallInfo | undefined;
  /**
   * For what nobody else may read: a file of this process's own with mode 0600 takes the place of what was there, whose other
   * hard links keep the old content, and directories that are made have 0700.
   */
  private?: boolean | undefined;
  /** Called with the path of a file that would be replaced, at first and right before; throws to keep that file. */
  beforeReplace?: ((file: FilePath) => void) | undefined;
}

export interface WriteResult {
  bytes: number;
  /** True if there was no file before. */
  created: boolean;
  /**
   * The reason why the file was written in place, so not atomically: a rename would have cut its hard links or changed its owner, or the
   * file itself is a mount, which nothing can replace.
   */
  inPlace?: "hard links" | "owner" | "mount";
}

/**
 * Replaces (or creates, with its parent directories) the file at a canonical path: a reader, also after a crash, finds the whole
 * old content or the whole new one. Mode and owner are kept; text is written as UTF-8. The exceptions are named
 * in `WriteResult.inPlace`. Take `withPathLocks` around it. Throws a ToolError in plain words, with nothing left over.
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions,
): Promise<WriteResult> {
  const { scope, call } = options;
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const printed = scope.print(path);
  try {
    call?.signal?.throwIfAborted();
    const parents = makeDirectories(dirname(path), scope, undefined, options.private ? 0o700 : 0o777);
    try {
      return await writeInto(parents.directory, path, bytes, options);
    } catch (error) {
      parents.undo();
      throw error;
    } finally {
      parents.directory.close();
    }
  } catch (error) {
    throw plainSystemError(error, printed);
  }
}

async function writeInto(
  directory: OpenDirectory,
  path: string,
  bytes: Uint8Array,
  { scope, call, private: isPrivate, beforeReplace }: AtomicWriteOptions,
): Promise<WriteResult> {
  const target = directory.at(basename(path));
  const lookAtTarget = (): Stats | undefined => {
    const stats = lstatSync(target, { throwIfNoEntry: false });
    if (stats) {
      refuseSpecial(stats, scope.print(path));
      beforeReplace?.(target);
    }
    return stats;
  };
  const old = lookAtTarget();
  const result: WriteResult = { bytes: bytes.length, created: old === undefined };
  const inPlace = async (reason: NonNullable<WriteResult["inPlace"]>): Promise<WriteResult> => {
    await writeInPlace(openRegularFile(path, scope, true), bytes, call);
    return { ...result, inPlace: reason };
  };
  // A rename needs no right to the file itself: without this a read-only file would be replaced.
  if (old) accessSync(target, constants.W_OK);
  const kept = isPrivate ? undefined : old;
  if (kept && kept.nlink > 1) return inPlace("hard links");

  const temporary = createTemporary(directory, isPrivate || old ? 0o600 : 0o666);
  try {
    if (kept && !keepOwner(temporary, kept)) {
      temporary.discard();
      return await inPlace("owner");
    }
    await fill(temporary, bytes, kept, call?.signal);
    const check = (): void => {
      lookAtTarget();
      scope.confirm(directory.descriptor, dirname(path), { name: basename(path) });
    };
    check();
    call?.beginCommit?.();
    await renameRetrying(directory.at(temporary.name), target, scope.print(path), { check });
  } catch (error) {
    temporary.discard();
    if (kept && systemErrorCode(error) === "EBUSY" && isMountPoint(path)) return inPlace("mount");
    throw error;
  }
  try {
    await directory.sync();
  } catch (cause) {
    const message = `${scope.print(path)} has its new content, but the device did not confirm it (${systemErrorCode(cause)}); read it back`;
    throw new ToolError({ code: "execution_failed", message, cause });
  }
  return result;
}

async function fill(
  temporary: TemporaryFile,
  bytes: Uint8Array,
  old: Stats | undefined,
  signal?: AbortSignal,
): Promise<void> {
  await writeRange(temporary.descriptor, bytes, 0, bytes.length, signal);
  if (old) changeAttributes(temporary, { mode: old.mode & 0o7777 });
  await flush(temporary);
  // Before the rename: some filesystems report only now that the bytes did not fit.
  temporary.close();
}

/** Gives the open file the owner and group of `old`; false where this process may not. */
function keepOwner(file: OpenFile, old: Stats): boolean {
  const own = fstatSync(file.descriptor);
  if (own.uid === old.uid && own.gid === old.gid) return true;
  try {
    changeAttributes(file, { owner: [old.uid, old.gid] });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EPERM") return false;
    throw error;
  }
}

/** A file with a new, short name in the directory of the file that it will replace. */
export interface TemporaryFile {
  readonly name: string;
  readonly path: FilePath;
  readonly descriptor: number;
  /** Closes it once; throws the system's error. */
  close(): void;
  /** Closes and unlinks it; never throws. */
  discard(): void;
}

/** Returns a name nobody uses, short so that it fits wherever any name fits. */
export function temporaryName(): string {
  // The global one: importing node:crypto takes 8 ms, paid by whoever only imports this package.
  return `.tmp-${crypto.randomUUID().slice(0, 13).replace("-", "")}`;
}

/** Creates it, never opening what exists, not even a link. Throws the system's error. */
export function createTemporary(directory: OpenDirectory, mode: number): TemporaryFile {
  const name = temporaryName();
  const path = directory.at(name);
  let descriptor: number;
  try {
    descriptor = openSync(path, "wx", mode);
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return createTemporary(directory, mode);
    throw error;
  }
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    closeSync(descriptor);
  };
  const discard = (): void => {
    // Where it is renamed or gone, the error that led here is the one to report.
    for (const step of [close, () => unlinkSync(path)]) attempt(step);
  };
  return { name, path, descriptor, close, discard };
}

const ftruncateAsync = promisify(ftruncate);
const writeAsync = promisify(write);

/**
 * Overwrites an open file, which it closes. What needs new space is written first, beyond the old end, and taken back on an
 * error, so a full disk leaves the old content; a crash later on may leave a mixture. Throws the system's error.
 */
export async function writeInPlace(file: RegularFile, bytes: Uint8Array, call?: ToolCallInfo): Promise<void> {
  const { descriptor } = file;
  try {
    const { size } = fstatSync(descriptor);
    try {
      await writeRange(descriptor, bytes, size, bytes.length, call?.signal);
      await flush(file);
      call?.beginCommit?.();
    } catch (error) {
      if (fstatSync(descriptor).size !== size) ftruncateSync(descriptor, size);
      throw error;
    }
    await writeRange(descriptor, bytes, 0, Math.min(size, bytes.length));
    if (bytes.length < size) await ftruncateAsync(descriptor, bytes.length);
    await flush(file);
  } finally {
    file.close();
  }
}

/** Bytes written at a time; an abort is noticed between. */
const chunkLength = 4 * 1024 * 1024;

/** Up to this many bytes are written synchronously: a turn in the thread pool would take several times as long. */
const smallLength = 64 * 1024;

/** Writes `bytes[from…to]` to the same place in the file. */
export async function writeRange(
  descriptor: number,
  bytes: Uint8Array,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<void> {
  for (let done = from; done < to; ) {
    signal?.throwIfAborted();
    const length = Math.min(to - done, chunkLength);
    done +=
      length <= smallLength
        ? writeSync(descriptor, bytes, done, length, done)
        : (await writeAsync(descriptor, bytes, done, length, done)).bytesWritten;
  }
}
