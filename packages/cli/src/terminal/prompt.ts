import { constants, fstatSync } from "node:fs";
import type { UserContent } from "@toolcrib/agent";
import { usageError } from "../exitReasons.ts";
import { mostGivenMegabytes, readGivenFile, refuseMore } from "../state/givenFile.ts";
import { readMention, withMentions, withTextBefore } from "./mentions.ts";

/** The type of a pipe in the mode of a file: `constants.S_IFIFO`, which Windows lacks. */
const fifo = 0o010000;
/** How long a pipe may stay silent when there is a prompt without it: a caller may have left it open by accident. */
const silenceMs = 3000;

/**
 * Reads the message: what is piped in, then the words, then the files that `@FILE` names in them. Throws a usage error when there is
 * nothing, or a word that is a file's name names none. `note` gets a line where a silent pipe is given up on.
 */
export async function readPrompt(words: readonly string[], note: (line: string) => void): Promise<UserContent> {
  for (const word of words) if (namesFile(word)) await requireFile(word.slice(1));
  const text = words.join(" ").trim();
  const given = text === "" ? "" : await withMentions(text, readMention);
  const piped = isPiped() ? (await readStdin(given !== "", note)).trimEnd() : "";
  if (piped.trim() !== "") return withTextBefore(piped, given);
  if (given !== "") return given;
  throw usageError('nothing to do: pass a prompt, as in toolcrib run "find TODO in src", or pipe one in');
}

function namesFile(word: string): boolean {
  return /^@\S/.test(word) && !/\s/.test(word);
}

async function requireFile(word: string): Promise<void> {
  const path = word.replace(/^"(.*)"$/, "$1");
  if ((await readGivenFile(path, `@${path}`)) !== undefined) return;
  throw usageError(
    `@${path}: there is no such file; to begin a prompt with @, put it in quotes with a space before it`,
  );
}

/** Returns whether standard input is a file or a pipe, and not a terminal, /dev/null or closed. */
function isPiped(): boolean {
  try {
    const stat = fstatSync(0);
    // By its mode too: on Windows Node answers no to isFIFO for every pipe.
    return stat.isFIFO() || stat.isFile() || stat.isSocket() || (stat.mode & constants.S_IFMT) === fifo;
  } catch {
    return false;
  }
}

async function readStdin(optional: boolean, note: (line: string) => void): Promise<string> {
  const { stdin } = process;
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
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
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
