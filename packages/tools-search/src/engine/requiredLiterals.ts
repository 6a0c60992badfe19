/**
 * Strings of which a line must hold at least one for a regular expression to match. Undefined where nothing is known (a
 * character class alone, an optional part, …). It may miss a required string, but never returns one that is not required.
 */
export function requiredLiterals(source: string): string[] | undefined {
  return readAll(source)?.literals;
}

/** Whether a regular expression can only match text that holds a line feed. May miss some that do. */
export function needsLineBreak(source: string): boolean {
  return readAll(source)?.breaksLine ?? false;
}

/** Undefined for a source that is malformed, or nested so deeply that the stack ends. */
function readAll(source: string): Known | undefined {
  const reader: Reader = { source, at: 0 };
  try {
    const known = readAlternatives(reader);
    return reader.at === source.length ? known : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** What is known of a part: literals of which one is required, and whether a line feed is. */
interface Known {
  literals: string[] | undefined;
  breaksLine: boolean;
}

interface Reader {
  source: string;
  at: number;
}

const mostAlternatives = 8;
const loneSurrogate = /[\ud800-\udfff]/u;
const metaCharacters = new Set("^$\\.*+?()[]{}|");

/** Reads `a|b|c` up to its end or `)`: one known set for each alternative, or nothing. */
function readAlternatives(reader: Reader): Known {
  let all: string[] | undefined = [];
  let breaksLine = true;
  for (;;) {
    const one = readSequence(reader);
    all = all === undefined || one.literals === undefined ? undefined : [...all, ...one.literals];
    breaksLine &&= one.breaksLine;
    if (reader.source[reader.at] !== "|") break;
    reader.at += 1;
  }
  return { literals: all !== undefined && all.length <= mostAlternatives ? all : undefined, breaksLine };
}

/** Reads one alternative and keeps its longest required part. */
function readSequence(reader: Reader): Known {
  let best: string[] | undefined;
  let run = "";
  let breaksLine = false;
  const offer = (candidate: string[] | undefined): void => {
    if (candidate !== undefined && weight(candidate) > weight(best)) best = candidate;
  };
  const endRun = (): void => {
    if (run !== "") offer([run]);
    run = "";
  };
  while (reader.at < reader.source.length) {
    const char = reader.source[reader.at] as string;
    if (char === "|" || char === ")") break;
    const part = readPart(reader, char);
    const repeats = readQuantifier(reader);
    if (repeats !== "optional") breaksLine ||= part.literal === "\n" || part.inner?.breaksLine === true;
    if (part.literal !== undefined && repeats !== "optional") {
      run += part.literal;
      if (repeats === "more") endRun();
    } else if (part.zeroWidth && repeats === "once") {
      // Matches no character, so its neighbours in the pattern are neighbours in the text.
    } else {
      endRun();
      if (repeats !== "optional") offer(part.inner?.literals);
    }
  }
  endRun();
  return { literals: best, breaksLine };
}

interface Part {
  literal?: string;
  zeroWidth?: boolean;
  inner?: Known;
}

function readPart(reader: Reader, char: string): Part {
  const { source } = reader;
  if (char === "(") return readGroup(reader);
  if (char === "[") {
    reader.at += 1;
    while (reader.at < source.length && source[reader.at] !== "]") reader.at += source[reader.at] === "\\" ? 2 : 1;
    reader.at += 1;
    return {};
  }
  if (char === "\\") {
    const next = source[reader.at + 1] ?? "";
    reader.at += 2;
    if (next === "b") return { zeroWidth: true };
    if (next === "n") return { literal: "\n" };
    if (!/[A-Za-z0-9]/.test(next)) return { literal: next };
    // \x41, \u{…}, \p{…}, \k<…>, \cX and back references: what follows belongs to the escape.
    if (/[xupPkc1-9]/.test(next)) reader.at = source.length + 1;
    return {};
  }
  if (char === "^" || char === "$") {
    reader.at += 1;
    return { zeroWidth: true };
  }
  const literal = String.fromCodePoint(source.codePointAt(reader.at) as number);
  reader.at += literal.length;
  return metaCharacters.has(char) || loneSurrogate.test(literal) ? {} : { literal };
}

function readGroup(reader: Reader): Part {
  const { source } = reader;
  const opening = /^\((?:\?(?::|<(?![=!])[^>]*>))?/.exec(source.slice(reader.at, reader.at + 64))?.[0] ?? "(";
  // Look-around and inline flags are not analysed.
  if (source.startsWith("(?", reader.at) && opening === "(") {
    reader.at = source.length + 1;
    return {};
  }
  reader.at += opening.length;
  const inner = readAlternatives(reader);
  reader.at += 1;
  return { inner };
}

function readQuantifier(reader: Reader): "once" | "more" | "optional" {
  const quantifier = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(reader.source.slice(reader.at, reader.at + 32));
  if (quantifier === null) return "once";
  reader.at += quantifier[0].length;
  if (quantifier[0].startsWith("+")) return "more";
  return quantifier[1] !== undefined && Number(quantifier[1]) > 0 ? "more" : "optional";
}

/** A set is worth as much as its shortest member. */
function weight(literals: string[] | undefined): number {
  return literals === undefined ? 0 : Math.min(...literals.map((one) => one.length));
}
