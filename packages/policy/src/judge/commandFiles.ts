import { lstatSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { canonicalOrUndefined } from "@toolcrib/core/files";
import type { SimpleCommand } from "../shell/shellLine.ts";

/** What stands between the parts of a word: of options, addresses, lists and scripts. */
const betweenParts = /[\s'"`;|&<>(){}$\\=:@,]+/;

/** The words that may be paths, and the parts in them that may be: after `=`, `:`, `@`, in quotes, or after the letter of an option. */
export function possiblePaths(words: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const word of words) {
    const option = /^-[A-Za-z]./.test(word) ? word.slice(2) : "";
    const parts = [word, option, ...word.split(betweenParts), ...option.split(betweenParts)];
    for (const part of parts) if (part !== "" && !isOption(part) && !part.includes("\0")) found.add(part);
  }
  return [...found];
}

/** What programs never take for a path, and what names nothing that a rule is about. */
function isOption(part: string): boolean {
  return part.startsWith("-") && !part.includes("/");
}

/** The words of a line that cannot be read, whatever stands between them. */
export function rawWords(line: string): readonly string[] {
  return line.replace(/\\\r?\n/g, "").split(/[\s'"`;|&<>(){}$\\]+/);
}

/**
 * A path of a shell line as the system would open it from a canonical directory: links followed, missing names kept. The path by its
 * names alone where that fails.
 */
export function pathFrom(directory: string, word: string): string {
  const names = word.split("/");
  if (names.includes(".."))
    return canonicalOrUndefined(isAbsolute(word) ? word : `${directory}/${word}`) ?? resolve(directory, word);
  let at = isAbsolute(word) ? "/" : directory;
  for (const name of names) {
    if (name === "" || name === ".") continue;
    at = at === "/" ? `/${name}` : `${at}/${name}`;
    const kind = kindOf(at);
    // Nothing below a name that is missing can be a link. Most words are no paths, and end here.
    if (kind === "missing") return resolve(directory, word);
    if (kind === "link") return canonicalOrUndefined(resolve(directory, word)) ?? resolve(directory, word);
  }
  return resolve(directory, word);
}

function kindOf(path: string): "missing" | "link" | "plain" {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? "missing" : stats.isSymbolicLink() ? "link" : "plain";
  } catch {
    return "missing";
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
function beforeWildcard(word: string): string {
  const at = word.search(/[*?[]/);
  return at < 0 ? word : word.slice(0, word.lastIndexOf("/", at) + 1) || ".";
}

const contentReaders = new Set(["grep", "egrep", "fgrep", "rg", "ag", "ack", "diff"]);

/** Whether a read-only command that is given a folder may show what the files in it say, not only their names. */
export function readsContents({ words }: SimpleCommand): boolean {
  const [program = "", ...rest] = words;
  if (!contentReaders.has(program)) return false;
  return (
    program === "diff" ||
    program === "rg" ||
    program === "ag" ||
    program === "ack" ||
    rest.some((word) => /^(?:-[a-zA-Z]*[rRd]|--(?:rec|dir|deref))/.test(word))
  );
}

const gitReaders = new Set(["grep", "diff", "diff-tree", "show", "cat-file"]);
const gitLogs = new Set(["log", "reflog", "stash", "whatchanged", "format-patch"]);
/** What makes logs of git print contents: a patch in some form. */
const patchOption =
  /^(?:-[pucmW]$|-[UL]|--(?:patch|unified|word-diff|color-words|color-moved|cc$|function-context|check))/;

/** Whether a read-only git command may print what any file of its repository says. */
export function printsRepository({ words: [program, ...rest] }: SimpleCommand): boolean {
  const subcommand = rest.find((word) => !word.startsWith("-")) ?? "";
  if (program !== "git") return false;
  if (subcommand === "status") return rest.some((word) => /^-[a-zA-Z]*v|^--verb/.test(word));
  return gitReaders.has(subcommand) || (gitLogs.has(subcommand) && rest.some((word) => patchOption.test(word)));
}

export function fileEffect(
  kind: ToolEffect["kind"],
  directory: string,
  word: string,
  tree: boolean,
  place: string | undefined,
): ToolEffect {
  // Links of another place cannot be followed from here.
  if (place !== undefined) return { kind, path: resolve(directory, word), ...(tree ? { tree } : {}), place };
  const path = pathFrom(directory, word);
  const givenPath = resolve(directory, word);
  return { kind, path, ...(givenPath === path ? {} : { givenPath }), ...(tree ? { tree } : {}) };
}
