import { statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { canonicalOrUndefined, isInside } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import type { SimpleCommand } from "../shell/shellLine.ts";

interface Folder {
  readonly path: string;
  /** Whether it is relative, or inside a root. */
  readonly unsafe: boolean;
}

/** The folders of PATH up to the last unsafe one. Links in them are resolved once, as that takes longer than a decision. */
const known = new WeakMap<Settings, { readonly path: string; readonly folders: readonly Folder[] }>();

function foldersOf(path: string, settings: Settings): readonly Folder[] {
  const found = known.get(settings);
  if (found?.path === path) return found.folders;
  const { roots } = settings;
  const isInRoot = (folder: string): boolean => roots.some((root) => isInside(root, folder));
  const all = path.split(delimiter).map((folder): Folder => {
    const unsafe = !isAbsolute(folder) || isInRoot(folder) || isInRoot(canonicalOrUndefined(folder) ?? folder);
    return { path: folder, unsafe };
  });
  const folders = all.slice(0, all.findLastIndex(({ unsafe }) => unsafe) + 1);
  known.set(settings, { path, folders });
  return folders;
}

/**
 * Returns why the program of a command may be another than the one its record is about: PATH finds it in a relative folder or inside a root,
 * where it may have come with the files (`npx` puts `node_modules/.bin` first). `mayPut` tells whether the line itself may put it there.
 */
export function mayBePlanted(
  { words: [program = ""] }: SimpleCommand,
  directories: readonly string[],
  mayPut: (folder: string) => boolean,
  settings: Settings,
): string | undefined {
  for (const { path, unsafe } of foldersOf(process.env.PATH ?? "", settings)) {
    const places = isAbsolute(path) ? [path] : directories.map((directory) => resolve(directory, path));
    if (places.some((place) => isFile(join(place, program))) || (unsafe && program !== "" && mayPut(path)))
      return unsafe
        ? `PATH finds ${program} in ${path || "the folder it runs in"}, where it may have come with the files.`
        : undefined;
  }
  return undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
