import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createPathScope, openRegularFile, refuseMore } from "@toolcrib/kit/files";
import { usageError } from "../exitReasons.ts";

/** A file that a folder brings along and that toolcrib uses. */
export interface ProjectFile {
  /** Below `.toolcrib`: `commands/review.md`. */
  readonly path: string;
  readonly text: string;
}

const mostFiles = 200;
const maxMegabytes = 1;

/** Reads what a project brings along in `.toolcrib`: own commands, and what its hooks may run. A yes to the project holds for these texts alone. */
export function readProjectFiles(directory: string): readonly ProjectFile[] {
  return ["commands", "hooks"].flatMap((folder) => readFolder(join(directory, ".toolcrib"), folder));
}

/** Reads the files of a folder, not those that are links, or that a link leads to. Throws a usage error for too many or too large ones. */
export function readFolder(parent: string, folder: string): readonly ProjectFile[] {
  const place = join(parent, folder);
  if (![parent, place].every((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())) return [];
  const names = readdirSync(place, { withFileTypes: true }).filter((entry) => entry.isFile());
  if (names.length > mostFiles) throw usageError(`${place}: it holds more than ${mostFiles} files`);
  const scope = createPathScope({ root: place });
  return names
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const path = join(place, name);
      const file = openRegularFile(join(scope.cwd, name), scope);
      try {
        refuseMore(file.stats.size, { what: path, maxMegabytes, toError: usageError });
        const bytes = readFileSync(file.descriptor);
        // A yes holds for the text, which other bytes could have too.
        if (!isUtf8(bytes)) throw usageError(`${path}: it must be a text in UTF-8; keep programs elsewhere`);
        return { path: `${folder}/${name}`, text: bytes.toString("utf8") };
      } finally {
        file.close();
      }
    });
}
