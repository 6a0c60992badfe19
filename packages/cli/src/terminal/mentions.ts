import { statSync } from "node:fs";
import type { ImageBlock, UserContent } from "@toolcrib/agent";
import { usageError } from "../exitReasons.ts";
import { mostGivenMegabytes, readGivenFile, readGivenPicture, refuseMore } from "../state/givenFile.ts";

/** Reads what `@PATH` names: a text or a picture; undefined where there is no such file. */
export type ReadMention = (path: string) => Promise<string | ImageBlock | undefined>;

const mostFiles = 50;

/** A name after a blank; in quotes it may hold blanks. */
const mention = /(?<!\S)@(?:"([^"\n]+)"|([^\s"]\S*))/g;

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

/** Puts text before a message. */
export function withTextBefore(text: string, message: UserContent): UserContent {
  if (typeof message === "string") return message === "" ? text : `${text}\n\n${message}`;
  return [{ type: "text", text }, ...message];
}

export function firstLineOf(message: UserContent): string {
  const texts =
    typeof message === "string" ? [message] : message.flatMap((one) => (one.type === "text" ? one.text : []));
  return texts.join("\n").trim().split("\n", 1)[0] ?? "";
}

/** Reads a file here. Throws a usage error for one that cannot be read. */
export const readMention: ReadMention = async (path) => {
  if (isFolderOrMissing(path)) return undefined;
  return (await readGivenPicture(path, `@${path}`)) ?? (await readGivenFile(path, `@${path}`));
};

function isFolderOrMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true;
  } catch {
    // Such as a word that is longer than a name can be.
    return true;
  }
}
