import { join, resolve } from "node:path";
import type { Middleware } from "@toolcrib/core";
import {
  beyondLimit,
  headAndTail,
  isLegalName,
  type OptionSpecs,
  option,
  readOptions,
  withDefault,
} from "@toolcrib/core/internal";
import { directoryOption } from "../paths/pathLimits.ts";
import { defaultMaxReplyBytes, withMiddleLeftOut } from "../text/cuts.ts";
import type { FilePath } from "./changeAttributes.ts";
import { OpenDirectory } from "./descriptors.ts";
import { ensureDirectory } from "./directories.ts";
import { systemErrorCode } from "./systemErrors.ts";

export interface SpillOptions {
  /** The directory of the files; made, for its owner alone, at the first use. Nothing here ever deletes them. */
  directory: string;
  /** The most bytes of an output that stays as it is, a notice at its end not counted. Default 50 KB. */
  bytes?: number | undefined;
}

const specs = {
  directory: { ...directoryOption, needed: "always" },
  bytes: withDefault(option.bytes, defaultMaxReplyBytes),
} satisfies OptionSpecs<SpillOptions>;

/**
 * Makes middleware that loses nothing of a long output: it is written whole to a new file that its owner alone may read, and the model gets
 * whole lines of its head and tail, and a notice with the path. Use it last, so that it sees an output before any limit does.
 */
export function spillOutput(options: SpillOptions): Middleware {
  const { directory: given, bytes } = readOptions("spillOutput", options, specs);
  const directory = resolve(given);
  return async (call, next) => {
    const outcome = await next();
    // A program reads a result whole; what it answers comes here too.
    return outcome.ok && call.within === undefined
      ? { ...outcome, output: await spillText(outcome.output, call.name, { directory, bytes }) }
      : outcome;
  };
}

/**
 * Resolves to a text of at most `bytes`: of a longer one the head and the tail, and where all of it is; without a directory it says that
 * the rest is not kept. `name` begins the name of the file.
 */
export async function spillText(
  text: string,
  name: string,
  { directory, bytes }: { readonly directory: string | undefined; readonly bytes: number },
): Promise<string> {
  const beyond = beyondLimit(text, bytes);
  if (!beyond) return text;
  const { body, total } = beyond;
  // Also where a notice says that a file has it already: a tool's output may hold words of anybody.
  const kept = directory === undefined ? { unwritten: "no folder is set for it" } : await keep(directory, name, text);
  const { head, tail } = headAndTail(body, bytes);
  const shown = Buffer.byteLength(head) + Buffer.byteLength(tail);
  return withMiddleLeftOut({ head, tail, shown, total, ...kept });
}

/** Says where the output is now. If it cannot be written, it is answered all the same, with why the rest is lost. */
async function keep(
  folder: string,
  tool: string,
  output: string,
): Promise<{ readonly whole: string } | { readonly unwritten: string }> {
  const name = `${isLegalName(tool) ? tool : "output"}-${crypto.randomUUID().slice(0, 13)}.txt`;
  try {
    ensureDirectory(folder, 0o700);
    const directory = new OpenDirectory(folder);
    try {
      await writeNew(directory.at(name), output);
    } finally {
      directory.close();
    }
    return { whole: join(folder, name) };
  } catch (error) {
    return { unwritten: systemErrorCode(error) ?? "unknown error" };
  }
}

/** Writes a new file, neither through a link nor leaving a part behind. Rejects with the system's error. */
async function writeNew(path: FilePath, text: string): Promise<void> {
  const { open, unlink } = process.getBuiltinModule("node:fs/promises");
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
  } catch (error) {
    await unlink(path);
    throw error;
  } finally {
    await file.close();
  }
}
