/** Most changed letters between names that are taken for a slip. */
const mostLetters = 2;

/** Ranks how like an entry's name is to a missing one: lower is more alike, undefined is not alike. */
export function similarity(missing: string, name: string): number | undefined {
  const [one, other] = [folded(missing), folded(name)];
  if (one === other) return 0;
  if (stemOf(one) === stemOf(other)) return 1;
  const letters = lettersBetween(one, other);
  return letters < Math.min(mostLetters + 1, Math.min(one.length, other.length) / 2) ? 1 + letters : undefined;
}

/** Returns whether two names look the same on a screen. */
export function looksAlike(one: string, other: string): boolean {
  return one !== other && shape(one) === shape(other);
}

/** As JSON with nothing but ASCII, so that names that look alike can be told apart and passed back. */
export function escapedName(name: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return /[^\x20-\x7e]/.test(name) ? JSON.stringify(name).replace(/[^\x20-\x7e]/g, escaped) : name;
}

/** One form for quotes, dashes and spaces that look alike, without invisible marks. */
function shape(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/[\u2018-\u201b\u2032\u02bc`´]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(/\p{Zs}/gu, " ")
    .replace(/\p{Cf}/gu, "");
}

function folded(name: string): string {
  return shape(name).toLowerCase();
}

function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]+$/, "");
}

/** Inserted, removed, changed and swapped letters (optimal string alignment), or Infinity for more than a slip. */
function lettersBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > mostLetters) return Infinity;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    if (Math.min(...next) > mostLetters) return Infinity;
    [before, row] = [row, next];
  }
  const letters = row[other.length] ?? Infinity;
  return letters > mostLetters ? Infinity : letters;
}
