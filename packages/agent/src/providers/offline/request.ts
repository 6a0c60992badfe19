/** What the stand-in understands. */
export type OfflineRequest =
  | { readonly kind: "help" }
  | { readonly kind: "list" | "read"; readonly path: string }
  | { readonly kind: "search"; readonly query: string; readonly path: string }
  | { readonly kind: "files"; readonly pattern: string; readonly path: string }
  /** `overwrite`: also where the file exists. */
  | { readonly kind: "write"; readonly text: string; readonly path: string; readonly overwrite?: true }
  | { readonly kind: "survey"; readonly path: string; readonly report: string | undefined; readonly overwrite?: true };

/** The documented requests, as the stand-in lists them. */
export const understood: readonly string[] = [
  "list PATH",
  "find TEXT in PATH (or: search for TEXT in PATH)",
  "find files PATTERN in PATH",
  "read FILE",
  'write "TEXT" to FILE (words in quotes, to a file that does not exist yet)',
  "survey PATH and write a report to FILE",
  'overwrite FILE with "TEXT" (or any of the two above, with ", overwriting it" at the end)',
];

/** A request is short; longer text was piped in. */
const longest = 10_000;

const overwriting =
  /,? (?:and )?(?:overwrit(?:e|ing)|replac(?:e|ing))(?: (?:it|(?:the )?(?:old|existing) (?:one|file)))?$/i;
