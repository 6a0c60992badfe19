/**
 * A pattern of a .gitignore as git's `wildmatch` reads it, byte by byte. The time to match grows with the pattern times the
 * path, whatever the pattern: a .gitignore comes with the files and may be hostile.
 */
export interface IgnoreGlob {
  matches(path: string): boolean;
}

/** One step of a pattern: a byte, a set of bytes, or one of the kinds below. */
type Step = number | ReadonlySet<number>;

/** `?`: one byte of a name. */
const one = -1;
/** `*`: any bytes of a name. */
const star = -2;
/** `**` between slashes: any bytes. */
const anything = -3;
/** Before the `**` of a whole directory name: that and its slash may be left out. */
const optional = -4;

const slash = 47;
/** No path is longer, in bytes. */
const longestPath = 4096;

/** Undefined for a pattern that matches nothing: git takes it for broken, or it is too long. */
export function compileIgnoreGlob(pattern: string): IgnoreGlob | undefined {
  const steps = parseGlob(asBytes(pattern));
  const tooLong = steps !== undefined && fewestBytes(steps) > longestPath;
  return steps === undefined || tooLong ? undefined : { matches: (path) => matches(steps, asBytes(path)) };
}

/** One character for each byte of UTF-8: to git, `?` and a set stand for one byte. */
function asBytes(text: string): string {
  return /[^\u0000-\u007f]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Follows every way through the steps at once. */
function matches(steps: readonly Step[], path: string): boolean {
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
      }
    }
  };
  let reached: number[] = [];
  enter(reached, 0, 0);
  for (let position = 0; position < path.length && reached.length > 0; position += 1) {
    const byte = path.charCodeAt(position);
    const next: number[] = [];
    for (const at of reached) {
      const step = steps[at];
      if (step === undefined) continue;
      if (step === star || step === anything) {
        if (step === anything || byte !== slash) enter(next, at, position + 1);
      } else if (typeof step !== "number" ? step.has(byte) : step === one ? byte !== slash : step === byte) {
        enter(next, at + 1, position + 1);
      }
    }
    reached = next;
  }
  return reached.includes(steps.length);
}

function parseGlob(glob: string): Step[] | undefined {
  const steps: Step[] = [];
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
      } else {
        steps.push(wide ? anything : star);
      }
    } else if (char === "?") {
      steps.push(one);
      at += 1;
    } else if (char === "[") {
      const set = parseSet(glob, at + 1);
      if (set === undefined) return undefined;
      steps.push(set.bytes);
      at = set.end;
    } else {
      if (char === "\\") at += 1;
      if (at === glob.length) return undefined;
      steps.push(glob.charCodeAt(at));
      at += 1;
    }
  }
  return steps;
}

function fewestBytes(steps: readonly Step[]): number {
  const bytes = steps.filter((step) => typeof step !== "number" || step >= one).length;
  return bytes - steps.filter((step) => step === optional).length;
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

/** A set whose first byte after `[` is at `start`; `end` is behind its `]`. A set never matches a slash. */
function parseSet(glob: string, start: number): { bytes: ReadonlySet<number>; end: number } | undefined {
  const listed = new Set<number>();
  const addRange = (from: number, to: number): void => {
    for (let byte = from; byte <= to; byte += 1) listed.add(byte);
  };
  const negated = glob[start] === "!" || glob[start] === "^";
  let at = negated ? start + 1 : start;
  // What a `-` would count from.
  let from: number | undefined;
  do {
    const escaped = glob[at] === "\\";
    if (escaped) at += 1;
    const char = glob[at];
    if (char === undefined) return undefined;
    const name = !escaped && char === "[" ? nameOfSet(glob, at) : undefined;
    if (!escaped && char === "-" && from !== undefined && at + 1 < glob.length && glob[at + 1] !== "]") {
      at += glob[at + 1] === "\\" ? 2 : 1;
      if (at >= glob.length) return undefined;
      addRange(from, glob.charCodeAt(at));
      from = undefined;
    } else if (name !== undefined) {
      const ranges = Object.hasOwn(namedSets, name) ? namedSets[name] : undefined;
      if (ranges === undefined) return undefined;
      for (let i = 0; i < ranges.length; i += 2) addRange(ranges.charCodeAt(i), ranges.charCodeAt(i + 1));
      at += name.length + 3;
      from = undefined;
    } else {
      from = char.charCodeAt(0);
      listed.add(from);
    }
    at += 1;
  } while (glob[at] !== "]");
  const bytes = new Set<number>();
  for (let byte = 0; byte < 256; byte += 1) if (byte !== slash && listed.has(byte) !== negated) bytes.add(byte);
  return { bytes, end: at + 1 };
}

/** `alpha` where `[:alpha:]` begins at `at`; undefined where the bracket is a byte like any other. */
function nameOfSet(glob: string, at: number): string | undefined {
  if (glob[at + 1] !== ":") return undefined;
  const close = glob.indexOf("]", at + 2);
  return close > at + 2 && glob[close - 1] === ":" ? glob.slice(at + 2, close - 1) : undefined;
}
