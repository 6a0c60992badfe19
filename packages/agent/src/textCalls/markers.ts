import { type BareFormat, bareFormats, type CallFormat, markedFormats } from "./formats.ts";
import { matchAt } from "./literals.ts";

export const thinkTags = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["[THINK]", "[/THINK]"],
] as const;
export type ThinkTags = (typeof thinkTags)[number];

/** A token that begins something other than text. `isEnd`: it ends thinking whose beginning the reply lacks. */
export type Marker = { readonly format: CallFormat } | { readonly tags: ThinkTags; readonly isEnd: boolean };

/** Characters that decide whether a marker begins. */
export const longestMarker = 160;

type Token = readonly [token: string, marker: Marker];
const tokens: readonly Token[] = [
  ...markedFormats.flatMap((format) => format.markers.map((token): Token => [token, { format }])),
  ...thinkTags.map((tags): Token => [tags[1], { tags, isEnd: true }]),
];
const lineTokens: readonly Token[] = [...tokens, ...thinkTags.map((tags): Token => [tags[0], { tags, isEnd: false }])];

/** A place in Markdown text that is read character by character. */
export class MarkdownPlace {
  #line = "";
  #fence = "";
  #inSpan = false;
  #last = "";

  advance(piece: string): void {
    for (const [index, part] of piece.split("\n").entries()) {
      if (index > 0) this.#endLine();
      if (this.#line.length < 200) this.#line += part.slice(0, 200);
      for (const run of part.matchAll(/`+/g)) if (run.index > 0 || this.#last !== "`") this.#inSpan = !this.#inSpan;
      this.#last = part.at(-1) ?? this.#last;
    }
  }

  /** True in code and in a quoted line. */
  get isQuoted(): boolean {
    return this.#fence !== "" || this.#inSpan || /^(?: {4}| {0,3}(?:\t|>|`{3}|~{3}))/.test(this.#line);
  }

  get isLineStart(): boolean {
    return this.#line.trim() === "";
  }

  #endLine(): void {
    const run = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(this.#line)?.[1];
    if (this.#fence === "") this.#fence = run ?? "";
    else if (run?.startsWith(this.#fence) && this.#line.trim() === run) this.#fence = "";
    this.#line = this.#last = "";
    this.#inSpan = false;
  }
}

/** Returns the marker with which the text begins at a place; `part` if it may become one once more has come. */
export function markerAt(
  text: string,
  index: number,
  place: MarkdownPlace,
  names: { has(name: string): boolean },
): Marker | "part" | undefined {
  const first = text[index];
  if ((first !== "<" && first !== "[" && first !== "{") || place.isQuoted) return undefined;
  const { isLineStart } = place;
  const tail = text.slice(index, index + longestMarker);
  const isLast = index + longestMarker >= text.length;
  const fitting = isLineStart ? lineTokens : tokens;
  const found = fitting.find(([token]) => tail.startsWith(token));
  if (found) return found[1];
  if (isLast && fitting.some(([token]) => token.startsWith(tail))) return "part";
  const bare = isLineStart ? bareFormats.find((format) => begins(format, tail, names)) : undefined;
  if (bare) return { format: bare };
  return isLineStart && isLast && bareFormats.some(({ part }) => part.test(tail)) ? "part" : undefined;
}

const starts = /[<[{]/g;

/** Finds the first marker at `from` or behind it, and takes the place from `index` to it, or to the end. */
export function findMarker(
  text: string,
  index: number,
  from: number,
  place: MarkdownPlace,
  names: { has(name: string): boolean },
): { readonly index: number; readonly marker: Marker | "part" } | undefined {
  let at = index;
  for (let found = matchAt(starts, text, from); found; found = matchAt(starts, text, at + 1)) {
    place.advance(text.slice(at, found.index));
    at = found.index;
    const marker = markerAt(text, at, place, names);
    if (marker) return { index: at, marker };
  }
  place.advance(text.slice(at));
  return undefined;
}

function begins({ whole }: BareFormat, tail: string, names: { has(name: string): boolean }): boolean {
  const [found, name] = whole.exec(tail) ?? [];
  return found !== undefined && (name === undefined || names.has(name));
}