const greeting =
  /^(?:(?:please|now|then|just|can you|could you|would you|will you|i want (?:you )?to|i(?:'d| would) like (?:you )?to)[,!.]? )+(?=\S)/i;
const thanks = /(?:,? (?:please|thanks|thank you|for me|now))+$/i;

/** Reads a request in plain words. Undefined when no rule fits, or when a rule would have to ignore a part of it. */
export function parseRequest(text: string): OfflineRequest | undefined {
  // What was piped in comes before the request.
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return parseLine(last) ?? parseLine(text);
}

function parseLine(line: string): OfflineRequest | undefined {
  if (line.length > longest) return undefined;
  const quoted = line.replace(/(^|[\s:])(["'`])(.*?)\2(?=[\s.,;:!?]|$)/gs, (_, before: string, __, phrase: string) => {
    return before + quote(phrase);
  });
  const words = withoutEnd(withoutEnd(quoted.replace(/\s+/g, " ").trim()).replace(greeting, "").replace(thanks, ""));
  const request = applyRules(words);
  const plain = words.replace(overwriting, "");
  if (request || plain === words) return request;
  const written = applyRules(plain);
  const writes = written?.kind === "write" || (written?.kind === "survey" && written.report !== undefined);
  return writes ? { ...written, overwrite: true } : undefined;
}

/** A phrase in quotes becomes one word: its code units in hexadecimal, between two of a character that nobody writes. */
function quote(phrase: string): string {
  return `\uE000${Buffer.from(phrase, "utf16le").toString("hex")}\uE000`;
}

function unquote(words: string): string {
  return words.replace(/\uE000([\da-f]*)\uE000/g, (_, hex: string) => Buffer.from(hex, "hex").toString("utf16le"));
}

function isQuoted(words: string): boolean {
  return /^\uE000[\da-f]*\uE000$/.test(words);
}

/** Without the punctuation that ends a sentence; `..` and `src/.` are paths. */
function withoutEnd(text: string): string {
  return text.replace(/(.)[,;:!?]+$/, "$1").replace(/([^\s./])\.+$/, "$1");
}

const surveys = "survey|summari[sz]e|describe|explore|explain";
const overviews = "(?:give|write|make)(?: me)? an? (?:\\w+ )?(?:overview|summary|survey)(?: of)?";
const find = "(?:find|search for|list|show me|show)";
const where = "(?: (?:in|inside|under|within) (?<place>.+))?";

/** The first rule that fits decides, so the more special ones come first. */
const rules = (
  [
    ["help", "(?:help|\\?|what can you do|hello|hi)"],
    ["overwrite", "(?:overwrite|replace) (?:the )?(?:file )?(?<place>\\S+) with (?<text>.+)"],
    ["write", "(?:write|save|store|put) (?<text>.+) (?:to|into|in|as) (?<place>.+)"],
    [
      "create",
      "(?:write|create|make) (?:(?:a|the|new|text|file|named|called) )*(?<place>\\S+) (?:with|containing) (?<text>.+)",
    ],
    ["survey", `(?:${surveys}|${overviews})(?: (?<place>.+))?`],
    ["survey", "what (?:is|does) (?:this|the) (?:project|repo|repository|codebase|folder)(?: about| do)?"],
    ["files", `${find} (?:all )?files? (?:named |called |matching |like )?(?<text>\\S*[.*]\\S*)${where}`],
    ["files", `${find} (?<text>\\S*[*]\\S*)${where}`],
    ["search", "(?:search|look)(?: in| through)? (?!for )(?<place>.+?) for (?<text>.+)"],
    ["search", `(?:find|search for|search|grep|look for) (?<text>.+?)${where}`],
    ["list", "(?:ls(?: -\\S+)*|list|what files(?: are)?)(?: (?<place>.+))?"],
    ["list", `(?:show(?: me)? )?what(?: is|'s)(?: here|${where})`],
    ["read", "(?:read|cat|open|print) (?<place>.+)"],
    ["read", "what does (?<place>\\S+) say"],
    ["show", "(?:show|see)(?: me)? (?<place>.+)"],
  ] as const
).map(([kind, pattern]) => ({ kind, pattern: new RegExp(`^${pattern}$`, "is") }));

function applyRules(words: string): OfflineRequest | undefined {
  for (const { kind, pattern } of rules) {
    const found = pattern.exec(words);
    const request = found && toRequest(kind, found.groups?.text ?? "", found.groups?.place ?? "");
    if (request) return request;
  }
  return undefined;
}

/** What a rule found, still with quoted words, as a request; undefined where that would ignore a part of it. */
function toRequest(kind: (typeof rules)[number]["kind"], text: string, place: string): OfflineRequest | undefined {
  const { what, file } = kind === "survey" ? reportIn(place) : { what: place };
  const [name, ...more] = namesIn(what);
  if (more.length > 0) return undefined;
  const path = name ?? ".";
  switch (kind) {
    case "help":
      return { kind };
    case "list":
      return { kind, path };
    case "read":
      return name === undefined ? undefined : { kind, path: /^readme$/i.test(name) ? "README.md" : name };
    case "show":
      return toRequest(looksLikeFile(path) ? "read" : "list", text, place);
    case "files": {
      const pattern = unquote(text);
      return { kind, pattern: pattern.includes("/") ? pattern : `**/${pattern}`, path };
    }
    case "search": {
      const query = text.replace(/^(?:(?:all|every|the|word|text|lines? (?:with|containing)) )+(?=\S)/i, "");
      // Files by their size or date, options of programs, and a place that cannot be used.
      if (/\bfiles?\b|(?:^| )-| (?:in|inside|under|within) /i.test(query)) return undefined;
      return { kind, query: unquote(query.replace(/^(TODO|FIXME)s$/, "$1")), path };
    }
    case "write": {
      const literal = literalText(text);
      return name === undefined || literal === undefined ? undefined : { kind, text: literal, path };
    }
    case "create":
      return looksLikeFile(path) ? toRequest("write", text, place) : undefined;
    case "overwrite": {
      const request = isQuoted(text) ? toRequest("write", text, place) : undefined;
      return request?.kind === "write" ? { ...request, overwrite: true } : undefined;
    }
    case "survey": {
      const [report, ...others] = namesIn(file);
      // A single file would take a model.
      return others.length > 0 || looksLikeFile(path) ? undefined : { kind, path, report };
    }
  }
}

/** Begins as the name of something does, or names a text to be composed. */
const asksToCompose =
  /^(?:an?|the|some|any|all|each|every|this|that|these|those|it|its|them|their|my|your|our|his|her|me|what|which|who|whose|how|why|where|when|down|everything|something|whatever)\b|\b(?:summar(?:y|ies)|reports?|overview|poems?|stor(?:y|ies)|essays?|articles?|letters?|lists?|tables?|docs?|documentation|comments?|tests?|code|functions?|class(?:es)?|scripts?|programs?|modules?|changelog|descriptions?|explanations?|translations?|reviews?|analysis|plans?|notes?|results?|findings|answers?|outputs?|contents?|todos?|text)\b/i;

/** A text to write as it is; undefined for one that somebody would have to compose. */
function literalText(text: string): string | undefined {
  const plain = text.replace(/^the (?:text|words?):? (?!of |from |in )(?=\S)/i, "");
  if (isQuoted(plain)) return unquote(plain);
  return plain.includes("\uE000") || (plain === text && asksToCompose.test(plain)) ? undefined : plain;
}

/** What is to be surveyed, and the file for a report where one is asked for. */
function reportIn(words: string): { what: string; file?: string | undefined } {
  const toFile =
    /^(?<what>.*?),?(?:\s|^)(?:(?:and|then) (?:write|save|store|put|make|give)\b.*)?\b(?:to|into|as) (?<file>.+)$/i;
  const tellMe =
    /\b(?:and|then) (?:write|make|give|show)(?: me)?(?: (?:an?|the))?(?: \w+)? (?:report|summary|overview)$/i;
  return { what: words.replace(tellMe, ""), ...toFile.exec(words)?.groups };
}

const fillers: ReadonlySet<string> = new Set(
  (
    "the a an this these my our me all any every whole entire here there file files folder folders directory " +
    "directories project repository repo code codebase content contents in under inside within of at named current working"
  ).split(" "),
);

/** The words of a phrase that name something. */
function namesIn(phrase = ""): string[] {
  const words = phrase
    .replace(/\bfiles and (?:folders|directories)\b/gi, "files")
    .split(" ")
    .map(withoutEnd);
  return words.filter((word) => word !== "" && !fillers.has(word.toLowerCase())).map(unquote);
}

/** An extension, or a name such as LICENSE or Makefile. */
function looksLikeFile(path: string): boolean {
  return /\.\w+$|(?:^|\/)(?:[A-Z][A-Za-z]+|readme)$/.test(path);
}
