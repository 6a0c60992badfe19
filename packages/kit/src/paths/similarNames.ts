import { editDistance } from "@toolcrib/core/internal";

/** Most changed letters between names that are taken for a slip. */
const mostLetters = 2;

/** Makes a function that ranks how like an entry's name is to a missing one: lower is more alike, undefined is not alike. */
export function similarityTo(missing: string): (name: string) => number | undefined {
  const one = folded(missing);
  return (name) => {
    const other = folded(name);
    if (one === other) return 0;
    if (stemOf(one) === stemOf(other)) return 1;
    const letters = editDistance(one, other, mostLetters);
    return letters < Math.min(mostLetters + 1, Math.min(one.length, other.length) / 2) ? 1 + letters : undefined;
  };
}

/** Returns whether two names could be taken for each other on a screen: ligatures and raised digits count as what they stand for. */
export function looksAlike(one: string, other: string): boolean {
  return one !== other && wideShape(one) === wideShape(other);
}

/** Makes a test for names that a person would type as `name`: they differ in spaces, quotes, dashes, accents or invisible marks alone. */
export function typedAs(name: string): (other: string) => boolean {
  const wanted = shape(name);
  return (other) => other !== name && shape(other) === wanted;
}

/** Writes a name as JSON with nothing but ASCII, so that names that look alike can be told apart and passed back. */
export function escapedName(name: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return /[^\x20-\x7e]/.test(name) ? JSON.stringify(name).replace(/[^\x20-\x7e]/g, escaped) : name;
}

/** Gives quotes, dashes and spaces that look alike one form, composes accents, and drops invisible marks. */
function shape(name: string): string {
  if (/^[\0-_a-\x7f]*$/.test(name)) return name;
  return name
    .replace(/[\u2018-\u201b\u2032\u02bc`´]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(/\p{Zs}/gu, " ")
    .replace(/\p{Cf}/gu, "")
    .normalize("NFC");
}

/** Does the same, and takes characters for those that they stand for (`ﬁ`, `²`). For hints alone: they mean something else. */
function wideShape(name: string): string {
  return shape(shape(name).normalize("NFKC"));
}

function folded(name: string): string {
  return wideShape(name).toLowerCase();
}

function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]+$/, "");
}
