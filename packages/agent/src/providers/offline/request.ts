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

/** A phrase in quotes becomes one word: its number between two of these. */
const quoteMark = "\uE000";

/** The parts of a request that a rule found; quoted phrases are still numbers. */
type Parts = Partial<Record<"text" | "path" | "place" | "query" | "pattern" | "rest", string>>;
type Restore = (words: string) => string;
type Rule = readonly [RegExp, (parts: Parts, restore: Restore) => OfflineRequest | undefined];

/** Reads a request in plain words. Undefined when no rule fits, or when a rule would have to ignore a part of it. */
export function parseRequest(text: string): OfflineRequest | undefined {
  // What was piped in comes before the request.
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return parseLine(last) ?? parseLine(text);
}

function parseLine(line: string): OfflineRequest | undefined {
  if (line.length > longest) return undefined;
  const { words, restore } = plainWords(line);
  const request = applyRules(words, restore);
  if (request) return request;
  const written = words.replace(overwriting, "");
  const plain = written === words ? undefined : applyRules(written, restore);
  const writes = plain?.kind === "write" || (plain?.kind === "survey" && plain.report !== undefined);
  return writes ? { ...plain, overwrite: true } : undefined;
}

function applyRules(words: string, restore: Restore): OfflineRequest | undefined {
  for (const [pattern, toRequest] of rules) {
    const found = pattern.exec(words);
    const request = found && toRequest(found.groups ?? {}, restore);
    if (request) return request;
  }
  return undefined;
}

const overwriting =
  /,? (?:and )?(?:overwrit(?:e|ing)|replac(?:e|ing))(?: (?:it|(?:the )?(?:old|existing) (?:one|file)))?$/i;
