const legalName = /^[a-zA-Z0-9_-]{1,64}$/;
const maximumLength = 64;

/** Returns whether every model API accepts `name` for a tool: `^[a-zA-Z0-9_-]{1,64}$`. */
export function isLegalName(name: string): boolean {
  return legalName.test(name);
}

/** Returns `name` with every character replaced that some model API refuses in a name. It may still be empty or too long. */
export function withLegalCharacters(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

/** Returns `name` with the first free number behind it: `read_file_2`. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let number = 2; ; number += 1) {
    const suffix = `_${number}`;
    const candidate = name.slice(0, maximumLength - suffix.length) + suffix;
    if (!isTaken(candidate)) return candidate;
  }
}

/** The work that one search for a near name may cost; candidates beyond it are skipped. */
const mostWork = 300_000;
/** The cost of a candidate before any comparison of letters. */
const workPerCandidate = 100;

/**
 * Returns the candidate that `name` was probably meant to be, or undefined: equal but for case and separators, or at most a third
 * of its letters away by edits (insert, delete, replace, swap of neighbours; Damerau–Levenshtein).
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > 2 * maximumLength) return undefined;
  const wanted = plainName(name);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  let left = mostWork;
  for (const candidate of candidates) {
    left -= workPerCandidate;
    if (left < 0) break;
    if (candidate.length > 2 * maximumLength) continue;
    const other = plainName(candidate);
    // The difference in length is the least number of edits.
    if (Math.abs(wanted.length - other.length) > Math.max(wanted.length, other.length) / 3) continue;
    left -= wanted.length * other.length;
    const distance = wanted === other ? 0 : editDistance(wanted, other);
    if (distance < bestDistance && distance <= Math.max(wanted.length, other.length) / 3) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns a name without case and separators, to compare by. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Counts the letters inserted, removed, changed and swapped between two names (optimal string alignment); `Infinity` if beyond `most`. */
export function editDistance(a: string, b: string, most: number = Infinity): number {
  if (Math.abs(a.length - b.length) > most) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    if (Math.min(...current) > most) return Infinity;
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
