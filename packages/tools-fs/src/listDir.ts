import { type Dirent, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type ExecutableTool, invalidArgument, toolOutput } from "@toolcrib/core";
import { cutBytes, printableName, type Truncation, truncationNotice } from "@toolcrib/core/text";
import {
  canonicalOrUndefined,
  createSemaphore,
  LookAlikes,
  type OpenDirectory,
  openInside,
  type PathScope,
  pathEffect,
  plainPathError,
} from "@toolcrib/kit/files";
import { leftOutNotice, objectSchema } from "@toolcrib/kit/text";
import { count, type FsToolOptions, listOf, oneOf, openFileLimit, origin, settingsOf, text } from "./options.ts";
import { createYielder } from "./yieldToEventLoop.ts";

const defaults = { offset: 1, limit: 2000 };

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Directory" },
    offset: { type: "integer", minimum: 1, description: "First entry, from 1" },
    limit: { type: "integer", minimum: 1, description: `Default ${defaults.limit}` },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

const entryTypes = oneOf("file", "directory", "link", "other");

/** Makes `list_dir`, which answers the entries of one directory, sorted, one a line. */
export function createListDirTool(options: FsToolOptions = {}): ExecutableTool {
  const { scope, maxReplyBytes: maxBytes } = settingsOf("createListDirTool", options);
  const queue = createSemaphore(openFileLimit);
  return defineTool({
    name: "list_dir",
    origin,
    description: "List a directory; directories end in /.",
    parameters,
    defaults,
    readOnly: true,
    idempotent: true,
    outputSchema: objectSchema({
      path: text,
      entries: listOf(objectSchema({ name: text, type: entryTypes, "target?": text })),
      ...{ total: count, "next?": count, "left_out?": count },
    }),
    effects: async ({ path }) => [
      pathEffect("read", (await new LookAlikes(scope).resolve(path, "read")).path, path, scope),
    ],
    execute: ({ path, offset = defaults.offset, limit = defaults.limit }, { signal }) =>
      queue(async () => {
        const { path: canonical, notice } = await new LookAlikes(scope).resolve(path, "read");
        const printed = scope.print(canonical);
        try {
          const directory = openInside(canonical, scope, "read");
          try {
            const { readdir } = process.getBuiltinModule("node:fs/promises");
            const all = await readdir(directory.at("."), { withFileTypes: true });
            signal?.throwIfAborted();
            const entries = await withoutDenied(all, canonical, scope, signal);
            const leftOut = all.length - entries.length;
            const { body, shown, cut } = listing(directory, entries, printed, { offset, limit, maxBytes, leftOut });
            const notices = [cut && truncationNotice(cut), leftOut > 0 && leftOutNotice(leftOut), notice].filter(
              Boolean,
            );
            const reply = notices.length === 0 ? body : `${body}\n\n${notices.join("\n")}`;
            const next = cut?.next === undefined ? {} : { next: cut.next.value };
            const more = { total: entries.length, ...next, ...(leftOut > 0 && { left_out: leftOut }) };
            return toolOutput(reply, { data: { path: scope.shorten(canonical), entries: shown, ...more } });
          } finally {
            directory.close();
          }
        } catch (error) {
          throw plainPathError(error, canonical, scope);
        }
      }),
  });
}

/** Leaves denied entries out. Lets other work run: matching a name with many patterns takes time. */
async function withoutDenied(
  entries: Dirent[],
  directory: string,
  { denied }: PathScope,
  signal: AbortSignal | undefined,
): Promise<Dirent[]> {
  if (denied === undefined) return entries;
  const yieldToEventLoop = createYielder(signal);
  const allowed: Dirent[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    // The line of a link that leads to a denied path would name that.
    const target = entry.isSymbolicLink() ? canonicalOrUndefined(path) : undefined;
    const isDenied =
      denied.match(path, entry.isFile() ? false : undefined) ?? (target === undefined ? target : denied.match(target));
    if (isDenied === undefined) allowed.push(entry);
    const waiting = yieldToEventLoop();
    if (waiting !== undefined) await waiting;
  }
  return allowed;
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
  shown: ListedEntry[];
  cut?: Truncation;
}

function listing(directory: OpenDirectory, entries: Dirent[], printed: string, page: Page): Listing {
  const { offset, limit, maxBytes } = page;
  const total = entries.length;
  if (offset > Math.max(total, 1)) {
    throw invalidArgument("offset", `${offset} is past the end: ${printed} has ${total} entries; pass a smaller one`);
  }
  if (total === 0) return { body: page.leftOut > 0 ? "(nothing else)" : "(empty directory)", shown: [] };
  // By code unit: the same order on every machine.
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const lines: string[] = [];
  const shown: ListedEntry[] = [];
  let bytes = 0;
  for (const entry of entries.slice(offset - 1, offset - 1 + limit)) {
    const listed = look(directory, entry);
    const line = lineOf(listed);
    bytes += Buffer.byteLength(line) + (lines.length > 0 ? 1 : 0);
    if (bytes > maxBytes && lines.length === 0) return cutEntry(line, listed, total, page);
    if (bytes > maxBytes) break;
    lines.push(line);
    shown.push(listed);
  }
  const next = offset + lines.length;
  const body = lines.join("\n");
  if (next > total) return { body, shown };
  const more = { argument: "offset", value: next };
  return { body, shown, cut: { shown: lines.length, total, unit: "entries", next: more } };
}

/** Cuts an entry that is longer than a whole reply may be, the only line that is cut. */
function cutEntry(text: string, listed: ListedEntry, entries: number, { offset, maxBytes }: Page): Listing {
  const body = cutBytes(text, maxBytes);
  const cut = {
    shown: Buffer.byteLength(body),
    total: Buffer.byteLength(text),
    unit: `bytes of entry ${offset}`,
    next: offset < entries ? { argument: "offset", value: offset + 1 } : undefined,
  };
  return { body, shown: [listed], cut };
}

/** An entry as data. */
interface ListedEntry {
  name: string;
  type: "file" | "directory" | "link" | "other";
  /** The target as a link names it. */
  target?: string;
}

function look(directory: OpenDirectory, entry: Dirent): ListedEntry {
  const { name } = entry;
  if (entry.isDirectory()) return { name, type: "directory" };
  if (entry.isFile()) return { name, type: "file" };
  try {
    if (entry.isSymbolicLink()) return { name, type: "link", target: readlinkSync(directory.at(name)) };
    // Some filesystems do not give types while listing.
    const stats = lstatSync(directory.at(name));
    return { name, type: stats.isDirectory() ? "directory" : stats.isFile() ? "file" : "other" };
  } catch {
    // Gone, or not readable: only its name is known.
    return { name, type: entry.isSymbolicLink() ? "link" : "other" };
  }
}

function lineOf({ name, type, target }: ListedEntry): string {
  const printed = printableName(name);
  if (type === "directory") return `${printed}/`;
  return target === undefined ? printed : `${printed} -> ${printableName(target)}`;
}