const greeting =
  /^(?:(?:please|now|then|just|can you|could you|would you|will you|i want (?:you )?to|i(?:'d| would) like (?:you )?to)[,!.]? )+(?=\S)/i;
const thanks = /(?:,? (?:please|thanks|thank you|for me|now))+$/i;

/** A line without greeting, thanks and final punctuation, each quoted phrase one word. */
function plainWords(line: string): { words: string; restore: Restore } {
  const quoted: string[] = [];
  const words = line
    .replace(/(^|[\s:])(["'`])(.*?)\2(?=[\s.,;:!?]|$)/gs, (_, before: string, __, phrase: string) => {
      return `${before}${quoteMark}${quoted.push(phrase) - 1}${quoteMark}`;
    })
    .replace(/\s+/g, " ")
    .trim();
  const restore: Restore = (some) => some.replace(/\uE000(\d+)\uE000/g, (_, index) => quoted[Number(index)] ?? "");
  return { words: withoutEnd(withoutEnd(words).replace(greeting, "").replace(thanks, "")), restore };
}

/** Without the punctuation that ends a sentence; `..` and `src/.` are paths. */
function withoutEnd(text: string): string {
  return text.replace(/(.)[,;:!?]+$/, "$1").replace(/([^\s./])\.+$/, "$1");
}

/** `WHERE` stands for an optional place. */
function rule(pattern: string, toRequest: Rule[1]): Rule {
  const where = "(?: (?:in|inside|under|within) (?<place>.+))?";
  return [new RegExp(`^${pattern.replace("WHERE", where)}$`, "is"), toRequest];
}

/** The first rule that fits decides, so the more special ones come first. */
const rules: readonly Rule[] = [
  rule("(?:help|\\?|what can you do|hello|hi)", () => ({ kind: "help" })),
  rule("(?:overwrite|replace) (?:the )?(?:file )?(?<path>\\S+) with (?<text>.+)", (parts, restore) => {
    const request = isQuoted(parts.text) ? toWrite(parts, restore) : undefined;
    return request && { ...request, overwrite: true };
  }),
  rule("(?:write|save|store|put) (?<text>.+) (?:to|into|in|as) (?<path>.+)", toWrite),
  rule(
    "(?:write|create|make) (?:(?:a|the|new|text|file|named|called) )*(?<path>\\S+) (?:with|containing) (?<text>.+)",
    (parts, restore) => (looksLikeFile(restore(parts.path ?? "")) ? toWrite(parts, restore) : undefined),
  ),
  rule(
    "(?:survey|summari[sz]e|describe|explore|explain|(?:give|write|make)(?: me)? an? (?:\\w+ )?(?:overview|summary|survey)(?: of)?)(?: (?<rest>.+))?",
    toSurvey,
  ),
  rule("what (?:is|does) (?:this|the) (?:project|repo|repository|codebase|folder)(?: about| do)?", toSurvey),
  rule(
    "(?:find|search for|list|show me|show) (?:all )?files? (?:named |called |matching |like )?(?<pattern>\\S*[.*]\\S*)WHERE",
    toFiles,
  ),
  rule("(?:find|search for|list|show me|show) (?<pattern>\\S*[*]\\S*)WHERE", toFiles),
  rule("(?:search|look)(?: in| through)? (?!for )(?<place>.+?) for (?<query>.+)", toSearch),
  rule("(?:find|search for|search|grep|look for) (?<query>.+?)WHERE", toSearch),
  rule("ls(?: -\\S+)*(?: (?<place>.+))?", toList),
  rule("list(?: (?<place>.+))?", toList),
  rule("what files(?: are)?(?: there)?(?<place>(?: .+)?)", toList),
  rule("(?:show(?: me)? )?what(?: is|'s)(?: here|WHERE)", toList),
  rule("(?:read|cat|open|print) (?<place>.+)", toRead),
  rule("what does (?<place>\\S+) say", toRead),
  rule("(?:show|see)(?: me)? (?<place>.+)", (parts, restore) => {
    const path = pathOf(parts.place, restore);
    return path !== undefined && looksLikeFile(path) ? toRead(parts, restore) : toList(parts, restore);
  }),
];

/** Writes words as they are. A text that somebody would have to compose is not understood. */
function toWrite({ text = "", path }: Parts, restore: Restore): Extract<OfflineRequest, { kind: "write" }> | undefined {
  const [name, ...more] = namesIn(path);
  const plain = text.replace(/^the (?:text|words?):? (?!of |from |in )(?=\S)/i, "");
  const isLiteral = isQuoted(plain) || (!plain.includes(quoteMark) && (plain !== text || !asksToCompose.test(plain)));
  if (!name || more.length > 0 || !isLiteral) return undefined;
  return { kind: "write", text: restore(plain), path: restore(name) };
}

/** Begins as the name of something does, or names a text to be composed. */
const asksToCompose =
  /^(?:an?|the|some|any|all|each|every|this|that|these|those|it|its|them|their|my|your|our|his|her|me|what|which|who|whose|how|why|where|when|down|everything|something|whatever)\b|\b(?:summar(?:y|ies)|reports?|overview|poems?|stor(?:y|ies)|essays?|articles?|letters?|lists?|tables?|docs?|documentation|comments?|tests?|code|functions?|class(?:es)?|scripts?|programs?|modules?|changelog|descriptions?|explanations?|translations?|reviews?|analysis|plans?|notes?|results?|findings|answers?|outputs?|contents?|todos?|text)\b/i;

/** A project or folder, with a report where one is asked for. A single file would take a model. */
function toSurvey({ rest = "" }: Parts, restore: Restore): OfflineRequest | undefined {
  const toFile =
    /^(?<what>.*?),?(?:\s|^)(?:(?:and|then) (?:write|save|store|put|make|give)\b.*)?\b(?:to|into|as) (?<file>.+)$/i;
  const report = toFile.exec(rest)?.groups;
  const tellMe =
    /\b(?:and|then) (?:write|make|give|show)(?: me)?(?: (?:an?|the))?(?: \w+)? (?:report|summary|overview)$/i;
  const [path = ".", ...more] = namesIn(report?.what ?? rest.replace(tellMe, "")).map(restore);
  const [file, ...others] = namesIn(report?.file);
  if (more.length > 0 || others.length > 0 || looksLikeFile(path)) return undefined;
  return { kind: "survey", path, report: file && restore(file) };
}

function toSearch(parts: Parts, restore: Restore): OfflineRequest | undefined {
  const query = (parts.query ?? "")
    .replace(/^(?:(?:all|every|the|word|text|lines? (?:with|containing)) )+(?=\S)/i, "")
    .replace(/^(TODO|FIXME)s$/, "$1");
  const path = pathOf(parts.place, restore);
  // Files by their size or date, options of programs, and a place that cannot be used.
  const isOther = /\bfiles?\b|(?:^| )-| (?:in|inside|under|within) /i.test(query);
  return path === undefined || isOther ? undefined : { kind: "search", query: restore(query), path };
}

function toFiles({ pattern = "", place }: Parts, restore: Restore): OfflineRequest | undefined {
  const path = pathOf(place, restore);
  const given = restore(pattern);
  return path === undefined ? undefined : { kind: "files", pattern: given.includes("/") ? given : `**/${given}`, path };
}

function toList({ place }: Parts, restore: Restore): OfflineRequest | undefined {
  const path = pathOf(place, restore);
  return path === undefined ? undefined : { kind: "list", path };
}

function toRead({ place }: Parts, restore: Restore): OfflineRequest | undefined {
  const [name, ...more] = namesIn(place);
  if (!name || more.length > 0) return undefined;
  const path = restore(name);
  return { kind: "read", path: path.toLowerCase() === "readme" ? "README.md" : path };
}

/** The one place that is named, by default the working directory; undefined where there is more than one. */
function pathOf(place: string | undefined, restore: Restore): string | undefined {
  const [path = ".", ...more] = namesIn(place);
  return more.length > 0 ? undefined : restore(path);
}

const fillers: ReadonlySet<string> = new Set(
  (
    "the a an this these my our me all any every whole entire here there file files folder folders directory " +
    "directories project repository repo code codebase content contents in under inside within of at named current working"
  ).split(" "),
);

/** The words of a phrase that name something. */
function namesIn(phrase = ""): string[] {
  return phrase
    .replace(/\bfiles and (?:folders|directories)\b/gi, "files")
    .split(" ")
    .map(withoutEnd)
    .filter((word) => word !== "" && !fillers.has(word.toLowerCase()));
}

function isQuoted(words = ""): boolean {
  return /^\uE000\d+\uE000$/.test(words);
}

/** An extension, or a name such as LICENSE or Makefile. */
function looksLikeFile(path: string): boolean {
  return /\.\w+$|(?:^|\/)(?:[A-Z][A-Za-z]+|readme)$/.test(path);
}
