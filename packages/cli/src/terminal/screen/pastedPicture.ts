import { execFile } from "node:child_process";
import { mkdtempSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findProgram } from "@toolcrib/kit/files";
import { imageFormat } from "@toolcrib/kit/text";
import { isFile } from "../../state/givenFile.ts";
import { mentionPasted } from "../prompt.ts";

/** Returns what a paste stands for: the name of a picture, where it is the path of one, as a terminal gives it for a file that is dropped on it. */
export function pastedText(text: string): string {
  const path = pathIn(text.trim());
  return path !== undefined && /\.(?:png|jpe?g|gif|webp)$/i.test(path) && isFile(path)
    ? `${mentionPasted(path)} `
    : text;
}

function pathIn(text: string): string | undefined {
  if (text === "" || text.includes("\n")) return undefined;
  if (text.startsWith("file://")) {
    try {
      return fileURLToPath(text);
    } catch {
      // No address, one of another host, or one with an encoded slash.
      return undefined;
    }
  }
  const plain = /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text.replace(/\\(.)/g, "$1");
  return isAbsolute(plain) ? plain : undefined;
}

const readers: readonly (readonly [program: string, ...args: readonly string[]])[] = [
  ["wl-paste", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];

const longestWaitMs = 3000;
const mostBytes = 10_000_000;

/** Keeps the picture of the clipboard in a file, for the user alone until `removePictures` is called, and names it in a message; undefined where there is none. Never runs a program of this directory. */
export async function clipboardPicture(cwd: string): Promise<string | undefined> {
  for (const [name, ...args] of readers) {
    const program = findProgram(name, [cwd]);
    const bytes = program === undefined ? undefined : await outputOf(program, args);
    if (!bytes || imageFormat(bytes) === undefined) continue;
    const folder = mkdtempSync(join(tmpdir(), "toolcrib-paste-"));
    const path = join(folder, "picture.png");
    kept.push([path, folder]);
    writeFileSync(path, bytes, { mode: 0o600 });
    return mentionPasted(path);
  }
  return undefined;
}

const kept: (readonly [path: string, folder: string])[] = [];

export function removePictures(): void {
  for (const [path, folder] of kept.splice(0)) {
    try {
      unlinkSync(path);
      rmdirSync(folder);
    } catch {
      // Somebody else has removed it, or put something beside it.
    }
  }
}

/** Undefined for a program that fails, prints too much, or does not end. */
function outputOf(program: string, args: readonly string[]): Promise<Buffer | undefined> {
  const options = { encoding: "buffer", timeout: longestWaitMs, killSignal: "SIGKILL", maxBuffer: mostBytes } as const;
  return promisify(execFile)(program, args, options).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
