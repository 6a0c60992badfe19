import { nearestName } from "@toolcrib/core/internal";
import { shownName } from "../errors.ts";

const inKeys = ["includeTools", "tools", "allowedTools"] as const;
const outKeys = ["excludeTools", "disabledTools"] as const;
export const listKeys: readonly string[] = [...inKeys, ...outKeys];

/** The tools of a server that an entry lets in, by the server's own names for them. */
export interface ToolLists {
  isLetIn(tool: string): boolean;
  /** Returns what is wrong with the lists, for a server that has these tools. */
  problems(tools: readonly string[]): string[];
}

/**
 * Reads the lists of an entry: a tool is let in if each list in that is there names it, and none that keeps out. `*` stands for any
 * characters. `invalid` makes the error for a list that cannot be read: then nothing is mounted.
 */
export function readToolLists(
  entry: Readonly<Record<string, unknown>>,
  invalid: (problem: string) => Error,
): ToolLists {
  const listsOf = (keys: readonly string[]): { key: string; patterns: readonly string[] }[] =>
    keys.flatMap((key) => {
      const given = entry[key];
      if (given === undefined) return [];
      if (Array.isArray(given) && given.every((one) => typeof one === "string")) return [{ key, patterns: given }];
      throw invalid(`${key} must be an array of names of tools, such as ["read_*"]; nothing is mounted until it is`);
    });
  const [lettingIn, keepingOut] = [listsOf(inKeys), listsOf(outKeys)];
  const names = (patterns: readonly string[], tool: string): boolean => patterns.some((one) => matches(one, tool));
  return {
    isLetIn: (tool) =>
      lettingIn.every(({ patterns }) => names(patterns, tool)) &&
      !keepingOut.some(({ patterns }) => names(patterns, tool)),
    problems: (tools) =>
      [...lettingIn, ...keepingOut].flatMap(({ key, patterns }) => {
        const missing = patterns.filter((one) => one !== "*" && !tools.some((tool) => matches(one, tool)));
        return missing.slice(0, 20).map((one) => {
          // The same one in whatever order the server lists them.
          const nearest = nearestName(one, tools.toSorted());
          const advice = nearest === undefined ? "correct it or take it out" : `did you mean ${shownName(nearest)}?`;
          return `${key} names ${shownName(one)}, which the server does not have; ${advice}`;
        });
      }),
  };
}

/** Matches in linear time. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.slice(0, text.length - last.length).indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}
