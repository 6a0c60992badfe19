import { longestPath } from "./pathStyle.ts";

/**
 * A pattern as git's `wildmatch` reads it (`*`, `?`, `[...]`, `**`), byte by byte. The time to match grows with the pattern times
 * the path, whatever the pattern: patterns come with the files that they are for, and may be hostile.
 */
export interface Wildmatch {
  matches(path: string): boolean;
  /** Returns which part of `path` matches: one of the directories that it names ("parent"), or only all of it ("whole"). */
  matchHead(path: string): "parent" | "whole" | undefined;
  /** Returns false if no path that begins with `head` matches. */
  mayMatchBelow(head: string): boolean;
}

/** One step of a pattern: a byte, a set of bytes, ways to go on (how many steps ahead each begins), or one of the kinds below. */
type Step = number | ReadonlySet<number> | readonly number[];

/** `?`: one byte of a name. */
const one = -1;
/** `*`: any bytes of a name. */
const star = -2;
/** `**` between slashes: any bytes. */
const anything = -3;
/** Before the `**` of a whole directory name: that and its slash may be left out. */
const optional = -4;

const slash = 47;
const unclosed = "a [ is never closed; write \\[ for the character itself";

/**
 * Compiles a pattern. One that git takes for broken, or that is too long, gives the reason as a string: it matches nothing. With `ignoreCase`
 * letters beyond ASCII are expected to be folded already. With `literalNames` each name of the pattern also matches the name that is written
 * exactly like it, such as `[id]`, which git does not.
 */
export function compileWildmatch(pattern: string, ignoreCase = false, literalNames = false): Wildmatch | string {
  const steps = parseGlob(asBytes(pattern), ignoreCase, literalNames);
  if (typeof steps === "string") return steps;
  if (fewestBytes(steps) > longestPath) return `it only fits paths of more than ${longestPath} bytes`;
  const { head, inside, tail } = literalsOf(steps);
  const byEnd = needsOnlyItsEnd(steps);
  return {
    matches: (path) =>
      path.endsWith(tail) &&
      (byEnd || (path.startsWith(head) && path.includes(inside) && follow(steps, asBytes(path)).ended)),
    matchHead(path) {
      if (!path.startsWith(head) || !path.includes(inside)) return undefined;
      let found: "parent" | undefined;
      const { ended } = follow(steps, asBytes(path), () => {
        found = "parent";
      });
      return found ?? (ended ? "whole" : undefined);
    },
    mayMatchBelow: (head) => follow(steps, asBytes(head)).alive,
  };
}

