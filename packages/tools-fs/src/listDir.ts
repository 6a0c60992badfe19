import { type Dirent, lstatSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { defineTool, type ExecutableTool, invalidArgument } from "@toolcrib/core";
import { createSemaphore, type OpenDirectory, openInside, pathEffect, plainSystemError } from "@toolcrib/core/files";
import { cutBytes, printableName, withNotice } from "@toolcrib/core/text";
import { type FsToolOptions, maxReplyBytesOf, openFileLimit, origin, scopeOf } from "./options.ts";

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

/** `list_dir`: the entries of one directory, sorted, one a line. */
export function createListDirTool(options: FsToolOptions = {}): ExecutableTool {
  const scope = scopeOf("createListDirTool", options);
  const maxBytes = maxReplyBytesOf(options);
  const queue = createSemaphore(openFileLimit);
  return defineTool({
    name: "list_dir",
    origin,
    description: "List a directory; directories end in /.",
    parameters,
    readOnly: true,
    idempotent: true,
    effects: async ({ path }) => [pathEffect("read", await scope.resolve(path), path, scope)],
    execute: ({ path, offset = 1, limit = defaultLimit }, { signal }) =>
      queue(async () => {
        const canonical = await scope.resolve(path);
        const printed = scope.print(canonical);
        try {
          const directory = openInside(canonical, scope);
          try {
            const entries = await readdir(directory.at("."), { withFileTypes: true });
            signal?.throwIfAborted();
            return listing(directory, entries, printed, { offset, limit, maxBytes });
          } finally {
            directory.close();
          }
        } catch (error) {
          throw plainSystemError(error, printed);
        }
      }),
  });
}

interface Page {
  /** First entry, from 1. */
  offset: number;
  limit: number;
  /** Longest listing, without the notice. */
  maxBytes: number;
}

function listing(directory: OpenDirectory, entries: Dirent[], printed: string, page: Page): string {
  const { offset, limit, maxBytes } = page;
  const total = entries.length;
  if (offset > Math.max(total, 1)) {
    throw invalidArgument("offset", `${offset} is past the end: ${printed} has ${total} entries; pass a smaller one`);
  }
  if (total === 0) return "(empty directory)";
  // By code unit: the same order on every machine.
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const lines: string[] = [];
  let bytes = 0;
  for (const entry of entries.slice(offset - 1, offset - 1 + limit)) {
    const text = line(directory, entry);
    bytes += Buffer.byteLength(text) + (lines.length > 0 ? 1 : 0);
    if (bytes > maxBytes && lines.length === 0) return cutEntry(text, total, page);
    if (bytes > maxBytes) break;
    lines.push(text);
  }
  const next = offset + lines.length;
  if (next > total) return lines.join("\n");
  return withNotice(lines.join("\n"), {
    shown: lines.length,
    total,
    unit: "entries",
    next: { argument: "offset", value: next },
  });
}

/** The only line that is cut: one that is longer than a whole reply may be. */
function cutEntry(text: string, entries: number, { offset, maxBytes }: Page): string {
  const head = cutBytes(text, maxBytes);
  return withNotice(head, {
    shown: Buffer.byteLength(head),
    total: Buffer.byteLength(text),
    unit: `bytes of entry ${offset}`,
    next: offset < entries ? { argument: "offset", value: offset + 1 } : undefined,
  });
}

function line(directory: OpenDirectory, entry: Dirent): string {
  const name = printableName(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  try {
    if (entry.isSymbolicLink()) return `${name} -> ${printableName(readlinkSync(directory.at(entry.name)))}`;
    // Some filesystems do not give types while listing.
    const unknown = !entry.isFile() && lstatSync(directory.at(entry.name)).isDirectory();
    return unknown ? `${name}/` : name;
  } catch {
    // Gone, or not readable: only its name is known.
    return name;
  }
}
