import { fstatSync } from "node:fs";
import { usageError } from "../exitReasons.ts";
import { mostGivenMegabytes, readGivenFile, refuseMore } from "../state/givenFile.ts";

/** How long a pipe may stay silent when there is a prompt without it: a caller may have left it open by accident. */
const silenceMs = 3000;

/**
 * The message: what is piped in, then the files named by `@FILE`, then the words. Throws a usage error when there is nothing, or a
 * file cannot be read. `note` gets a line where a silent pipe is given up on.
 */
export async function readPrompt(words: readonly string[], note: (line: string) => void): Promise<string> {
  const files = await Promise.all(words.filter(namesFile).map((word) => readNamed(word.slice(1))));
  const text = words.filter((word) => !namesFile(word)).join(" ");
  const rest = [...files, text].filter((part) => part.trim() !== "");
  const piped = isPiped() ? await readStdin(rest.length > 0, note) : "";
  const prompt = [piped.trimEnd(), ...rest].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "")
    throw usageError('nothing to do: pass a prompt, as in toolcrib run "find TODO in src", or pipe one in');
  return prompt;
}

function namesFile(word: string): boolean {
  return /^@\S/.test(word) && !/\s/.test(word);
}

async function readNamed(path: string): Promise<string> {
  const text = await readGivenFile(path, `@${path}`);
  if (text !== undefined) return text.trimEnd();
  throw usageError(
    `@${path}: there is no such file; to begin a prompt with @, put it in quotes with a space before it`,
  );
}

/** Returns whether standard input is a file or a pipe, and not a terminal, /dev/null or closed. */
function isPiped(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
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