/** Writes one character for each byte of UTF-8: to git, `?` and a set stand for one byte. */
function asBytes(text: string): string {
  return /[^\u0000-\u007f]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Finds what every matching path begins with, holds and ends with: it decides most paths alone. Only ASCII, and often empty. */
function literalsOf(steps: readonly Step[]): { head: string; inside: string; tail: string } {
  const runs = [""];
  for (let at = 0; at < steps.length; at += 1) {
    const step = steps[at];
    if (typeof step === "number" && step >= 0 && step < 128) {
      runs.push((runs.pop() ?? "") + String.fromCharCode(step));
    } else {
      runs.push("");
      // With the `**` its slash may be left out.
      if (step === optional) at += 2;
      if (isWays(step)) at = endOfWays(steps, at) - 1;
    }
  }
  const inside = runs.reduce((longest, run) => (run.length > longest.length ? run : longest));
  return { head: runs[0] ?? "", inside, tail: runs.at(-1) ?? "" };
}

/** Returns whether a pattern is `**` and `/*` and plain text without a slash, such as all files of one kind. */
function needsOnlyItsEnd([first, , , fourth, ...rest]: readonly Step[]): boolean {
  const isPlain = (step: Step): boolean => typeof step === "number" && step >= 0 && step < 128 && step !== slash;
  return first === optional && fourth === star && rest.every(isPlain);
}

/**
 * Follows every way through the steps at once. `ended`: the path matches; `alive`: a longer one may. `onParent` is called
 * where the directories before a slash match, and ends the search.
 */
function follow(
  steps: readonly Step[],
  path: string,
  onParent?: () => void,
): { readonly ended: boolean; readonly alive: boolean } {
  // For each step, how many bytes came before it was last reached.
  const reachedAt = new Int32Array(steps.length + 1).fill(-1);
  /** Adds a step, and what follows it where it may match nothing. */
  const enter = (reached: number[], first: number, position: number): void => {
    let at = first;
    while (reachedAt[at] !== position) {
      reachedAt[at] = position;
      reached.push(at);
      const step = steps[at];
      if (step === optional) {
        enter(reached, at + 1, position);
        at += 3;
      } else if (step === star || step === anything) {
        at += 1;
      } else if (isWays(step)) {
        for (const ahead of step) enter(reached, at + ahead, position);
      }
    }
  };
  let reached: number[] = [];
  enter(reached, 0, 0);
  for (let position = 0; position < path.length && reached.length > 0; position += 1) {
    const byte = path.charCodeAt(position);
    if (byte === slash && onParent !== undefined && reached.includes(steps.length)) {
      onParent();
      break;
    }
    const next: number[] = [];
    for (const at of reached) {
      const step = steps[at];
      if (step === undefined || isWays(step)) continue;
      if (step === star || step === anything) {
        if (step === anything || byte !== slash) enter(next, at, position + 1);
      } else if (typeof step !== "number" ? step.has(byte) : step === one ? byte !== slash : step === byte) {
        enter(next, at + 1, position + 1);
      }
    }
    reached = next;
  }
  return {
    ended: reached.includes(steps.length),
    alive: reached.some((at) => at < steps.length && !isWays(steps[at])),
  };
}

function isWays(step: Step | undefined): step is readonly number[] {
  return Array.isArray(step);
}

/** Returns where the ways that part at `at` come together again. */
function endOfWays(steps: readonly Step[], at: number): number {
  const parting = steps[at];
  const other = isWays(parting) ? at + (parting[1] ?? 1) : at + 1;
  const joining = steps[other - 1];
  return isWays(joining) ? other - 1 + (joining[0] ?? 1) : other;
}

/** Parses a glob. */
function parseGlob(glob: string, ignoreCase: boolean, literalNames: boolean): Step[] | string {
  const steps: Step[] = [];
  const nameStart = { glob: 0, step: 0 };
  /** Lets the name that ends here match its own text too. One without these characters does so as a pattern. */
  const endName = (end: number): void => {
    const text = glob.slice(nameStart.glob, end);
    if (!literalNames || !/[[\\]/.test(text)) return;
    const asPattern = steps.splice(nameStart.step);
    const asText = [...text].map((char) => (ignoreCase ? lowerCase(char.charCodeAt(0)) : char.charCodeAt(0)));
    steps.push([1, asPattern.length + 2], ...asPattern, [asText.length + 1], ...asText);
  };
  const beginName = (start: number): void => {
    nameStart.glob = start;
    nameStart.step = steps.length;
  };
  // git compares what stands before the first wildcard on its own, and what follows begins anew.
  const firstWildcard = glob.search(/[*?[\\]/);
  let at = 0;
  while (at < glob.length) {
    const char = glob[at];
    if (char === "*") {
      const end = at + (/^\*+/.exec(glob.slice(at))?.[0].length ?? 1);
      const opens = at === firstWildcard || glob[at - 1] === "/";
      const closes = end === glob.length || glob[end] === "/" || glob.startsWith("\\/", end);
      const wide = end - at > 1 && opens && closes;
      at = end;
      if (wide && glob[end] === "/") {
        // Repeated, it means the same.
        const repeated = steps.at(-3) === optional;
        if (!repeated) steps.push(optional, anything, slash);
        at += 1;
        beginName(at);
      } else {
        steps.push(wide ? anything : star);
      }
    } else if (char === "?") {
      steps.push(one);
      at += 1;
    } else if (char === "[") {
      const set = parseSet(glob, at + 1, ignoreCase);
      if (typeof set === "string") return set;
      if (set.bytes.size === 0) return "a [...] in it fits no character";
      steps.push(set.bytes);
      at = set.end;
    } else {
      const isEscaped = char === "\\";
      if (isEscaped) at += 1;
      if (at === glob.length) return "it ends in a \\ that escapes nothing";
      const byte = glob.charCodeAt(at);
      if (byte === slash && !isEscaped) endName(at);
      steps.push(ignoreCase ? lowerCase(byte) : byte);
      at += 1;
      if (byte === slash && !isEscaped) beginName(at);
    }
  }
  endName(glob.length);
  return steps;
}

function fewestBytes(steps: readonly Step[]): number {
  let bytes = 0;
  // A name counts as a pattern, not as text.
  for (let at = 0; at < steps.length; at += 1) {
    const step = steps[at];
    if (isWays(step)) at += (step[0] ?? 1) - 1;
    else if (step === optional) bytes -= 1;
    else if (typeof step !== "number" || step >= one) bytes += 1;
  }
  return bytes;
}

/** Bytes from one to another, as pairs. */
const namedSets: Readonly<Record<string, string>> = {
  alnum: "azAZ09",
  alpha: "azAZ",
  blank: "  \t\t",
  cntrl: "\u0000\u001f\u007f\u007f",
  digit: "09",
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "  \t\n\r\r",
  upper: "AZ",
  xdigit: "09afAF",
};

function lowerCase(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

/** Reads a set whose first byte after `[` is at `start`; `end` is behind its `]`. A set never matches a slash. */
function parseSet(
  glob: string,
  start: number,
  ignoreCase: boolean,
): { bytes: ReadonlySet<number>; end: number } | string {
  const listed = new Set<number>();
  const addRange = (from: number, to: number): void => {
    for (let byte = from; byte <= to; byte += 1) listed.add(ignoreCase ? lowerCase(byte) : byte);
  };
  const negated = glob[start] === "!" || glob[start] === "^";
  let at = negated ? start + 1 : start;
  // The character from which a `-` would count.
  let from: number | undefined;
  do {
    const escaped = glob[at] === "\\";
    if (escaped) at += 1;
    const char = glob[at];
    if (char === undefined) return unclosed;
    const name = !escaped && char === "[" ? nameOfSet(glob, at) : undefined;
    if (!escaped && char === "-" && from !== undefined && at + 1 < glob.length && glob[at + 1] !== "]") {
      at += glob[at + 1] === "\\" ? 2 : 1;
      if (at >= glob.length) return unclosed;
      addRange(from, glob.charCodeAt(at));
      from = undefined;
    } else if (name !== undefined) {
      const ranges = Object.hasOwn(namedSets, name) ? namedSets[name] : undefined;
      if (ranges === undefined)
        return `it names an unknown class of characters; known: ${Object.keys(namedSets).join(", ")}`;
      for (let i = 0; i < ranges.length; i += 2) addRange(ranges.charCodeAt(i), ranges.charCodeAt(i + 1));
      at += name.length + 3;
      from = undefined;
    } else {
      from = char.charCodeAt(0);
      addRange(from, from);
    }
    at += 1;
  } while (glob[at] !== "]");
  const bytes = new Set<number>();
  for (let byte = 0; byte < 256; byte += 1) if (byte !== slash && listed.has(byte) !== negated) bytes.add(byte);
  return { bytes, end: at + 1 };
}

/** Returns `alpha` if `[:alpha:]` begins at `at`; undefined where the bracket is a byte like any other. */
function nameOfSet(glob: string, at: number): string | undefined {
  if (glob[at + 1] !== ":") return undefined;
  const close = glob.indexOf("]", at + 2);
  return close > at + 2 && glob[close - 1] === ":" ? glob.slice(at + 2, close - 1) : undefined;
}
