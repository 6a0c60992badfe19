/** Gives the patterns that a pattern with choices (`{a,b}`, `{1..3}`) is meant to stand for, or the pattern itself. */
export function* choicesOf(pattern: string, from = 0): Generator<string, undefined> {
  for (let at = from; at < pattern.length; at += 1) {
    // What follows a backslash, and what stands in brackets, is itself.
    if (pattern[at] === "\\") at += 1;
    else if (pattern[at] === "[") at = Math.max(at, pattern.indexOf("]", at + 2));
    else if (pattern[at] === "{") {
      const { parts, end } = readBraces(pattern, at);
      if (parts.length < 2) continue;
      for (const part of parts) yield* choicesOf(pattern.slice(0, at) + part + pattern.slice(end), at);
      return;
    }
  }
  yield pattern;
}

/** Splits what stands in braces; fewer than two parts are no choice. */
function readBraces(pattern: string, start: number): { parts: readonly string[]; end: number } {
  const parts = [""];
  let depth = 0;
  for (let at = start; at < pattern.length; at += 1) {
    const char = pattern[at] ?? "";
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    if (depth === 0) return { parts: parts.length > 1 ? parts : rangeOf(parts[0] ?? ""), end: at + 1 };
    if (char === "," && depth === 1) parts.push("");
    else if (at > start) parts.push(`${parts.pop()}${char === "\\" ? pattern.slice(at, at + 2) : char}`);
    if (char === "\\") at += 1;
  }
  return { parts: [], end: start };
}

/** So many are read of a range. */
const mostOfRange = 100;

/** Lists `1..3` or `a..c`. */
function rangeOf(text: string): string[] {
  const [, from = "", to = ""] = /^(\d{1,9}|[A-Za-z])\.\.(\d{1,9}|[A-Za-z])$/.exec(text) ?? [];
  const isNumber = /\d/.test(from);
  if (from === "" || isNumber !== /\d/.test(to)) return [];
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const length = Math.min(Math.abs(last - first) + 1, mostOfRange);
  const all = Array.from({ length }, (_, at) => first + at * Math.sign(last - first));
  return all.map((one) => (isNumber ? String(one) : String.fromCharCode(one)));
}
