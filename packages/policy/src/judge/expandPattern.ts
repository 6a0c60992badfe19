import { readdirSync } from "node:fs";
import { compileWildmatch } from "@toolcrib/kit/files";
import type { Budget } from "./budget.ts";

export function hasPattern(word: string): boolean {
  return /[*?[]/.test(word);
}

/**
 * Lists the paths that a shell may put in the place of a word in a directory, and some more: `?` and all from the first bracket of a name
 * to its last are read as `*`, because shells and quotes disagree about brackets. A leading dot must be written. A pattern that begins
 * with a dot stands for `.` and `..` too, as in dash and in older versions of bash. The word itself is first: a shell keeps it if nothing fits.
 */
export function expandPattern(directory: string, word: string, budget: Budget): readonly string[] {
  let heads = [word.startsWith("/") ? "/" : ""];
  for (const part of word.split("/").filter((name) => name !== "")) {
    if (!hasPattern(part)) {
      heads = heads.map((head) => `${head}${part}/`);
      continue;
    }
    const fits = compilePart(part);
    const found: string[] = [];
    for (const head of heads) {
      const names = namesIn(head.startsWith("/") ? head : `${directory}/${head}`);
      if (!budget.take(names.length)) return [word];
      for (const name of names) if (fits(name)) found.push(`${head}${name}/`);
    }
    heads = found;
  }
  return [word, ...heads.map((head) => head.slice(0, -1) || "/")];
}

function compilePart(part: string): (name: string) => boolean {
  const stars = part.replace(/\[.*\]|\?/gs, "*").replace(/[\\[]/g, "\\$&");
  const compiled = compileWildmatch(stars);
  const dotted = part.startsWith(".");
  return (name) => dotted === name.startsWith(".") && (typeof compiled === "string" || compiled.matches(name));
}

/** Empty if the directory cannot be read, since the shell cannot read it either. */
function namesIn(directory: string): readonly string[] {
  try {
    return [".", "..", ...readdirSync(directory)];
  } catch {
    return [];
  }
}
