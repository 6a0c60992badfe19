import { readdirSync } from "node:fs";
import { compileWildmatch, systemErrorCode } from "@toolcrib/core/files";

/** What a file pattern of a shell may stand for. */
export interface Expansion {
  /** Paths relative to the directory that was given, or absolute as the pattern is. */
  readonly paths: readonly string[];
  /** False where there is too much to look through. */
  readonly complete: boolean;
}

/** A look through more names than this would keep a decision waiting. */
const mostNames = 5000;
const wildcard = /\[[^\]]*\]|[*?]/g;

export function hasWildcard(word: string): boolean {
  return /[*?[]/.test(word);
}

/**
 * What a file pattern may become in a directory, and somewhat more: `?` and `[…]` are read as `*`. Names that begin with a dot need one in
 * the pattern, as in a shell. The pattern itself is among them, since a shell keeps one that fits nothing.
 */
export function expandWildcard(directory: string, word: string): Expansion {
  let left = mostNames;
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
      left -= names?.length ?? mostNames;
      if (left < 0) return { paths: [word], complete: false };
      for (const name of names ?? []) if (fits(name)) found.push(`${head}${name}/`);
    }
    heads = found;
  }
  return { paths: [word, ...heads.map((head) => head.slice(0, -1) || "/")], complete: true };
}

function compilePart(part: string): (name: string) => boolean {
  const literal = (text: string): string => text.replace(/[\\[]/g, "\\$&");
  const texts = part.split(wildcard).map(literal);
  const compiled = compileWildmatch(texts.join("*"));
  const dotted = part.startsWith(".");
  return (name) => (dotted || !name.startsWith(".")) && (typeof compiled === "string" || compiled.matches(name));
}

/** Undefined where a directory cannot be read. */
function namesIn(directory: string): readonly string[] | undefined {
  try {
    return readdirSync(directory);
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "") ? [] : undefined;
  }
}
