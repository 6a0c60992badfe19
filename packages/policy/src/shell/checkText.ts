/** Longer lines are not judged: nobody reads them either. */
export const longestLine = 10_000;

/** Anything that no keyboard types and no screen shows: controls, invisible and blank characters but the space, halves of a pair. */
const unseen = /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

const plain = /^[\t\n\x20-\x7e]*$/;

const allowed = new Set([" ", "\t", "\n"]);

/** Why the characters of a line already make it unreadable. */
export function textProblem(line: string): string | undefined {
  if (line.length > longestLine) return `It is longer than ${longestLine.toLocaleString("en")} characters.`;
  if (plain.test(line)) return undefined;
  for (const [character] of line.matchAll(unseen)) {
    if (allowed.has(character)) continue;
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `It holds the invisible or control character U+${code}.`;
  }
  return undefined;
}
