/** A request ready to be matched: one line without greeting and thanks, each quoted phrase one word. */
export interface PlainRequest {
  readonly text: string;
  /** What stood in quotes, put back. */
  restore(words: string): string;
}

/** Stands on both sides of the number of a quoted phrase. */
export const quoteMark = "\uE000";

/** Whether some words of a plain request are one quoted phrase. */
export function isQuoted(words: string): boolean {
  return /^\uE000\d+\uE000$/.test(words);
}

const greeting =
  /^(?:(?:please|kindly|hello|hi|hey|ok|okay|now|then|just|can you|could you|would you|will you|let's|i want (?:you )?to|i'd like (?:you )?to|i would like (?:you )?to|i need (?:you )?to)[,!.]? )+(?=\S)/i;
const thanks = /(?:,? (?:please|thanks|thank you|for me|now|if you can))+$/i;

const filler = wordSet(
  "the a an this that these those my our me all any every each some whole entire new here there " +
    "file files folder folders directory directories project repository repo code codebase content contents entries " +
    "everything in under inside within of at from named called current working",
);

export function plainRequest(line: string): PlainRequest {
  const quoted: string[] = [];
  const keep = (_: string, before: string, __: string, phrase: string): string =>
    `${before}\uE000${quoted.push(phrase) - 1}\uE000`;
  const words = line
    .replace(/(^|[\s:])(["'`])(.*?)\2(?=[\s.,;:!?]|$)/gs, keep)
    .replace(/\s+/g, " ")
    .trim();
  const text = withoutEnd(withoutEnd(words).replace(greeting, "").replace(thanks, ""));
  return { text, restore: (some) => some.replace(/\uE000(\d+)\uE000/g, (_, index) => quoted[Number(index)] ?? "") };
}

/** Without the punctuation that ends a sentence; `..` and `src/.` are paths. */
function withoutEnd(text: string): string {
  return text.replace(/(.)[,;:!?]+$/, "$1").replace(/([^\s./])\.+$/, "$1");
}

/** The words of a phrase that name something: without "the", "folder" and the like. */
export function namesIn(phrase = ""): string[] {
  return phrase
    .replace(/\b(files?|folders?|directories) and (files?|folders?|directories)\b/gi, "$1")
    .split(" ")
    .map(withoutEnd)
    .filter((word) => word !== "" && !filler.has(word.toLowerCase()));
}

/** Whether a path looks like a file's: an extension, or a name such as LICENSE or Makefile. */
export function looksLikeFile(path: string): boolean {
  return /\.\w+$|(?:^|\/)(?:[A-Z][A-Za-z]+|readme)$/.test(path);
}

const extensions: Readonly<Record<string, string>> = {
  ...{
    typescript: "ts",
    javascript: "js",
    python: "py",
    markdown: "md",
    rust: "rs",
    text: "txt",
    ruby: "rb",
    golang: "go",
  },
};
const known = wordSet(
  "ts tsx mts cts js jsx mjs cjs json jsonc md mdx txt py go rs java kt c h cc cpp hpp cs css scss html xml yml yaml toml sh rb php sql vue svg csv lock",
);

/** The glob for a kind of file: `ts`, `.ts`, `TypeScript`; undefined for a word that names none. */
export function globOfKind(kind: string): string | undefined {
  const word = kind.toLowerCase().replace(/^\*?\./, "");
  if (/^\*?\./.test(kind) && /^[\w.]+$/.test(word)) return `**/*.${word}`;
  const extension = extensions[word] ?? word;
  return known.has(extension) ? `**/*.${extension}` : undefined;
}

/** Whether this is the bare name of a file of a known kind. */
export function isFileName(word: string): boolean {
  return /^[\w.-]+\.\w+$/.test(word) && known.has(word.slice(word.lastIndexOf(".") + 1).toLowerCase());
}

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}
