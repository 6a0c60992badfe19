import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";

/** Runs a sticky or global pattern from a place on. */
export function matchAt(pattern: RegExp, text: string, place: number): RegExpExecArray | undefined {
  pattern.lastIndex = place;
  return pattern.exec(text) ?? undefined;
}

/** Returns the place behind what a sticky pattern matches there; the place itself where it matches nothing. */
export function behind(pattern: RegExp, text: string, place: number): number {
  return place + (matchAt(pattern, text, place)?.[0].length ?? 0);
}

/** Returns the end of the JSON object or list that begins at a place, by its brackets; undefined if they are not closed. */
export function jsonEnd(text: string, place: number): number | undefined {
  if (text[place] !== "{" && text[place] !== "[") return undefined;
  let level = 0;
  for (let index = place; index < text.length; index += 1) {
    const sign = text[index];
    if (sign === '"') index = stringEnd(text, index) ?? text.length;
    else if (sign === "{" || sign === "[") level += 1;
    else if (sign === "}" || sign === "]") level -= 1;
    if (level === 0) return index + 1;
  }
  return undefined;
}

/** Returns the place of the quote that closes the one at a place. An expression would need a stack as long as the text. */
function stringEnd(text: string, place: number): number | undefined {
  for (let index = place + 1; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === text[place]) return index;
  }
  return undefined;
}

const words: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };
const closers: Readonly<Record<string, string>> = { "(": "]", "[": "]", "{": "}" };
const token =
  /\s*(?:("""|'''|"|')|([A-Za-z_][\w.-]*)\s*([(=])|(True|False|None|true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([[({,:})\]]))/y;

/**
 * Reads one call in Python's form, or a list of such, from a place on: `[look(path="a", depth=2)]`. Returns `[name, arguments]` pairs and the
 * end; undefined for anything else, so for arguments without a name. It is translated to JSON, token by token.
 */
export function readPython(text: string, place: number): { pairs: [string, object][]; end: number } | undefined {
  const open: string[] = [];
  const json: string[] = [];
  let calls = 0;
  let end = place;
  do {
    const found = matchAt(token, text, end);
    if (!found) return undefined;
    end += found[0].length;
    const [, quotes, name, after, word, sign = ""] = found;
    if (quotes !== undefined) {
      const close = quotes.length === 1 ? stringEnd(text, end - 1) : text.indexOf(quotes, end);
      if (close === undefined || close < 0) return undefined;
      json.push(JSON.stringify(unescaped(text.slice(end, close))));
      end = close + quotes.length;
    } else if (name !== undefined && after === "(") {
      // A call within a call is no value.
      if (open.length > 1) return undefined;
      calls += 1;
      open.push("}]");
      json.push(`[${JSON.stringify(name)},{`);
    } else if (name !== undefined) json.push(`${JSON.stringify(name)}:`);
    else if (word !== undefined) json.push(words[word] ?? word);
    else if (sign === "," || sign === ":") json.push(sign);
    else if (closers[sign] !== undefined) {
      open.push(closers[sign]);
      json.push(sign === "(" ? "[" : sign);
    } else {
      const closer = open.pop();
      if (closer === undefined || (sign === ")" ? closer === "}" : closer !== sign)) return undefined;
      if (json.at(-1) === ",") json.pop();
      json.push(closer);
    }
  } while (open.length > 0);
  const value = parsed(json.join(""));
  const list = Array.isArray(value) && typeof value[0] === "string" ? [value] : value;
  if (!Array.isArray(list) || list.length === 0 || list.length !== calls || !list.every(isPair)) return undefined;
  return { pairs: list, end };
}

function isPair(value: unknown): value is [string, object] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [name, args] = value;
  return typeof name === "string" && isObject(args);
}

function unescaped(text: string): string {
  const signs: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0", "\n": "", b: "\b", f: "\f" };
  const escaped = /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|([\s\S]))/g;
  return text.replace(escaped, (whole: string, ...[hex, short, long, sign = ""]: string[]) => {
    const code = hex ?? short ?? long;
    if (code !== undefined)
      return Number.parseInt(code, 16) > 0x10ffff ? whole : String.fromCodePoint(Number.parseInt(code, 16));
    return signs[sign] ?? (/["'\\]/.test(sign) ? sign : whole);
  });
}

export function parsed(json: string): unknown {
  return attempt(() => JSON.parse(json));
}
