import { type Dirent, lstatSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { defineTool, type ExecutableTool, invalidArgument } from "@toolcrib/core";
import {
  canonicalOrUndefined,
  createSemaphore,
  type OpenDirectory,
  openInside,
  type PathScope,
  pathEffect,
  plainSystemError,
} from "@toolcrib/core/files";
import { cutBytes, leftOutNotice, printableName, type Truncation, truncationNotice } from "@toolcrib/core/text";
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
    effects: async ({ path }) => [pathEffect("read", await scope.resolve(path, "path", "read"), path, scope)],
    execute: ({ path, offset = 1, limit = defaultLimit }, { signal }) =>
      queue(async () => {
        const canonical = await scope.resolve(path, "path", "read");
        const printed = scope.print(canonical);
        try {
          const directory = openInside(canonical, scope, "read");
          try {
            const all = await readdir(directory.at("."), { withFileTypes: true });
            signal?.throwIfAborted();
            const entries = all.filter((entry) => !isDenied(entry, canonical, scope));
            const leftOut = all.length - entries.length;
            const { body, cut } = listing(directory, entries, printed, { offset, limit, maxBytes, leftOut });
            const notices = [cut && truncationNotice(cut), leftOut > 0 && leftOutNotice(leftOut)].filter(Boolean);
            return notices.length === 0 ? body : `${body}\n\n${notices.join("\n")}`;
          } finally {
            directory.close();
          }
        } catch (error) {
          throw plainSystemError(error, printed);
        }
      }),
  });
}

/** A link that leads to a denied path is left out too, as its line would name that. */
function isDenied(entry: Dirent, directory: string, { denied }: PathScope): boolean {
  if (denied === undefined) return false;
  const path = join(directory, entry.name);
  if (denied.match(path, entry.isFile() ? false : undefined) !== undefined) return true;
  if (!entry.isSymbolicLink()) return false;
  const target = canonicalOrUndefined(path);
  return target !== undefined && denied.match(target) !== undefined;
}

interface Page {
  /** First entry, from 1. */
  offset: number;
  limit: number;
  /** Longest listing, without the notice. */
  maxBytes: number;
  /** Names that are not among the entries, because they are denied. */
  leftOut: number;
}

interface Listing {
  body: string;
  cut?: Truncation;
}

function listing(directory: OpenDirectory, entries: Dirent[], printed: string, page: Page): Listing {
  const { offset, limit, maxBytes } = page;
  const total = entries.length;
  if (offset > Math.max(total, 1)) {
    throw invalidArgument("offset", `${offset} is past the end: ${printed} has ${total} entries; pass a smaller one`);
  }
  if (total === 0) return { body: page.leftOut > 0 ? "(nothing else)" : "(empty directory)" };
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
  const body = lines.join("\n");
  if (next > total) return { body };
  const more = { argument: "offset", value: next };
  return { body, cut: { shown: lines.length, total, unit: "entries", next: more } };
}

/** The only line that is cut: one that is longer than a whole reply may be. */
function cutEntry(text: string, entries: number, { offset, maxBytes }: Page): Listing {
  const body = cutBytes(text, maxBytes);
  const cut = {
    shown: Buffer.byteLength(body),
    total: Buffer.byteLength(text),
    unit: `bytes of entry ${offset}`,
    next: offset < entries ? { argument: "offset", value: offset + 1 } : undefined,
  };
  return { body, cut };
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
