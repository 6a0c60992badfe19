import type { JsonSchema } from "@toolcrib/core";
import { printableName } from "@toolcrib/core/text";
import { objectSchema } from "@toolcrib/kit/text";
import type { SearchMode } from "./engine/job.ts";
import type { SearchResult } from "./engine/searchResult.ts";

/** Characters of results that are given as data too: more would hardly fit, and take time for nothing. */
const longestData = 100 * 1024;

const text: JsonSchema = { type: "string" };
const count: JsonSchema = { type: "integer", minimum: 0 };
const leftOut: Record<string, JsonSchema> = { "left_out?": count, "could_not_read?": count };

/** The data of `search_text`: `matches`, or `files` in the other modes. */
export const textDataSchema: JsonSchema = objectSchema({
  "matches?": { type: "array", items: objectSchema({ path: text, line: count, text }) },
  "files?": { type: "array", items: objectSchema({ path: text, "count?": count }) },
  more: { type: "boolean" },
  ...leftOut,
});

/** The data of `search_files`. */
export const filesDataSchema: JsonSchema = objectSchema({
  files: { type: "array", items: text },
  total: count,
  ...leftOut,
});

/** Returns the data; undefined for more than it may hold. */
export function textData(result: SearchResult, mode: SearchMode): Record<string, unknown> | undefined {
  if (result.text.length > longestData) return undefined;
  const lists = mode === "lines" ? { matches: matchesOf(result) } : { files: filesOf(result, mode) };
  return { ...lists, more: result.more, ...unseen(result) };
}

/** Returns the data; undefined for more than it may hold. */
export function filesData(result: SearchResult): Record<string, unknown> | undefined {
  if (result.text.length > longestData) return undefined;
  const files = filesOf(result, "files").map(({ path }) => path);
  return { files, total: result.total ?? files.length, ...unseen(result) };
}

function unseen({ leftOut, problemCount }: SearchResult): Record<string, number> {
  return { ...(leftOut > 0 && { left_out: leftOut }), ...(problemCount > 0 && { could_not_read: problemCount }) };
}

function matchesOf({ text, places }: SearchResult): unknown[] {
  return places.map(({ start, end, pathLength }) => {
    // Neighbours have `-` behind the path, and a group begins with `--`.
    const lines = text.slice(start, end).split("\n");
    const match = lines.find((line) => line.length > pathLength && line[pathLength] === ":") ?? "";
    const colon = match.indexOf(":", pathLength + 1);
    const line = Number(match.slice(pathLength + 1, colon));
    return { path: nameOf(match.slice(0, pathLength)), line, text: match.slice(colon + 1) };
  });
}

function filesOf({ text, places }: SearchResult, mode: SearchMode): { path: string; count?: number }[] {
  return places.map(({ start, end, pathLength }) => {
    const path = nameOf(text.slice(start, start + pathLength));
    return mode === "count" ? { path, count: Number(text.slice(start + pathLength + 1, end)) } : { path };
  });
}

/** Returns a path as it is, of one that may be printed as a JSON string. */
function nameOf(printed: string): string {
  if (!printed.startsWith('"')) return printed;
  try {
    const name: unknown = JSON.parse(printed);
    return typeof name === "string" && printableName(name) === printed ? name : printed;
  } catch {
    return printed;
  }
}
