import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { oneLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { createPathScope, openRegularFile, plainSystemError, refuseMore } from "@toolcrib/kit/files";
import { usageError } from "../exitReasons.ts";

/** A file that a folder brings along and that toolcrib uses. */
export interface ProjectFile {
  /** Below `.toolcrib`: `commands/review.md`. */
  readonly path: string;
  readonly text: string;
}

/** The usable parts of what a folder brings along, and a few words on each part that cannot be used. */
export interface ProjectFiles {
  readonly files: readonly ProjectFile[];
  readonly leftOut: readonly LeftOut[];
}

interface LeftOut {
  /** As in `ProjectFile`, or that of the whole folder. */
  readonly path: string;
  readonly why: string;
}

const mostFiles = 200;
const maxMegabytes = 1;

/** Reads what a project brings along in `.toolcrib`: own commands, and what its hooks may run. A yes to the project holds for these texts alone. */
export function readProjectFiles(directory: string): ProjectFiles {
  const folders = ["commands", "hooks"].map((folder) => readFolder(join(directory, ".toolcrib"), folder));
  return { files: folders.flatMap(({ files }) => files), leftOut: folders.flatMap(({ leftOut }) => leftOut) };
}

/** Reads the files of a folder, not those that are links, or that a link leads to. Leaves out what cannot be used. */
export function readFolder(parent: string, folder: string): ProjectFiles {
  const place = join(parent, folder);
  const files: ProjectFile[] = [];
  const leftOut: LeftOut[] = [];
  const readPart = (path: string, read: () => void): void => {
    try {
      read();
    } catch (error) {
      leftOut.push({ path, why: messageOf(plainSystemError(error, path)) });
    }
  };
  readPart(folder, () => {
    if (![parent, place].every((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())) return;
    const names = readdirSync(place, { withFileTypes: true }).filter((entry) => entry.isFile());
    if (names.length > mostFiles) throw usageError(`it holds more than ${mostFiles} files`);
    for (const name of names.map((entry) => entry.name).sort()) {
      const path = `${folder}/${name}`;
      readPart(path, () => files.push({ path, text: readText(place, name) }));
    }
  });
  return { files, leftOut };
}

function readText(place: string, name: string): string {
  const scope = createPathScope({ root: place });
  const file = openRegularFile(join(scope.cwd, name), scope);
  try {
    refuseMore(file.stats.size, { what: "this file", maxMegabytes, toError: usageError });
    const bytes = readFileSync(file.descriptor);
    // A yes holds for the text, which other bytes could have too.
    if (!isUtf8(bytes)) throw usageError("it must be a text in UTF-8; keep programs elsewhere");
    return bytes.toString("utf8");
  } finally {
    file.close();
  }
}

const mostNamed = 3;

/** Names in one line what was left out of `parent`; undefined if nothing was. */
export function describeLeftOut(leftOut: readonly LeftOut[], parent = ".toolcrib"): string | undefined {
  if (leftOut.length === 0) return undefined;
  const named = leftOut.slice(0, mostNamed).map(({ path, why }) => `${parent}/${path} (${why})`);
  const more = leftOut.length > mostNamed ? `, and ${leftOut.length - mostNamed} more` : "";
  return oneLine(`Left out: ${named.join(", ")}${more}`, 600);
}
