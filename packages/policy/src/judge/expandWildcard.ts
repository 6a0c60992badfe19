import { readdirSync } from "node:fs";
import { compileWildmatch } from "@toolcrib/core/files";
import type { Budget } from "./budget.ts";

const wildcard = /\[[^\]]*\]|[*?]/g;

export function hasWildcard(word: string): boolean {
  return /[*?[]/.test(word);
}

/**
 * What a file pattern may become in a directory, and somewhat more: `?` and `[…]` are read as `*`. Names that begin with a dot need one in
 * the pattern, as in a shell. The pattern itself is among them, since a shell keeps one that fits nothing.
 */
export function expandWildcard(directory: string, word: string, budget: Budget): readonly string[] {
  let heads = [word.startsWith("/") ? "/" : ""];
  for (const part of word.split("/").filter((name) => name !== "")) {
    if (!hasWildcard(part)) {
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
  const literal = (text: string): string => text.replace(/[\\[]/g, "\\$&");
  const texts = part.split(wildcard).map(literal);
  const compiled = compileWildmatch(texts.join("*"));
  const dotted = part.startsWith(".");
  return (name) => (dotted || !name.startsWith(".")) && (typeof compiled === "string" || compiled.matches(name));
}

/** Empty where the directory cannot be read, by the shell neither. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
