import { type Cursor, refusal } from "./cursor.ts";

/** The meaning of an escape: a character, or a part of a JavaScript expression. */
export type Escape =
  | { readonly kind: "code"; readonly code: number }
  /** A set: `inside` is what stands between `[` and `]`, if it can. */
  | { readonly kind: "class"; readonly source: string; readonly inside: string | undefined }
  | { readonly kind: "place"; readonly source: string }
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "reference";
      readonly number: number | undefined;
      readonly name: string | undefined;
      readonly shown: string;
    };

const spaces = "\\t \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000";

/** The escapes that are sets in JavaScript or in another engine. */
const classes = new Map<string, readonly [source: string, inside?: string]>([
  ...[..."dDwWsS"].map((letter) => [letter, [`\\${letter}`, `\\${letter}`]] as const),
  ["h", [`[${spaces}]`, spaces]],
  ["H", [`[^${spaces}]`]],
  ["V", ["[^\\n\\v\\f\\r\\u0085\\u2028\\u2029]"]],
  ["N", ["."]],
]);

/** Places between characters. A line is matched alone, so it begins and ends where a text does. */
const places = new Map(
  Object.entries({
    ...{ b: "\\b", B: "\\B", A: "^", z: "$", Z: "$", K: "", E: "" },
    ...{ "<": "\\b(?=\\w)", ">": "\\b(?<=\\w)" },
  }),
);

const halves = new Map(
  Object.entries({ start: "\\b(?=\\w)", end: "\\b(?<=\\w)", "start-half": "(?<!\\w)", "end-half": "(?!\\w)" }),
);

const controls = new Map(Object.entries({ a: 7, e: 27, f: 12, n: 10, r: 13, t: 9, v: 11, 0: 0 }));

/** Reads an escape, which begins here. `inSet` tells that it stands between `[` and `]`. */
export function readEscape(cursor: Cursor, inSet: boolean): Escape {
  const quoted = cursor.take(/\\Q([\s\S]*?)(?:\\E|$)/y);
  if (quoted !== undefined) return { kind: "text", text: quoted[1] ?? "" };
  const code = readCode(cursor);
  if (code !== undefined) return { kind: "code", code };
  const reference = inSet ? undefined : readReference(cursor);
  if (reference !== undefined) return reference;
  const property = cursor.take(/\\([pP])(?:\{(\^?)([^}]*)\}|([A-Za-z]))/y);
  if (property !== undefined) return propertyOf(property);
  const half = inSet ? undefined : cursor.take(/\\b\{([a-z-]+)\}/y);
  if (half !== undefined) {
    const source = halves.get(half[1] ?? "");
    if (source === undefined) throw refusal(`${half[0]} is no place that is known`, "write \\b");
    return { kind: "place", source };
  }
  return readLetter(cursor, inSet);
}

function readLetter(cursor: Cursor, inSet: boolean): Escape {
  const start = cursor.at;
  cursor.take(/\\/y);
  const code = cursor.takeCode();
  const letter = String.fromCodePoint(code);
  if (inSet && letter === "b") return { kind: "code", code: 8 };
  const place = inSet ? undefined : places.get(letter);
  if (place !== undefined) return { kind: "place", source: place };
  const [source, inside] = classes.get(letter) ?? [];
  if (source !== undefined && !(inSet && inside === undefined)) return { kind: "class", source, inside };
  if (/[^A-Za-z0-9]/.test(letter)) return { kind: "code", code };
  const shown = cursor.text.slice(start, cursor.at);
  if (letter === "R" || letter === "X" || letter === "C")
    throw refusal(`${shown} can stand for a line break, and each line is matched alone`, "write . or \\s");
  if (/\d/.test(letter)) throw refusal(`${shown} is an octal number in other engines`, "write it as \\xHH");
  if (letter === "G") throw refusal(`${shown} has no meaning here`, "write ^ for the start of the line");
  throw refusal(
    `${shown} is not an escape of JavaScript${inSet ? " within [ ]" : ""}`,
    `write ${letter} for the letter`,
  );
}

/** Reads an escape of a character by its number. */
function readCode(cursor: Cursor): number | undefined {
  const pair = cursor.take(/\\u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/y);
  if (pair !== undefined) {
    const [high = 0, low = 0] = pair.slice(1).map((hex) => Number.parseInt(hex, 16));
    return ((high - 0xd800) << 10) + low - 0xdc00 + 0x10000;
  }
  const hex = cursor.take(
    /\\(?:[xuU]\{([\da-fA-F]+)\}|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|N\{U\+([\da-fA-F]+)\})/y,
  );
  if (hex !== undefined) return checkedCode(Number.parseInt(hex.slice(1).find(Boolean) ?? "", 16), hex[0]);
  const octal = cursor.take(/\\o\{([0-7]+)\}/y);
  if (octal !== undefined) return checkedCode(Number.parseInt(octal[1] ?? "", 8), octal[0]);
  const control = cursor.take(/\\c([A-Za-z])/y);
  if (control !== undefined) return (control[1]?.charCodeAt(0) ?? 0) & 31;
  if (cursor.look(/\\0\d/y))
    throw refusal(`${cursor.look(/\\\d+/y)?.[0]} is an octal number in other engines`, "write it as \\xHH");
  const letter = cursor.take(/\\([aefnrtv0])/y);
  if (letter !== undefined) return controls.get(letter[1] ?? "");
  const bad = cursor.look(/\\(?:[xuUoc])/y);
  if (bad !== undefined) throw refusal(`${bad[0]} needs the number of a character`, "write \\x41 or \\u0041");
  return undefined;
}

function checkedCode(code: number, shown: string): number {
  if (code <= 0x10ffff) return code;
  throw refusal(`${shown} is no character`, "the last one is \\u{10FFFF}");
}

function readReference(cursor: Cursor): Escape | undefined {
  const found =
    cursor.take(/\\([1-9]\d*)|\\g\{(-?\d+)\}|\\g(-?\d+)/y) ??
    cursor.take(/\\(?:k<()()()([^>]+)>|[kg]\{()()()([^}]+)\}|k'()()()([^']+)')/y);
  if (found === undefined) {
    if (!cursor.look(/\\[gk]/y)) return undefined;
    throw refusal(`${cursor.look(/\\[gk].?/y)?.[0]} is no reference that is known`, "write \\1 or \\k<name>");
  }
  const values = found.slice(1).filter(Boolean);
  const number = /^-?\d+$/.test(values[0] ?? "") ? Number(values[0]) : undefined;
  return { kind: "reference", number, name: number === undefined ? values[0] : undefined, shown: found[0] };
}

/** Reads `\p{…}` by the names of JavaScript, and by those that other engines take for categories and scripts. */
function propertyOf([shown, letter, negated, braced, single]: RegExpExecArray): Escape {
  const name = (braced ?? single ?? "").trim();
  const isNegated = (letter === "P") !== (negated === "^");
  const ways = [name, `Script=${name}`, capital(name), `Script=${capital(name)}`];
  const known = ways.find((way) => isProperty(way));
  if (known === undefined)
    throw refusal(`${shown} is no property of characters here`, "write \\p{L}, \\p{Lu} or \\p{Script=Greek}");
  const source = `\\${isNegated ? "P" : "p"}{${known}}`;
  return { kind: "class", source, inside: source };
}

function capital(name: string): string {
  return name.replace(
    /(^|[ _-])([a-z])/gi,
    (_, before: string, first: string) => `${before && "_"}${first.toUpperCase()}`,
  );
}

function isProperty(name: string): boolean {
  try {
    new RegExp(`\\p{${name}}`, "u");
    return true;
  } catch {
    return false;
  }
}
