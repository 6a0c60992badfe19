import { type Dirent, lstatSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { defineTool, type ExecutableTool } from "@toolcrib/core";
import {
  createPathScope,
  createSemaphore,
  type OpenDirectory,
  openInside,
  plainSystemError,
} from "@toolcrib/core/files";
import { printableName, withNotice } from "@toolcrib/core/text";
import { invalidArgument } from "./invalidArgument.ts";
import { type FsToolOptions, openFileLimit } from "./options.ts";

const defaultLimit = 2000;

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Directory" },
    offset: { type: "integer", minimum: 1, description: "First entry, from 1" },
    limit: { type: "integer", minimum: 1, description: `Default ${defaultLimit}` },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

/** `list_dir`: one level of a directory, sorted, an entry a line. */
export function createListDirTool(options: FsToolOptions = {}): ExecutableTool {
  const scope = createPathScope(options);
  const queue = createSemaphore(openFileLimit);
  return defineTool({
    name: "list_dir",
    description: "List a directory; directories end in /.",
    parameters,
    readOnly: true,
    idempotent: true,
    execute: ({ path, offset = 1, limit = defaultLimit }, { signal }) =>
      queue(async () => {
        const canonical = await scope.resolve(path);
        const printed = scope.print(canonical);
        try {
          const directory = openInside(canonical, scope);
          try {
            const entries = await readdir(directory.at("."), { withFileTypes: true });
            signal?.throwIfAborted();
            return listing(directory, entries, printed, offset, limit);
          } finally {
            directory.close();
          }
        } catch (error) {
          throw plainSystemError(error, printed);
        }
      }),
  });
}

function listing(directory: OpenDirectory, entries: Dirent[], printed: string, offset: number, limit: number): string {
  if (offset > Math.max(entries.length, 1)) {
    throw invalidArgument("offset", `${offset} is past the end: ${printed} has ${entries.length} entries`);
  }
  if (entries.length === 0) return "(empty directory)";
  // By code unit, so that the order is the same on every machine.
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = entries.slice(offset - 1, offset - 1 + limit);
  const lines = page.map((entry) => line(directory, entry)).join("\n");
  const next = offset + page.length;
  if (next > entries.length) return lines;
  return withNotice(lines, {
    shown: page.length,
    total: entries.length,
    unit: "entries",
    next: { argument: "offset", value: next },
  });
}

function line(directory: OpenDirectory, entry: Dirent): string {
  const name = printableName(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  try {
    if (entry.isSymbolicLink()) return `${name} -> ${printableName(readlinkSync(directory.at(entry.name)))}`;
    // Some filesystems tell no types while listing.
    const unknown = !entry.isFile() && lstatSync(directory.at(entry.name)).isDirectory();
    return unknown ? `${name}/` : name;
  } catch {
    // Gone, or not to be looked at: its name is all there is to say.
    return name;
  }
}
