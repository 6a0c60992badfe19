import { readSync, statSync } from "node:fs";
import { defineTool, type ExecutableTool, toolOutput } from "@toolcrib/core";
import {
  type FilePath,
  LookAlikes,
  openRegularFile,
  type PathScope,
  pathEffect,
  type WriteResult,
  writeAtomically,
} from "@toolcrib/kit/files";
import { byteOrderMark, objectSchema } from "@toolcrib/kit/text";
import { resolveFile } from "./directoryPath.ts";
import {
  count,
  createChangeQueue,
  type FsSettings,
  type FsToolOptions,
  flag,
  origin,
  settingsOf,
  text,
} from "./options.ts";
import { countInvalidUtf8 } from "./read/invalidUtf8.ts";

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "File" },
    content: { type: "string", description: "Whole text" },
  },
  required: ["path", "content"],
  additionalProperties: false,
} as const;

/** Bytes at the beginning of a file that are looked at. */
const lookedAt = 64 * 1024;

/** Makes `write_file`, which creates a file, with its parent directories, or replaces the whole content of one. */
export function createWriteFileTool(options: FsToolOptions = {}): ExecutableTool {
  return writeFileTool(settingsOf("createWriteFileTool", options));
}

/** Makes the tool from settings that the tools of a pack share. */
export function writeFileTool({ scope, seen }: FsSettings): ExecutableTool {
  const inQueue = createChangeQueue();
  return defineTool({
    name: "write_file",
    origin,
    description: "Write a file, replacing its content; creates parent directories.",
    parameters,
    destructive: true,
    idempotent: true,
    outputSchema: objectSchema({ path: text, bytes: count, created: flag, "written_in_place?": flag }),
    effects: async ({ path }) => [pathEffect("write", await resolveFile(scope, path), path, scope)],
    execute: async ({ path, content }, call) => {
      const canonical = await resolveFile(scope, path);
      const beforeReplace =
        seen && ((file: FilePath): void => seen.refuseUnseen(file, canonical, scope.print(canonical)));
      let lost = "";
      let alike: string | undefined;
      const write = async (): Promise<WriteResult> => {
        lost = changedForm(canonical, content, scope);
        alike = new LookAlikes(scope).beside(canonical);
        const result = await writeAtomically(canonical, content, { scope, call, beforeReplace });
        seen?.note(canonical, canonical);
        return result;
      };
      const result = await inQueue([canonical], write, call.signal);
      const { bytes, created, inPlace } = result;
      const words = `${created ? "Created" : "Wrote"} ${scope.print(canonical)} (${bytes} bytes)${inPlaceNote(result)}${lost}${alikeNote(alike)}`;
      const data = { path: scope.shorten(canonical), bytes, created, ...(inPlace && { written_in_place: true }) };
      return toolOutput(words, { data });
    },
  });
}

/** Says that a write was not atomic, and why; empty for one that was. */
export function inPlaceNote({ inPlace }: WriteResult): string {
  if (inPlace === undefined) return "";
  return `; written in place, not atomically, because ${whyInPlace[inPlace]}`;
}

const whyInPlace: Readonly<Record<NonNullable<WriteResult["inPlace"]>, string>> = {
  "hard links": "it has several hard links",
  owner: "its owner could not be kept otherwise",
  mount: "it is a mount",
};

/** Says that something new has a name that looks like another one beside it. */
export function alikeNote(alike: string | undefined): string {
  return alike === undefined ? "" : `; beside it is ${alike}, whose name looks the same`;
}

/** Says what of an existing file's form new text does not have: its line ends, its byte order mark, its encoding. "" where all is the same. */
function changedForm(path: string, content: string, scope: PathScope): string {
  const head = headOf(path, scope);
  const old = head.toString("latin1");
  const lost: string[] = [];
  // Three bytes may belong to a character that is cut.
  if (countInvalidUtf8(head) > (head.length < lookedAt ? 0 : 3))
    lost.push("the old file was not valid UTF-8, and is UTF-8 now");
  if (old.startsWith("\u00ef\u00bb\u00bf") && !content.startsWith(byteOrderMark))
    lost.push("the old file began with a byte order mark, and does not now");
  if (/\r\n/.test(old) && !/(?<!\r)\n/.test(old) && /(?<!\r)\n/.test(content))
    lost.push("the old file had CRLF line ends, and has LF now");
  return lost.map((words) => `; ${words}`).join("");
}

/** Returns the beginning of a file; empty if it is missing or cannot be read: the write says so. */
function headOf(path: string, scope: PathScope): Buffer {
  try {
    // A new file is no error, of which a hint would list the folder.
    if (!statSync(path, { throwIfNoEntry: false })) return Buffer.alloc(0);
    const file = openRegularFile(path, scope);
    try {
      const bytes = Buffer.allocUnsafe(Math.min(lookedAt, file.stats.size));
      return bytes.subarray(0, readSync(file.descriptor, bytes, 0, bytes.length, 0));
    } finally {
      file.close();
    }
  } catch {
    return Buffer.alloc(0);
  }
}
