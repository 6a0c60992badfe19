const notAscii = /[^\u0000-\u007f]/;
const ignorable = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Returns a path or a part of one as file systems that ignore case compare names, and a little wider: composed (NFC), in small letters,
 * without characters that have no shape. Two names that such a file system takes for one are equal here.
 */
export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // Through capitals, which are one for `ſ` and `s`; a sigma at the end of a word has two small forms.
  const small = text.replace(ignorable, "").normalize("NFC").toUpperCase().toLowerCase();
  return small.replaceAll("ς", "σ").normalize("NFC");
}

/** Folds the letters of a pattern beyond ASCII; those of ASCII may stand for something (`[[:upper:]]`, `[Z-a]`). */
export function foldPattern(pattern: string): string {
  if (isAscii(pattern)) return pattern;
  return pattern
    .replace(ignorable, "")
    .normalize("NFC")
    .replace(/[^\u0000-\u007f]+/g, foldCase);
}

export function isAscii(text: string): boolean {
  return !notAscii.test(text);
}
