import { constants, fstatSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ImageBlock, UserContent } from "@toolcrib/agent";
import { usageError } from "../exitReasons.ts";
import type { Host } from "../host.ts";
import type { Program } from "../program.ts";
import {
  isFile,
  mostGivenMegabytes,
  readGivenFile,
  readGivenPicture,
  readGivenText,
  refuseMore,
} from "../state/givenFile.ts";

/** The type of a pipe in the mode of a file: `constants.S_IFIFO`, which Windows lacks. */
const fifo = 0o010000;
/** The time for which a pipe may stay silent when there is a prompt without it: a caller may have left it open by accident. */
const silenceMs = 3000;

/**
 * Reads the message: what is piped in, then the words, then the files that `@FILE` names in them. Throws a usage error when there is
 * nothing, or a word that is a file's name names none. A line tells where a silent pipe is given up on.
 */
export async function readPrompt(
  words: readonly string[],
  { host, cwd, terminal }: Pick<Program, "host" | "cwd" | "terminal">,
): Promise<UserContent> {
  for (const word of words) if (/^@\S+$/.test(word)) await requireFile(word.slice(1), cwd);
  const text = words.join(" ").trim();
  const given = text === "" ? "" : await withMentions(text, mentionReader(cwd));
  const piped = isPiped(host) ? (await readStdin(host, given !== "", terminal.aside)).trimEnd() : "";
  if (piped.trim() !== "") return withTextBefore(piped, given);
  if (given !== "") return given;
  throw usageError('nothing to do: pass a prompt, as in toolcrib run "find TODO in src", or pipe one in');
}

async function requireFile(word: string, cwd: string): Promise<void> {
  const path = word.replace(/^"(.*)"$/, "$1");
  const place = resolve(cwd, path);
  if (isFile(place) || (await readGivenFile(place, `@${path}`)) !== undefined) return;
  throw usageError(
    `@${path}: there is no such file; to begin a prompt with @, put it in quotes with a space before it`,
  );
}

/** Returns whether standard input is a file or a pipe, and not a terminal, /dev/null or closed. */
function isPiped({ stdin }: Host): boolean {
  const { fd } = stdin as { readonly fd?: number };
  if (fd === undefined) return !stdin.isTTY;
  try {
    const stat = fstatSync(fd);
    // By its mode too: on Windows Node answers no to isFIFO for every pipe.
    return stat.isFIFO() || stat.isFile() || stat.isSocket() || (stat.mode & constants.S_IFMT) === fifo;
  } catch {
    return false;
  }
}

async function readStdin({ stdin }: Host, optional: boolean, note: (line: string) => void): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  if (optional) {
    timer = setTimeout(() => {
      note("Nothing came from standard input so far: going on without it.");
      stdin.destroy();
    }, silenceMs);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer);
      const part = chunk as Buffer;
      chunks.push(part);
      bytes += part.length;
      refuseMore(bytes, "standard input", mostGivenMegabytes);
    }
  } catch (error) {
    // It was given up on, or there is nothing to read.
    if (chunks.length > 0) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads what `@PATH` names: a text or a picture; undefined where there is no such file. */
type ReadMention = (path: string) => Promise<string | ImageBlock | undefined>;

const mostFiles = 50;

/** A name after a blank; in quotes it may hold blanks. */
const mention = /(?<!\S)@(?:"([^"\n]+)"|([^\s"]\S*))/g;

const pasted = new Set<string>();

/** Names a file that was pasted, which is here even if the tools are elsewhere. */
export function mentionPasted(path: string): string {
  pasted.add(path);
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

/** Reads what was pasted from here, and everything else by `read`. */
export function readPastedOr(read: ReadMention): ReadMention {
  return (path) => (pasted.has(path) ? mentionReader("/")(path) : read(path));
}

/**
 * Makes a message of what was typed: the files and pictures that `@PATH` names go along behind the words. A name of no file, or of a
 * folder, stays a word. One file alone is the message. `typed`: where names count. Default: everywhere.
 */
export async function withMentions(text: string, read: ReadMention, typed: string = text): Promise<UserContent> {
  const found = new Map<string, string | ImageBlock>();
  let bytes = 0;
  for (const [whole, quoted, word = ""] of typed.matchAll(mention)) {
    const names = quoted === undefined ? [word, word.replace(/[.,;:!?)\]}'"]+$/, "")] : [quoted];
    for (const name of new Set(names)) {
      if (found.has(name)) break;
      const content = await read(name);
      if (content === undefined) continue;
      if (typeof content === "string" && whole === text.trim()) return content.trimEnd();
      bytes += typeof content === "string" ? content.length : content.data.length;
      if (found.size === mostFiles) throw usageError(`a message may name at most ${mostFiles} files`);
      refuseMore(bytes, "the files of this message", mostGivenMegabytes);
      found.set(name, content);
      break;
    }
  }
  const entries = [...found];
  const texts = entries.flatMap(([name, content]) =>
    typeof content === "string" ? [`<file path=${JSON.stringify(name)}>\n${content.trimEnd()}\n</file>`] : [],
  );
  const message = [text, ...texts].join("\n\n");
  const pictures = entries.flatMap(([, content]) => (typeof content === "string" ? [] : [content]));
  return pictures.length === 0 ? message : [{ type: "text", text: message }, ...pictures];
}

export function withTextBefore(text: string, message: UserContent): UserContent {
  if (typeof message === "string") return message === "" ? text : `${text}\n\n${message}`;
  return [{ type: "text", text }, ...message];
}

export function firstLineOf(message: UserContent): string {
  const texts =
    typeof message === "string" ? [message] : message.flatMap((one) => (one.type === "text" ? one.text : []));
  return texts.join("\n").trim().split("\n", 1)[0] ?? "";
}

/** Reads files here, by paths from `cwd` on. Throws a usage error for one that cannot be read. */
export function mentionReader(cwd: string): ReadMention {
  return async (path) => {
    const place = resolve(cwd, path);
    if (isFolderOrMissing(place)) return undefined;
    return (await readGivenPicture(place, `@${path}`)) ?? (await readGivenText(place, `@${path}`));
  };
}

function isFolderOrMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true;
  } catch {
    // Such as a word that is longer than a name can be.
    return true;
  }
}
