import type { JsonSchema } from "@toolcrib/core";
import { option, readOptions, withDefault } from "@toolcrib/core/internal";
import {
  createPathScope,
  createSemaphore,
  type PathScope,
  type PathScopeOptions,
  scopeOptions,
  withPathLocks,
} from "@toolcrib/kit/files";
import { defaultMaxReplyBytes } from "@toolcrib/kit/text";
import { createSeenFiles, type SeenFiles } from "./seenFiles.ts";

/** Options of every tool of this pack. */
export interface FsToolOptions extends PathScopeOptions {
  /** Most bytes in one reply of `read_file` or one diff of `edit_file`; `Infinity` for no limit. Default: 256 KB. */
  maxBytes?: number | undefined;
  /**
   * Makes `write_file`, `edit_file` and `apply_patch` refuse an existing file that `read_file` of the same `createFsTools` has not read in
   * its present state. Default: false.
   */
  requireRead?: boolean;
  /** Most bytes in one reply of `list_dir`, without its closing notice; `Infinity` for no limit. Default: 50 KB. */
  maxReplyBytes?: number | undefined;
}

/** The `origin` of the tools of this pack. */
export const origin = "@toolcrib/tools-fs";

/** Most files that a tool has open at once, however many calls run. */
export const openFileLimit = 4;

/** Makes a queue of changes: a task waits until no other call holds one of its paths, and a few tasks of a tool run at a time. */
export function createChangeQueue(): typeof withPathLocks {
  const queue = createSemaphore(openFileLimit);
  return (paths, task, signal) => withPathLocks(paths, () => queue(task), signal);
}

const specs = {
  ...scopeOptions,
  maxBytes: withDefault(option.bytes, 256 * 1024),
  requireRead: withDefault({ ...option.flag, needed: "if written" }, false),
  maxReplyBytes: withDefault(option.bytes, defaultMaxReplyBytes),
};

/** The options of a tool, or of all tools of a pack, checked. */
export interface FsSettings {
  readonly scope: PathScope;
  /** The memory of files that the tools of one pack share; undefined if they need none. */
  readonly seen: SeenFiles | undefined;
  readonly maxBytes: number;
  readonly maxReplyBytes: number;
}

/** Throws a TypeError, which names the factory, for options that cannot be understood. */
export function settingsOf(factory: string, options: FsToolOptions): FsSettings {
  const { maxBytes, requireRead, maxReplyBytes } = readOptions<FsToolOptions, typeof specs>(factory, options, specs);
  return {
    scope: createPathScope(options),
    seen: requireRead ? createSeenFiles() : undefined,
    maxBytes,
    maxReplyBytes,
  };
}

// Parts of what the tools answer as data.

export const text: JsonSchema = { type: "string" };
export const count: JsonSchema = { type: "integer", minimum: 0 };
export const flag: JsonSchema = { type: "boolean" };

export function oneOf(...values: string[]): JsonSchema {
  return { enum: values };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}
