import type { ChatTool } from "@toolcrib/core";
import { attempt, repair } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { parseArguments } from "../conversation/parseArguments.ts";
import type { ToolCallBlock } from "../messages.ts";
import type { CallFormat, WrittenCall } from "./formats.ts";
import { behind, jsonEnd, matchAt } from "./literals.ts";
import { findMarker, MarkdownPlace, markerAt } from "./markers.ts";

/** The calls at the end of a text and where they begin, or the first of them that is none and why. */
export type EndCalls =
  | { readonly at: number; readonly calls: readonly ToolCallBlock[] }
  | { readonly name: string; readonly problem: "not-offered" | "not-whole" };

/** The tools that a request offers, by name. */
export class OfferedTools {
  readonly #byName: ReadonlyMap<string, ChatTool>;

  constructor(tools: readonly ChatTool[]) {
    this.#byName = new Map(tools.map((tool) => [tool.function.name, tool]));
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Some models write the namespace `functions.` before a name. */
  get(name: string): ChatTool["function"] | undefined {
    return (this.#byName.get(name) ?? this.#byName.get(name.replace(/^functions\./, "")))?.function;
  }
}

/** Characters that may be read; each call may take as long as the text is. */
const mostRead = 20_000_000;

const endTokens =
  /(?:\s|<\|(?:im_end|eot_id|eom_id|eot|end_of_text|endoftext|end)\|>|<\/s>|<[|｜]end[▁_]of[▁_]sentence[|｜]>)*/y;

/** Reads the calls that end a text, outside code and quotes: all whole, and of offered tools. `place`: that of its first character. */
export function endCalls(
  text: string,
  tools: OfferedTools,
  place: MarkdownPlace = new MarkdownPlace(),
): EndCalls | undefined {
  let next = 0;
  const reads = { left: Math.max(20, Math.min(500, mostRead / text.length)) };
  for (let from = 0; ; ) {
    const found = findMarker(text, next, from, place, tools);
    if (!found || reads.left <= 0) return undefined;
    const { index, marker } = found;
    if (marker === "part" || !("format" in marker)) {
      [next, from] = [index, index + 1];
      continue;
    }
    const { format } = marker;
    const read = readAll(text, index, format, reads);
    if (read.isWhole) return offered(read.calls, index, tools);
    // What stands in a call is none, so the search goes on behind it.
    const end = read.calls.length > 0 ? read.end : endOf(format, text, index);
    if (text.slice(end).trim() === "") {
      const name = nameIn(text, index);
      const isMeant = place.isLineStart && (format.markers.length > 0 || tools.has(name));
      return isMeant ? { name, problem: "not-whole" } : undefined;
    }
    [next, from] = [index, end];
  }
}

function readAll(
  text: string,
  start: number,
  first: CallFormat,
  reads: { left: number },
): { calls: WrittenCall[]; end: number; isWhole: boolean } {
  const calls: WrittenCall[] = [];
  let format: CallFormat | undefined = first;
  let end = start;
  while (format && reads.left > 0) {
    reads.left -= 1;
    const read = format.read(text, end);
    if (!read) break;
    calls.push(...read.calls);
    end = behind(endTokens, text, read.end);
    if (end === text.length) return { calls, end, isWhole: true };
    const marker = markerAt(text, end, new MarkdownPlace(), { has: () => true });
    format = typeof marker === "object" && "format" in marker ? marker.format : undefined;
  }
  return { calls, end, isWhole: false };
}

/** Returns the end of what could not be read; that of the text where nothing closes it. */
function endOf({ markers, close }: CallFormat, text: string, index: number): number {
  const closing = close && matchAt(close, text, index);
  const end = markers.length > 0 ? closing && closing.index + closing[0].length : jsonEnd(text, index);
  return end ?? text.length;
}

function nameIn(text: string, index: number): string {
  return (
    /"name"\s*:\s*"([\w.-]+)"|<function=([\w.-]+)|^\[\s*([\w.-]+)\(/.exec(text.slice(index))?.slice(1).find(Boolean) ??
    ""
  );
}

function offered(calls: readonly WrittenCall[], at: number, tools: OfferedTools): EndCalls {
  const blocks: ToolCallBlock[] = [];
  for (const { name, args: written, isText } of calls) {
    const tool = tools.get(name);
    if (!tool) return { name, problem: "not-offered" };
    const { args, malformed } = parseArguments(written);
    // Text gets the types that the tool states; if the schema costs too much, the registry says so.
    const repaired = isText ? attempt(() => repair({ ...args }, tool.parameters)) : undefined;
    const typed = isObject(repaired) ? repaired : args;
    blocks.push({ type: "tool-call", id: "", name: tool.name, args: typed, ...(malformed && { malformed }) });
  }
  return { at, calls: blocks };
}
