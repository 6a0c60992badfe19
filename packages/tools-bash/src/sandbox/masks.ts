import { lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { type DenyRules, isInside } from "@toolcrib/core/files";
import { messageOf } from "@toolcrib/core/text";
import { isReplaced } from "./bubblewrap.ts";
import { type BytePath, toBytePath, toText } from "./bytePath.ts";
import { type FoundPaths, findDenied, mostMasks, tooManyMasks } from "./deniedPaths.ts";

/** Mounts that keep commands from hidden and denied paths. Outer paths come first. */
export interface Masks {
  /** Mounted on themselves, because a mount cannot be renamed or replaced. */
  readonly fixed: readonly BytePath[];
  readonly empty: readonly BytePath[];
  /** Files that cannot be opened. */
  readonly closed: readonly BytePath[];
}

export interface MaskOptions {
  /** Directories that commands may write in. */
  readonly writable: readonly string[];
  /** Directories that must stay usable: the writable ones and the working directory. */
  readonly shown: readonly string[];
  /** Directories that commands may read, which are shown only where they exist. */
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  readonly deny: DenyRules | undefined;
}

/** What to mask right before a command. Each throws, or rejects with, an Error in plain words for what cannot be masked. */
export interface Masking {
  hiddenOnly(): Masks;
  current(): Promise<Masks>;
}

export function createMasking(options: MaskOptions): Masking {
  const { shown, readable, hidden, deny } = options;
  const seen = [...shown, ...readable];
  const isSeen = (path: BytePath): boolean =>
    seen.some((root) => isInside(toBytePath(root), path)) || !isReplaced(toText(path));
  const masksWith = ({ files, directories }: FoundPaths): Masks => {
    checkHidden(hidden);
    return masksOf({ files: files.filter(isSeen), directories: directories.filter(isSeen) }, options);
  };
  const hiddenOnly = (): Masks => masksWith({ files: [], directories: [] });
  return {
    hiddenOnly,
    async current() {
      if (!deny) return hiddenOnly();
      try {
        return masksWith(await findDenied(deny, [...seen, ...deny.roots]));
      } catch (error) {
        throw new Error(`what \`deny\` names cannot be kept from commands: ${messageOf(error)}`, { cause: error });
      }
    },
  };
}

/** Throws unless every directory to hide can be hidden reliably. */
function checkHidden(hidden: readonly string[]): void {
  for (const path of hidden) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${path} is not a directory to hide`);
    // A command could replace a link in a writable directory, and the real directory would become visible.
    if (realpathSync(path) !== path) throw new Error(`${path}, which is to be hidden, is reached through a link`);
  }
}

function masksOf(denied: FoundPaths, { writable, shown, hidden }: MaskOptions): Masks {
  const closing = denied.directories.find((path) => shown.some((place) => isInside(path, toBytePath(place))));
  if (closing !== undefined) throw new Error(`${toText(closing)} is denied, and commands run there`);
  const empty = outermost([...hidden.map(toBytePath), ...denied.directories]);
  const closed = denied.files.filter((path) => !empty.some((directory) => isInside(directory, path)));
  const roots = writable.map(toBytePath);
  const fixed = new Set<BytePath>();
  for (const path of [...empty, ...closed]) {
    // Otherwise a command could rename a parent, and a later one would find the path under another name.
    for (let parent = dirname(path); isBelow(parent, roots); parent = dirname(parent)) fixed.add(parent);
  }
  const count = empty.length + closed.length + fixed.size;
  if (count > mostMasks) throw tooManyMasks();
  return { fixed: [...fixed].sort(outerFirst), empty, closed };
}

/** The arguments of bubblewrap for the masks, separated by NUL; `descriptors` are the open ones of `fixed`. */
export function maskArguments({ fixed, empty, closed }: Masks, descriptors: readonly number[]): Uint8Array {
  const words = [
    ...fixed.flatMap((path, index) => ["--bind-fd", String(descriptors[index]), path]),
    ...empty.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    // A device on a mount that allows none: opening it fails.
    ...closed.flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
  return Buffer.from(words.map((word) => `${word}\0`).join(""), "latin1");
}

function outermost(directories: readonly BytePath[]): BytePath[] {
  const kept: BytePath[] = [];
  for (const path of [...directories].sort(outerFirst)) {
    if (!kept.some((outer) => isInside(outer, path))) kept.push(path);
  }
  return kept;
}

function isBelow(path: BytePath, roots: readonly BytePath[]): boolean {
  return roots.some((root) => root !== path && isInside(root, path));
}

function outerFirst(a: string, b: string): number {
  return a.length - b.length;
}
