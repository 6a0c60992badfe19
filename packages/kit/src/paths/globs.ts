import { isAscii } from "./foldCase.ts";
import { longestPath } from "./pathStyle.ts";

/*
 * The one compiler of globs. A glob is a list of names, each tested alone, and `**` for any number of names. The time to match grows with
 * the glob times the path, whatever the glob: some come with the files that they are for, and may be hostile.
 */

/** Tests one name of a path. */
export type NameTest = (name: string) => boolean;

/** A compiled glob. */
export interface Glob {
  /** Tests one name, as `asBytes` writes it; undefined if the pattern is not one name alone. */
  readonly ofName?: NameTest | undefined;
  matches(path: string): boolean;
  /** Returns which part of `path` matches: one of the directories that it names ("parent"), or only all of it ("whole"). */
  matchHead(path: string): "parent" | "whole" | undefined;
  /** Returns false if no path that begins with `folder`, which is empty or ends in `/`, matches. */
  mayMatchBelow(folder: string): boolean;
}

/** A part of a glob: a name; `**` for any number of names; or a name that several names written exactly so may stand in for. */
type Part = NameTest | "**" | { readonly test: NameTest; readonly exact: readonly NameTest[] };

/** A place between the names of a glob: `test` leads on to the place `to`, and nothing at all to `or`. */
interface Place {
  readonly test: NameTest;
  readonly to: number;
  readonly or?: number;
}

function placesOf(parts: readonly Part[]): readonly Place[] {
  const places: Place[] = [];
  for (const [number, part] of parts.entries()) {
    const at = places.length;
    if (typeof part === "function") places.push({ test: part, to: at + 1 });
    else if (part !== "**") {
      const end = at + 1 + part.exact.length;
      places.push({ test: part.test, to: end, or: at + 1 });
      places.push(...part.exact.map((test, offset) => ({ test, to: at + 2 + offset })));
    } else if (number === parts.length - 1) {
      // At the end it stands for one name at least.
      places.push({ test: any, to: at + 1 }, { test: any, to: at + 1, or: at + 2 });
    } else if (parts[number - 1] !== "**") places.push({ test: any, to: at, or: at + 1 });
  }
  return places;
}

const any: NameTest = () => true;

/** Compiles a list of names. A `**` at the end stands for one name at least, any other for any number. */
export function compileNames(parts: readonly Part[]): Glob {
  const places = placesOf(parts);
  const end = places.length;
  /** Follows every way through the places at once, until the end is reached; returns the places, and how many names were read. */
  const follow = (path: readonly string[], isForHead: boolean): { reached: readonly number[]; read: number } => {
    const entered: number[] = [];
    let reached: number[] = [];
    let read = 0;
    const enter = (at: number): void => {
      if (entered[at] === read) return;
      entered[at] = read;
      reached.push(at);
      const or = places[at]?.or;
      if (or !== undefined) enter(or);
    };
    enter(0);
    while (read < path.length && reached.length > 0 && !(isForHead && read > 0 && entered[end] === read)) {
      const name = path[read] as string;
      const before = reached;
      reached = [];
      read += 1;
      for (const at of before) {
        const place = places[at];
        if (place?.test(name)) enter(place.to);
      }
    }
    return { reached, read };
  };
  const [first, last] = [parts[0], parts.at(-1)];
  // Most globs are for the last name alone.
  const decides = parts.length === (first === "**" ? 2 : 1) && typeof last === "function" ? last : undefined;
  return {
    matches(path) {
      if (decides === undefined) return follow(path.split("/"), false).reached.includes(end);
      const start = path.lastIndexOf("/") + 1;
      return (start === 0 || first === "**") && decides(path.slice(start));
    },
    matchHead(path) {
      const all = path.split("/");
      const { reached, read } = follow(all, true);
      if (!reached.includes(end)) return undefined;
      return read < all.length ? "parent" : "whole";
    },
    mayMatchBelow: (folder) => follow(folder.split("/").slice(0, -1), false).reached.some((at) => at < end),
  };
}

