import { lstatSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { canonicalOrUndefined } from "@toolcrib/kit/files";
import { hasPattern } from "./expandPattern.ts";

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

/** Lists the named paths that a command removes or moves; empty for any other. */
export function removals(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => /^(?:.*\/)?(?:rm|rmdir|mv)$/.test(word));
  if (start < 0) return [];
  const operands = words.slice(start + 1).filter((word) => !word.startsWith("-"));
  // What a pattern stands for goes, and its folder is looked through.
  return operands.flatMap((word) =>
    hasPattern(word) ? [word, word.slice(0, word.lastIndexOf("/", word.search(/[*?[]/)) + 1) || "."] : [word],
  );
}

export function fileEffect(
  kind: ToolEffect["kind"],
  directory: string,
  word: string,
  tree: boolean,
  remote: string | undefined,
): ToolEffect {
  // Links of a remote cannot be followed from here.
  if (remote !== undefined) return { kind, path: resolve(directory, word), ...(tree ? { tree } : {}), remote };
  const path = pathFrom(directory, word);
  const givenPath = resolve(directory, word);
  return { kind, path, ...(givenPath === path ? {} : { givenPath }), ...(tree ? { tree } : {}) };
}
