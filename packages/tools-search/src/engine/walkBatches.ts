import { isObject } from "@toolcrib/core/text";
import { FileMemory } from "../memory/fileMemory.ts";
import { type Batch, longestBatch, orderStep } from "./batchQueue.ts";
import { compileFolderMatcher, compilePlainGlobs, namedFolders } from "./globs.ts";
import { type BatchNotes, mostProblems, noNotes, type SearchJob, type SearchStart, type WalkPosition } from "./job.ts";
import type { DirectoryLister, RuleChain, VisibleDirectory } from "./listDirectory.ts";

/** Files of the first batch (the first matches come soon) and of a later one. */
const firstBatch = 16;
const largestBatch = 96;
/** Sizes for known files, which take a fraction of the time, and for files that are only listed. */
const largestKnownBatch = 384;
/** Ignored files that are compared with globs that are not plain. */
const mostUndecided = 1000;
/** Files that a walk gives at a time, at most. */
const filesAtOnce = 16;

/** Collects what could not be read or was left out. */
export class Notes {
  #notes = noNotes();

  /** Throws the error again if it is not a system error. */
  readonly add = (path: string, error: unknown): void => {
    const code = isObject(error) ? error.code : undefined;
    if (typeof code !== "string") throw error;
    // Removed since it was listed, so not a problem. A name that is not valid UTF-8 only looks removed.
    if ((code === "ENOENT" || code === "ENOTDIR") && !path.includes("\ufffd")) return;
    this.#notes.problemCount += 1;
    if (this.#notes.problems.length < mostProblems) this.#notes.problems.push({ path, code });
  };

  readonly leaveOut = (names: number): void => {
    this.#notes.leftOut += names;
  };

  skipBinary(): void {
    this.#notes.binaries += 1;
  }

  addHole(path: string, bytes: number): void {
    if (this.#notes.holes.length < mostProblems) this.#notes.holes.push({ path, bytes });
  }

  /** `isAsked` if a glob names the folder. */
  addIgnored(path: string, isFolder: boolean, isAsked: boolean): void {
    const { ignored, ignoredFolders, ignoredFiles } = this.#notes;
    if (isAsked && ignored.length < mostProblems) ignored.push(path);
    const counted = isFolder ? ignoredFolders : ignoredFiles;
    counted.count += 1;
    if (counted.first.length < mostProblems) counted.first.push(path);
  }

  /** Returns what was collected since the last time. */
  take(): BatchNotes {
    const taken = this.#notes;
    this.#notes = noNotes();
    return taken;
  }
}

/** Returns whether there is anything to tell. */
export function hasNotes({ problemCount, leftOut, binaries, holes, ...rest }: BatchNotes): boolean {
  return problemCount + leftOut + binaries + holes.length + rest.ignoredFiles.count + rest.ignoredFolders.count > 0;
}

export interface WalkedBatch extends Batch {
  /** The start that its number stands for. */
  below: SearchStart;
  notes: BatchNotes;
  /** The position from which the walk goes on once the batch is queued. */
  next: Omit<WalkPosition, "seen">;
}

/** The files below a start that match, some at a time, in the order of their paths; false at the end if the walk could not go on. */
export type FindFiles = (
  start: SearchStart,
  after: string,
  notes: Notes,
) => Generator<readonly string[], boolean, undefined>;

function prefixOf({ path }: SearchStart): string {
  return path.endsWith("/") ? path : `${path}/`;
}

/** Finds the files of a job; `matchGlobs` those of some that match globs that are not plain. */
export function createFinder(
  { globs }: SearchJob,
  lister: DirectoryLister,
  matchGlobs?: (files: string[]) => string[],
): FindFiles {
  const enters = globs === undefined ? () => true : compileFolderMatcher(globs);
  const asked = globs === undefined ? new Set<string>() : namedFolders(globs);
  const matches = globs === undefined ? () => true : compilePlainGlobs(globs);
  /** Files that rules ignore are `undecided` where globs may match them that are not plain. */
  const walk = (start: SearchStart, after: string, notes: Notes, undecided: string[] = []): ReturnType<FindFiles> => {
    const prefix = prefixOf(start);
    const onIgnored = (directory: string, names: readonly string[]): void => {
      for (const name of names) {
        const isFolder = name.endsWith("/");
        const bare = isFolder ? name.slice(0, -1) : name;
        const below = directory + bare;
        if (!isFolder && matches === undefined) {
          if (undecided.length < mostUndecided) undecided.push(below);
        } else if (isFolder ? enters(below) : matches?.(below)) {
          notes.addIgnored(prefix + below, isFolder, isFolder && asked.has(bare));
        }
      }
    };
    const { path, isNamed } = start;
    const options = { after, enters, isNamed, onIgnored, onUnreadable: notes.add, onLeftOut: notes.leaveOut };
    return walkFiles(lister, path, options);
  };
  if (globs === undefined) return walk;
  return function* findMatching(start, after, notes) {
    const undecided: string[] = [];
    const files = walk(start, after, notes, undecided);
    const all: string[] = [];
    for (let next = files.next(); ; next = files.next()) {
      if (next.done) {
        if (next.value && matchGlobs !== undefined) {
          for (const below of matchGlobs(undecided)) notes.addIgnored(prefixOf(start) + below, false, false);
          yield matchGlobs(all);
        }
        return next.value;
      }
      if (matches === undefined) all.push(...next.value);
      const found = matches === undefined ? [] : next.value.filter(matches);
      if (found.length > 0 || next.value.length % filesAtOnce === 0) yield found;
    }
  };
}

/** The walk of a search, which goes on where its last batch was queued if another thread takes it over. */
export interface Walk {
  position: WalkPosition;
  readonly batches: Generator<WalkedBatch | undefined, boolean, undefined>;
  /** Stuck at a directory that takes too long for this thread. */
  state: "going" | "stuck" | "over";
}

/** Walks from a position on. */
export function startWalk(job: SearchJob, position: WalkPosition, findFiles: FindFiles): Walk {
  return { position, state: "going", batches: cutBatches(job, findFiles, position) };
}

/** Cuts the files of a job into batches. Gives undefined where it may be left; false at the end as `FindFiles`. */
function* cutBatches(
  job: SearchJob,
  findFiles: FindFiles,
  from: WalkPosition,
): Generator<WalkedBatch | undefined, boolean, undefined> {
  const areUnknown = job.query !== undefined && (job.memory === undefined || new FileMemory(job.memory).isEmpty);
  const largest = areUnknown ? largestBatch : largestKnownBatch;
  const notes = new Notes();
  let paths: string[] = [];
  let length = 0;
  let { order } = from;
  const cut = (start: number, below: SearchStart, isLast: boolean): WalkedBatch => {
    const batch = { order, start, below, paths, notes: notes.take() };
    const after = isLast ? "" : (paths.at(-1) ?? "");
    order += orderStep;
    paths = [];
    length = 0;
    return { ...batch, next: { start: isLast ? start + 1 : start, after, order } };
  };
  for (const [number, start] of job.starts.entries()) {
    if (number < from.start) continue;
    const after = number === from.start ? from.after : "";
    const files = start.isDirectory ? findFiles(start, after, notes) : oneFile();
    for (let next = files.next(); ; next = files.next()) {
      if (next.done && !next.value) return false;
      if (next.done) break;
      const { seen } = from;
      const found = seen === undefined ? next.value : next.value.filter((path) => !seen.has(wholePath(start, path)));
      if (found.length === 0) yield undefined;
      for (const path of found) {
        if (length + path.length >= longestBatch) yield cut(number, start, false);
        paths.push(path);
        length += path.length + 1;
        // Cut before the walk goes on: what it notes behind this path belongs to whoever walks on from here.
        const isFull = paths.length >= Math.min(firstBatch * (1 + order / orderStep), largest);
        if (isFull || length >= longestBatch / 2) yield cut(number, start, false);
      }
    }
    yield cut(number, start, true);
  }
  return true;
}

function* oneFile(): Generator<string[], boolean, undefined> {
  yield [""];
  return true;
}

/** Returns the path of a file below a start, or of the start itself. */
export function wholePath({ path, isDirectory }: SearchStart, below: string): string {
  if (!isDirectory) return path;
  return path.endsWith("/") ? path + below : `${path}/${below}`;
}

export interface WalkOptions {
  /** Called for each directory that cannot be read. */
  onUnreadable(path: string, error: unknown): void;
  /** Only what comes behind this path. */
  after: string;
  /** Returns whether to list a directory below, which is relative. */
  enters(directory: string): boolean;
  /** Called with how many names of a directory are denied. */
  onLeftOut(names: number): void;
  /** The directory was named by the call. */
  isNamed?: boolean | undefined;
  /** Called with the ignored names of a directory, which is relative: empty, or ending in `/`. Those of directories end in `/`. */
  onIgnored?(directory: string, names: readonly string[]): void;
}

/**
 * Yields the files below a directory that a search may see, some at a time, relative to it, with `/`, in the order of their paths. The walk can
 * be left at any time: it gives none after each directory below that was listed, as many in a row may hold no file. Ends with false at a
 * directory that takes more than the lister's limits.
 */
export function* walkFiles(
  lister: DirectoryLister,
  directory: string,
  { onUnreadable, after, enters, onLeftOut, onIgnored, isNamed }: WalkOptions,
): Generator<readonly string[], boolean, undefined> {
  const prefix = directory.endsWith("/") ? directory : `${directory}/`;
  /** Lists a directory. `path` is relative: empty, or ending in `/`. */
  const list = (path: string, rules?: RuleChain): VisibleDirectory | undefined => {
    const whole = path === "" ? directory : prefix + path.slice(0, -1);
    try {
      const found = path === "" ? lister.listStart(whole, isNamed) : lister.list(whole, rules);
      // The directory that holds `after` was listed before.
      if (found !== undefined && (after === "" || !after.startsWith(path))) {
        onLeftOut(found.leftOut);
        onIgnored?.(path, found.ignored);
      }
      return found;
    } catch (error) {
      onUnreadable(whole, error);
      return unreadable;
    }
  };
  const start = list("");
  if (start === undefined) return false;
  // A stack, not recursion: a tree may be thousands of levels deep.
  const stack = [{ directory: start, path: "", next: 0 }];
  let files: string[] = [];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const name = top.directory.names[top.next];
    top.next += 1;
    const path = top.path + (name ?? "");
    if (files.length > 0 && (name === undefined || name.endsWith("/") || files.length >= filesAtOnce)) {
      yield files;
      files = [];
    }
    if (name === undefined) {
      stack.pop();
    } else if (path <= after && !(name.endsWith("/") && after.startsWith(path))) {
      // It was walked before, with all below.
    } else if (name.endsWith("/") && enters(path.slice(0, -1))) {
      const below = list(path, top.directory.rules);
      if (below === undefined) return false;
      stack.push({ directory: below, path, next: 0 });
      yield nothing;
    } else if (name.endsWith("/")) {
      yield nothing;
    } else {
      files.push(path);
    }
  }
  return true;
}

const nothing: readonly string[] = [];
const unreadable: VisibleDirectory = { names: [], ignored: [], rules: undefined, leftOut: 0 };
