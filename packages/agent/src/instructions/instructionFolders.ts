import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { homeFolder } from "@toolcrib/kit/files";

/** Returns the folders whose files count for one folder, the farthest first. None of their files may lead out of the first. */
export function instructionFolders(folder: string, home: string | undefined = homeFolder()): string[] {
  const start = realpathSync(folder);
  const top = topOf(start, home === undefined ? undefined : canonical(home));
  const folders: string[] = [];
  for (let place = start; ; place = dirname(place)) {
    // Anybody may make a folder in one that all share, such as /tmp, and what it holds.
    if (place === start || isOwn(place, start)) folders.unshift(place);
    if (place === top) return folders;
  }
}

/** Returns the nearest folder around that is a repository, or the home; without either, the folder alone. */
function topOf(start: string, home: string | undefined): string {
  for (let place = start; ; place = dirname(place)) {
    if (place === home || isRepository(place)) return place;
    if (dirname(place) === place) return start;
  }
}

function isRepository(folder: string): boolean {
  return lstatSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined;
}

/** Returns whether it belongs to the user, or to the owner of the folder where the walk began. */
function isOwn(folder: string, start: string): boolean {
  const { uid } = statSync(folder);
  return uid === process.getuid?.() || uid === statSync(start).uid;
}

function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
