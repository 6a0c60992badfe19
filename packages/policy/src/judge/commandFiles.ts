import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import type { SimpleCommand } from "../shell/shellLine.ts";

const mostTokens = 500;

/** What stands between the parts of a word: of options, addresses, lists and scripts. */
const betweenParts = /[\s'"`;|&<>(){}$\\=:@,]+/;

/** The words that may be paths, and the parts in them that may be: after `=`, `:`, `@`, in quotes, or after the letter of an option. */
export function possiblePaths(words: readonly string[]): readonly string[] | undefined {
  const found = new Set<string>();
  for (const word of words) {
    const option = /^-[A-Za-z]./.test(word) ? word.slice(2) : "";
    const parts = [word, option, ...word.split(betweenParts), ...option.split(betweenParts)];
    for (const part of parts) if (part !== "" && !part.includes("\0")) found.add(part);
    if (found.size > mostTokens) return undefined;
  }
  return [...found];
}

/** The words of a line that cannot be read, whatever stands between them. */
export function rawWords(line: string): readonly string[] {
  return line.replace(/\\\r?\n/g, "").split(/[\s'"`;|&<>(){}$\\]+/);
}

/** A path of a shell line as it would be opened from a directory: links followed as far as it exists. */
export function pathFrom(directory: string, word: string): string {
  const path = resolve(directory, word);
  for (let [head, tail] = [path, ""]; ; ) {
    try {
      return resolve(realpathSync.native(head), `.${tail}`);
    } catch {
      const above = dirname(head);
      if (above === head) return path;
      tail = head.slice(above.length === 1 ? 0 : above.length) + tail;
      head = above;
    }
  }
}

/** What a command that removes or moves would do to the paths it names; empty for any other. */
export function removals(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => /^(?:.*\/)?(?:rm|rmdir|mv)$/.test(word));
  if (start < 0) return [];
  return words
    .slice(start + 1)
    .filter((word) => !word.startsWith("-"))
    .map(beforeWildcard);
}

/** The directory that a pattern of files is expanded in; the word itself where it is none. */
export function beforeWildcard(word: string): string {
  const at = word.search(/[*?[]/);
  return at < 0 ? word : word.slice(0, word.lastIndexOf("/", at) + 1) || ".";
}

const contentReaders = new Set(["grep", "egrep", "fgrep", "rg", "ag", "ack", "diff"]);

/** Whether a read-only command that is given a folder may show what the files in it say, not only their names. */
export function readsContents({ words }: SimpleCommand): boolean {
  const [program = "", ...rest] = words;
  if (!contentReaders.has(program)) return false;
  return (
    program === "rg" ||
    program === "ag" ||
    program === "ack" ||
    rest.some((word) => /^(?:-[a-zA-Z]*[rRd]|--(?:rec|dir|deref))/.test(word))
  );
}

export function fileEffect(kind: ToolEffect["kind"], directory: string, word: string, tree = false): ToolEffect {
  const path = pathFrom(directory, word);
  const givenPath = resolve(directory, word);
  return { kind, path, ...(givenPath === path ? {} : { givenPath }), ...(tree ? { tree } : {}) };
}
