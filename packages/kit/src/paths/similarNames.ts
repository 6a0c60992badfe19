import { editDistance } from "@toolcrib/core/internal";

/** Most changed letters between names that are taken for a slip. */
const mostLetters = 2;

/** Ranks how like an entry's name is to a missing one: lower is more alike, undefined is not alike. */
export function similarity(missing: string, name: string): number | undefined {
  const [one, other] = [folded(missing), folded(name)];
  if (one === other) return 0;
  if (stemOf(one) === stemOf(other)) return 1;
  const letters = editDistance(one, other, mostLetters);
  return letters < Math.min(mostLetters + 1, Math.min(one.length, other.length) / 2) ? 1 + letters : undefined;
}

/** Returns whether two names look the same on a screen. */
export function looksAlike(one: string, other: string): boolean {
  return one !== other && shape(one) === shape(other);
}

/** Writes a name as JSON with nothing but ASCII, so that names that look alike can be told apart and passed back. */
export function escapedName(name: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return /[^\x20-\x7e]/.test(name) ? JSON.stringify(name).replace(/[^\x20-\x7e]/g, escaped) : name;
}

/** Gives quotes, dashes and spaces that look alike one form, and drops invisible marks. */
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
