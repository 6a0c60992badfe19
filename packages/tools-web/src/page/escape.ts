// Text of a page that would be Markdown, written so that it stays text.

/** TeX between the marks that MathJax and KaTeX look for in text, then signs that mean something wherever they stand. */
const signs = new RegExp(
  [
    /(\\\((?:[^\\]|\\[^()]){1,4000}\\\)|\\\[(?:[^\\]|\\[^[\]]){1,4000}\\\]|\$\$[^$]{1,4000}\$\$)/,
    /`|\\(?=[!-/:-@[-`{-~])|<(?=[a-z/!?])|&(?=#?\w{1,32};)/,
    /\[(?=[^[\]]{0,1000}\]\()|\](?=\()/,
    /[*_]+|~~+/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);

/** Writes a text without the meaning that Markdown gives its signs. TeX between its marks stays as it is, for readers of either. */
export function escapeText(text: string): string {
  const mayPair = (text.match(/[*_]+|~~+/g) ?? []).length > 1;
  return text.replace(signs, (sign, tex?: string, at?: number) => {
    if (tex !== undefined) return sign;
    if (!/^[*_~]/.test(sign)) return `\\${sign}`;
    const [before = " ", after = " "] = [text[(at ?? 0) - 1], text[(at ?? 0) + sign.length]];
    const isWithin = sign.startsWith("_") && isWord(before) === isWord(after);
    return !mayPair || isWithin || (before.trim() === "" && after.trim() === "") ? sign : sign.replace(/./g, "\\$&");
  });
}

function isWord(letter: string): boolean {
  return /[\p{L}\p{N}]/u.test(letter);
}

/** Keeps the lines of a paragraph from beginning a heading, list, quote, table, rule, fence or definition. */
export function escapeLines(paragraph: string): string {
  return paragraph
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/gm, "$1\\")
    .replace(/^(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|[>|]|[-=]+$|~{3}|(?:[-*_] ?){3,}$|:?-+:? *\||\[[^\]\n]*\]:)/gm, "\\");
}

/** Joins pieces of a line that each are right: a bracket and a sign of two pieces make no link or picture. */
export function joinPieces(pieces: readonly string[]): string {
  const full = pieces.filter((piece) => piece !== "");
  return full
    .map((piece, index) => {
      const next = full[index + 1] ?? "";
      if (next.startsWith("(") && piece.endsWith("]")) return `${piece}\\`;
      return next.startsWith("[") && piece.endsWith("!") ? `${piece.slice(0, -1)}\\!` : piece;
    })
    .join("");
}