/** A set, and all that may stand in it; a `*`, any other character, which a backslash may escape. */
const unit = /(\*+)|\[([!^]?)|\\?([\s\S])/y;
const member = /\[:([^\]]{0,99}):\]|(\\[\s\S]|[^\\])(?:-(\\[\s\S]|[^\]\\]))?/y;

/** The characters of the classes of POSIX, as pairs of first and last. */
export const posixClasses: Readonly<Record<string, string>> = {
  alnum: "09AZaz",
  alpha: "AZaz",
  blank: "\t\t  ",
  cntrl: "\u0000\u001f\u007f\u007f",
  digit: "09",
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "  \t\n\r\r",
  upper: "AZ",
  xdigit: "09AFaf",
};

const unclosed = "a [ is never closed; write \\[ for the character itself";

/** A glob cut at its slashes: for each name its text, and an expression for each unit, `*` for a star. */
type Name = { text: string; units: string[] };

/** Reads a glob as git does; a text says why it is broken. With `ignoreCase` letters of ASCII are small ones in the paths. */
function readNames(glob: string, ignoreCase: boolean): Name[] | string {
  let name: Name = { text: "", units: [] };
  const names = [name];
  for (let at = 0; at < glob.length; ) {
    unit.lastIndex = at;
    const [whole, stars, negation, char = ""] = unit.exec(glob) ?? [""];
    let end = at + whole.length;
    if (whole === "\\") return "it ends in a \\ that escapes nothing";
    if (negation !== undefined) {
      const set = readSet(glob, end, negation, ignoreCase);
      if (typeof set === "string") return set;
      name.units.push(set.source);
      end = set.end;
    } else if (char !== "/") {
      const one = whole === "?" ? "[^]" : sourceOf(ignoreCase ? lowerCase(char) : char);
      name.units.push(stars === undefined ? one : "*");
    }
    name.text += glob.slice(at, char === "/" ? end - 1 : end);
    if (char === "/") {
      name = { text: "", units: [] };
      names.push(name);
    }
    at = end;
  }
  return names;
}

/** Reads a set whose members begin at `start`; `end` is behind its `]`. */
function readSet(
  glob: string,
  start: number,
  negation: string,
  ignoreCase: boolean,
): { source: string; end: number } | string {
  // Each once: a hostile set may be long.
  const ranges = new Set<string>();
  const add = (from: string, end: string): void => {
    // Of a range in the wrong order git takes the first character.
    const to = end < from ? from : end;
    if (from === "/" && to === "/") return;
    ranges.add(`${sourceOf(from)}-${sourceOf(to)}`);
    const [first, last] = [from > "A" ? from : "A", to < "Z" ? to : "Z"];
    if (ignoreCase && first <= last) ranges.add(`${lowerCase(first)}-${lowerCase(last)}`);
  };
  member.lastIndex = start;
  do {
    const [, named, from, to = from] = member.exec(glob) ?? [];
    if (named !== undefined) {
      const pairs = Object.hasOwn(posixClasses, named) ? posixClasses[named] : undefined;
      if (pairs === undefined)
        return `it names an unknown class of characters; known: ${Object.keys(posixClasses).join(", ")}`;
      for (const [pair = ""] of pairs.matchAll(/../gs)) add(pair.charAt(0), pair.charAt(1));
    } else if (from !== undefined && to !== undefined) {
      add(from.slice(-1), to.slice(-1));
    } else {
      return unclosed;
    }
  } while (glob[member.lastIndex] !== "]");
  if (ranges.size === 0 && negation === "") return "a [...] in it fits no character";
  return { source: `[${negation && "^"}${[...ranges].join("")}]`, end: member.lastIndex + 1 };
}

function lowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Writes a character as part of an expression. */
function sourceOf(char: string): string {
  return /\w/.test(char) ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Compiles one name of a glob. */
function testOf({ text, units }: Name, ignoreCase: boolean): NameTest {
  // Most names are plain, or have one `*`.
  const [, head = "", star, ending = ""] =
    /^([^*?[\\]*)(\*?)([^*?[\\]*)$/.exec(ignoreCase ? lowerCase(text) : text) ?? [];
  if (star === "") return (name) => name === head;
  const fewest = head.length + ending.length;
  if (star === "*") return (name) => name.length >= fewest && name.startsWith(head) && name.endsWith(ending);
  const parts = units.join("").split("*");
  const [first, last] = [parts.shift(), parts.pop()];
  // The text before each star but the first is taken where it is first found, and not looked for again.
  const between = parts.map((part, number) => `(?=(?<part${number}>[^]*?${part}))\\k<part${number}>`);
  const expression = new RegExp(`^${first}${last === undefined ? "" : `${between.join("")}[^]*${last}`}$`);
  return (name) => expression.test(name);
}

/** Compiles a glob of one name, unit by unit of UTF-16; one that holds a slash fits none. Undefined for a broken one. */
export function compileName(glob: string): NameTest | undefined {
  const names = readNames(glob, false);
  if (typeof names === "string") return undefined;
  const [name, ...others] = names;
  return name === undefined || others.length > 0 ? () => false : testOf(name, false);
}

/**
 * Compiles a pattern as git's `wildmatch` reads it (`*`, `?`, `[...]`, `**`), byte by byte. One that git takes for broken, or that is too
 * long, gives the reason as a string: it matches nothing. With `ignoreCase` letters beyond ASCII are expected to be folded already. With
 * `literalNames` each name of the pattern also matches the name that is written exactly like it, such as `[id]`, which git does not.
 */
export function compileWildmatch(pattern: string, ignoreCase = false, literalNames = false): Glob | string {
  const glob = asBytes(pattern);
  // git compares what stands before the first wildcard on its own, and what follows begins anew.
  const [, start = "", rest = glob] = /^([^*?[\\]*[^*?[\\/])(\*\*+(?:\\?\/[\s\S]*)?)$/.exec(glob) ?? [];
  const names = readNames(rest, ignoreCase);
  if (typeof names === "string") return names;
  const fewest = names.reduce((sum, { units }) => sum + units.filter((one) => one !== "*").length, start.length);
  if (fewest > longestPath) return `it only fits paths of more than ${longestPath} bytes`;
  const asPath = (text: string): string => (ignoreCase ? lowerCase(text) : text);
  const parts = names.flatMap((name): Part[] => {
    const { text } = name;
    // Before an escaped slash it stands for one name at least.
    if (/^\*\*+\\?$/.test(text)) return text.endsWith("\\") ? [any, "**"] : ["**"];
    const test = testOf(name, ignoreCase);
    if (!literalNames || !/[[\\]/.test(text)) return [test];
    const [only, ...more] = asPath(text).split("/");
    // A set with a slash in it is the text of several names.
    if (more.length > 0) return [{ test, exact: [only, ...more].map((exact) => (one) => one === exact) }];
    return [(one) => one === only || test(one)];
  });
  const compiled = compileNames(parts);
  const head = asPath(start);
  const behindHead = (path: string): string | undefined => {
    const bytes = asBytes(path);
    return bytes.startsWith(head) ? bytes.slice(head.length) : undefined;
  };
  const [only] = parts;
  return {
    ofName: typeof only === "function" && parts.length === 1 && head === "" ? only : undefined,
    matches(path) {
      const behind = behindHead(path);
      return behind !== undefined && compiled.matches(behind);
    },
    matchHead(path) {
      const behind = behindHead(path);
      return behind === undefined ? undefined : compiled.matchHead(behind);
    },
    mayMatchBelow(folder) {
      const behind = behindHead(folder);
      return behind === undefined ? head.startsWith(asBytes(folder)) : compiled.mayMatchBelow(behind);
    },
  };
}

/** Writes one character for each byte of UTF-8: to git, `?` and a set stand for one byte. */
export function asBytes(text: string): string {
  return isAscii(text) ? text : Buffer.from(text).toString("latin1");
}
