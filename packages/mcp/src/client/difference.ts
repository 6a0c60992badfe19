import { attempt, canonicalJson, showLine } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import type { ListedTool } from "../mapping.ts";
import { countedSchema } from "./fingerprint.ts";

const mostChanges = 20;
/** Characters that are shown of what is the same, beside what differs, and of all. */
const context = 40;
const mostShown = 1500;
/** Levels that are gone through; what lies deeper is one place. */
const deepest = 20;

/** Words how a tool differs from what was accepted, place by place, before and after; what does not count is left out. */
export function differenceOf(accepted: ListedTool | undefined, found: ListedTool): string {
  const changes = attempt(() => [...changesIn(countedParts(accepted), countedParts(found), "")]);
  if (!changes) return "(it is nested too deeply to be shown)";
  const shown = changes.slice(0, mostChanges).map(([place, before, after]) => {
    const [was, is] = differing(before, after);
    return `${showLine(place, 300)}\n  before: ${was}\n  after:  ${is}`;
  });
  const rest = changes.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n");
}

function countedParts(tool: ListedTool | undefined): Record<string, unknown> {
  if (!tool) return {};
  const { description, inputSchema, annotations } = tool;
  return { description, inputSchema: countedSchema(inputSchema) ?? undefined, annotations };
}

function* changesIn(
  before: unknown,
  after: unknown,
  place: string,
  level = 0,
): Generator<[place: string, before: string, after: string]> {
  if (canonicalJson(before) === canonicalJson(after)) return;
  if (!isObject(before) || !isObject(after) || level === deepest) {
    yield [place, textOf(before), textOf(after)];
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    yield* changesIn(before[key], after[key], place === "" ? key : `${place}.${key}`, level + 1);
}

function textOf(value: unknown): string {
  return value === undefined ? "(none)" : JSON.stringify(value);
}

/** Returns the parts of two texts from where they begin to differ to where they end to. */
function differing(before: string, after: string): [string, string] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const cut = (text: string): string => {
    const [from, to] = [Math.max(0, start - context), Math.min(text.length, text.length - end + context)];
    return `${from > 0 ? "…" : ""}${showLine(text.slice(from, to), mostShown)}${to < text.length ? "…" : ""}`;
  };
  return [cut(before), cut(after)];
}
