import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { attempt, headAndTail } from "@toolcrib/core/internal";
import { isObject, withNotice } from "@toolcrib/core/text";
import type { KeptOutput } from "./engine/messages.ts";

/** Characters of output that are kept for a file; of more, the file has the first. */
export const keptForFile: number = 16 * 2 ** 20;

/** Returns the output of a program; of one that is longer than it may be the head, the tail and where the rest is, if anywhere. */
export async function shownOutput(kept: KeptOutput, bytes: number, spill: string | undefined): Promise<string> {
  if (kept.bytes <= bytes) return kept.head;
  const isAll = kept.tail === "";
  const { head } = headAndTail(kept.head, bytes);
  const { tail } = headAndTail(isAll ? kept.head : kept.tail, bytes);
  const [shown, total] = [Buffer.byteLength(head) + Buffer.byteLength(tail), kept.bytes];
  const written = spill === undefined ? { why: "no folder is set for it" } : await writeSpill(spill, kept.head);
  const why = "why" in written ? `; they could not be written to a file (${written.why})` : "";
  const held = isAll ? {} : { held: Buffer.byteLength(kept.head) };
  const middle = `[… ${total - shown} bytes left out${why} …]`;
  return withNotice(`${head}${head.endsWith("\n") ? "" : "\n"}${middle}\n${tail}`, {
    ...{ shown, total, unit: "bytes" },
    ...("path" in written && { whole: written.path, ...held }),
  });
}

/** Writes a new file that its owner alone may read, neither through a link nor leaving a part behind. Resolves to its path, or why it could not be written. */
export async function writeSpill(
  directory: string,
  text: string,
): Promise<{ readonly path: string } | { readonly why: string }> {
  const folder = resolve(directory);
  const path = join(folder, `run_program-${crypto.randomUUID().slice(0, 13)}.txt`);
  try {
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    if (!(await lstat(folder)).isDirectory()) return { why: "it is a link or a file, not a folder" };
    await writeFile(path, text, { flag: "wx", mode: 0o600 }).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
    return { path };
  } catch (error) {
    return { why: codeOf(error) ?? "unknown error" };
  }
}

function codeOf(error: unknown): string | undefined {
  return attempt(() => (isObject(error) && typeof error.code === "string" ? error.code : undefined));
}
