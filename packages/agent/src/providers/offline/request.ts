import {
  globOfKind,
  isFileName,
  isQuoted,
  looksLikeFile,
  namesIn,
  type PlainRequest,
  plainRequest,
  quoteMark,
} from "./words.ts";

/** What the stand-in understands. */
export type OfflineRequest =
  | { readonly kind: "help" }
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "search"; readonly query: string; readonly path: string }
  | { readonly kind: "files"; readonly pattern: string; readonly path: string }
  /** `limit`: lines, from the first. */
  | { readonly kind: "read"; readonly path: string; readonly limit?: number }
  /** `overwrite`: also where the file exists. */
  | { readonly kind: "write"; readonly text: string; readonly path: string; readonly overwrite?: true }
  | { readonly kind: "survey"; readonly path: string; readonly report: string | undefined; readonly overwrite?: true };

/** The documented requests, as the stand-in lists them. */
export const understood: readonly string[] = [
  "list PATH",
  "find TEXT in PATH (or: search for TEXT in PATH)",
  "find files PATTERN in PATH",
  "read FILE",
  'write "TEXT" to FILE (words in quotes, to a file that is not there yet)',
  "survey PATH and write a report to FILE",
  'overwrite FILE with "TEXT" (or any of the two above, with ", overwriting it" at the end)',
];

// A request is short; what is longer was piped in.
const longest = 10_000;

/** Reads a request in plain words; quotes keep a phrase together. Undefined when no rule fits. */
export function parseRequest(text: string): OfflineRequest | undefined {
  // What was piped in comes before the request.
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return parseLine(last) ?? parseLine(text);
}

function parseLine(line: string): OfflineRequest | undefined {
  if (line.length > longest) return undefined;
  const request = plainRequest(line);
  const made = parsePlain(request);
  if (made) return made;
  const text = request.text.replace(overwriting, "");
  const plain = text === request.text ? undefined : parsePlain({ ...request, text });
  const writes = plain?.kind === "write" || (plain?.kind === "survey" && plain.report !== undefined);
  return plain && writes ? { ...plain, overwrite: true } : undefined;
}

/** An end that says that the file may be replaced. */
const overwriting =
  /,? (?:and )?(?:overwrit(?:e|ing)|replac(?:e|ing))(?: (?:it|(?:the )?(?:old|existing) (?:one|file)|what (?:is|was) there))?$/i;

function parsePlain(request: PlainRequest): OfflineRequest | undefined {
  for (const [pattern, make] of rules) {
    const found = pattern.exec(request.text);
    const made = found && make(found.groups ?? {}, request);
    if (made) return made;
  }
  return undefined;
}

type Parts = Partial<Record<string, string>>;
type Rule = readonly [RegExp, (parts: Parts, request: PlainRequest) => OfflineRequest | undefined];

const where = "(?: (?:in|inside|under|within|below|across|throughout) (?<place>.+))";

/** `WHERE` stands for a place; spaces for themselves. */
function rule(pattern: string, make: Rule[1]): Rule {
  return [new RegExp(`^${pattern.replaceAll("WHERE", where)}$`, "is"), make];
}

// The more special a rule, the earlier it is asked.
const rules: readonly Rule[] = [
  rule("(?:help|\\?|what can you do|what do you (?:do|know|understand)|who are you|hello|hi|hey)", () => ({
    kind: "help",
  })),

  rule("(?:overwrite|replace) (?:the )?(?:file )?(?<path>\\S+) (?:with|by) (?<text>.+)", (parts, request) => {
    const made = isQuoted(parts.text ?? "") && written(parts, request);
    return made && made.kind === "write" ? { ...made, overwrite: true } : undefined;
  }),
  rule("(?:write|save|store|echo) (?<text>.+) (?:to|into|as|>) (?<path>.+)", written),
  rule("(?:put|store) (?<text>.+) (?:in|into) (?<path>.+)", written),
  rule("(?:write|save|put) (?:to|into|in) (?:the )?(?:file )?(?<path>\\S+): ?(?<text>.+)", written),
  rule(
    "(?:write|create|make|add) (?:(?:a|an|the|new|text|file|named|called) )*(?<path>\\S+),? (?:with|containing|saying|that (?:says|contains|holds)) (?<text>.+)",
    (parts, request) => (looksLikeFile(request.restore(parts.path ?? "")) ? written(parts, request) : undefined),
  ),

  rule(
    "(?:survey|summari[sz]e|describe|analy[sz]e|explore|inspect|examine|explain|overview(?: of)?|summary(?: of)?|(?:take a )?look (?:around|at)|tell me about|(?:give|write|make)(?: me)? an? (?:\\w+ )?(?:overview|summary|survey|description)(?: of)?)(?: (?<rest>.+))?",
    surveyed,
  ),
  rule(
    "what (?:is|does) (?<rest>(?:this|the) (?:project|repo|repository|code|codebase|folder|directory))(?: about| do| for)?",
    surveyed,
  ),

  rule("how many (?<query>.+?)(?: (?:are|is) there| do (?:we|i|you) have| are)?WHERE?", (parts, request) => {
    const [kind = "", ...more] = namesIn(parts.query);
    const pattern = /\bfiles$/i.test(parts.query ?? "") && more.length === 0 ? (globOfKind(kind) ?? "**/*") : undefined;
    return pattern ? inPlace(parts, request, (path) => ({ kind: "files", pattern, path })) : searched(parts, request);
  }),

  rule(
    "(?:(?:find|list|show|search(?: for)?)(?: (?:me|all|every|the|any))* |which |what )(?:files?|lines?) (?:that |which )?(?:with|contain(?:s|ing)?|mention(?:s|ing)?|ha(?:ve|s|ving)|us(?:e|es|ing)|includ(?:e|es|ing)) (?!(?:the )?(?:name|extension|ending) )(?<query>.+?)WHERE?",
    searched,
  ),
  rule("find (?<place>\\S+) (?:-type f )?-i?name (?<pattern>\\S+)", named),
  rule("glob(?: for)? (?<pattern>\\S+)WHERE?", named),
  rule(
    "(?:(?:find|list|show|search|look|locate)(?: for)?(?: (?:me|all|every|the|any|a))* |which |what )files? (?:(?:that |which )?(?:named|called|matching|match(?:es)?|like|ending (?:in|with)|end(?:s)? (?:in|with)|with (?:the )?(?:name|extension|ending)|are (?:named|called)) )(?<pattern>\\S+)WHERE?",
    named,
  ),
  rule("(?:find|search|look|locate)(?: for)?(?: (?:me|all|every|the|a))* files? (?!for )(?<pattern>\\S+)WHERE?", named),
  rule(
    "(?:find|list|show|search for|look for|get|give|which|what)(?: (?:me|all|of|every|the|any))* (?<kind>\\S+) files?(?: are there)?WHERE?",
    (parts, request) => {
      const pattern = globOfKind(request.restore(parts.kind ?? ""));
      return pattern ? inPlace(parts, request, (path) => ({ kind: "files", pattern, path })) : undefined;
    },
  ),
  rule(
    "(?:find|list|show|search(?: for)?|look for|locate|where (?:is|are)|where's)(?: (?:me|all|every|the|file))* (?<pattern>\\S+)WHERE?",
    (parts, request) => {
      const pattern = request.restore(parts.pattern ?? "");
      if (/[*?]/.test(parts.pattern ?? "")) return named(parts, request);
      const wantsText =
        !/^(?:find|search|look|locate|where)/i.test(request.text) || looksLikeFile(placeOf(parts, request) ?? "");
      return isFileName(pattern) && !wantsText ? named(parts, request) : undefined;
    },
  ),

  rule(
    "(?:search|look|grep|check|scan)(?: (?:in|through|inside|within|at))? (?!for )(?<place>.+?) for (?<query>.+)",
    searched,
  ),
  rule("(?:grep|rg)(?: -\\S+)*(?: for)? (?<query>\\S+) (?!in )(?<place>\\S+)", searched),
  rule(
    "(?:find|search|grep|rg|look|locate|where is|where are|where's)(?: -\\S+)*(?: for)? (?<query>.+)WHERE",
    searched,
  ),
  rule(
    "(?:find|search for|search|grep|rg|look for|locate|where is|where are|where's)(?: -\\S+)*(?: for)? (?<query>.+)",
    // A place that no rule above could honour is no part of the text.
    (parts, request) =>
      / (?:in|inside|under|within) /i.test(parts.query ?? "") ? undefined : searched(parts, request),
  ),

  rule("(?:ls|dir|tree)(?: -\\S+)*(?: (?<place>.+))?", listed),
  rule("(?:list|(?:give|show|tell|get)(?: me)? (?:a |the )?list of)(?: (?<place>.+))?", listed),
  rule(
    "(?:what|which) (?:files|folders|directories|entries)(?: and \\w+)?(?: (?:are|is|do (?:you|we|i) (?:have|see)))?(?<place>(?: .+)?)",
    listed,
  ),
  rule("(?:show(?: me)? |see )?(?:what is|what's|whats|what are)(?: there)?(?: here|WHERE)", shown),
  rule("(?:show|see|view|display)(?: me)? (?<place>.+)", shown),
  rule("what does (?<place>\\S+) (?:say|contain|do|hold)", shown),
  rule(
    "(?:read|cat|open|print|head|type|load)(?: -\\S+)*(?: me)?(?: the)?(?: first (?<limit>\\d+) lines (?:of|from|in))? (?<place>.+)",
    wasRead,
  ),
];

/** Writes words as they are. What asks for words to be composed is not understood. */
function written({ text = "", path }: Parts, { restore }: PlainRequest): OfflineRequest | undefined {
  const [name, ...more] = namesIn(path);
  const plain = text.replace(/^(?:the )?(?:text|contents?|words?):? (?!of |from |in )(?=\S)/i, "");
  const isLiteral = isQuoted(plain) || (!plain.includes(quoteMark) && (plain !== text || !asksToCompose.test(plain)));
  return name && more.length === 0 && isLiteral
    ? { kind: "write", text: restore(plain), path: restore(name) }
    : undefined;
}

/** Begins as the name of something does, or names what somebody would have to write. */
const asksToCompose =
  /^(?:an?|the|some|any|all|each|every|this|that|these|those|it|its|them|their|my|your|our|his|her|me|what|which|who|whose|how|why|where|when|down|everything|something|whatever)\b|\b(?:summar(?:y|ies)|reports?|overview|poems?|stor(?:y|ies)|essays?|articles?|letters?|lists?|tables?|docs?|documentation|comments?|tests?|code|functions?|class(?:es)?|scripts?|programs?|modules?|changelog|descriptions?|explanations?|translations?|reviews?|analysis|plans?|notes?|results?|findings|answers?|outputs?|contents?|todos?|text)\b/i;

/** The project, or one folder; a report where one is asked for. No file: it takes a model to say what it is about. */
function surveyed({ rest = "" }: Parts, { restore }: PlainRequest): OfflineRequest | undefined {
  const report =
    /^(?<what>.*?),?(?:\s|^)(?:(?:and|then) (?:write|save|store|put|make|create|give|print)\b.*)?\b(?:to|into|as) (?<path>.+)$/i.exec(
      rest,
    )?.groups;
  const [path = ".", ...more] = namesIn(report?.what ?? rest.replace(tellMe, "")).map(restore);
  const [file, ...others] = namesIn(report?.path);
  if (more.length > 0 || others.length > 0 || /\.\w+$|readme$/i.test(path)) return undefined;
  return { kind: "survey", path, report: file && restore(file) };
}

const tellMe =
  /\b(?:and|then) (?:write|make|give|show|print|tell)(?: me)?(?: (?:an?|the))?(?: \w+)? (?:report|summary|overview)$/i;

function searched(parts: Parts, request: PlainRequest): OfflineRequest | undefined {
  const query = (parts.query ?? "")
    .replace(/^where (.+?)(?: is| are)?$/i, "$1")
    .replace(/ (?:is |are |gets )?(?:defined|used|declared)$/i, "")
    .replace(/^(?:(?:all|every|each|any|the|an?|some|me) )+(?=\S)/i, "")
    .replace(
      /^(?:lines? (?:with|containing)|(?:word|text|string|phrase|term)s?|(?:occurrence|use|usage|mention|definition)s? of|references? to) (?=\S)/i,
      "",
    )
    .replace(/(?<=\S) (?:comments?|occurrences)$/i, "")
    .replace(/^(TODO|FIXME)s$/, "$1");
  // Files by their size, date or kind.
  if (query === "" || /^files? \S|\S files?$/i.test(query)) return undefined;
  return inPlace(parts, request, (path) => ({ kind: "search", query: request.restore(query), path }));
}

function named(parts: Parts, request: PlainRequest): OfflineRequest | undefined {
  const given = request.restore(parts.pattern ?? "").replace(/^\.(?=\w+$)/, "*.");
  const pattern = given.includes("/") ? given : `**/${given}`;
  return inPlace(parts, request, (path) => ({ kind: "files", pattern, path }));
}

function listed(parts: Parts, request: PlainRequest): OfflineRequest | undefined {
  return inPlace(parts, request, (path) => ({ kind: "list", path }));
}

/** A file is read, a folder listed. */
function shown(parts: Parts, request: PlainRequest): OfflineRequest | undefined {
  return inPlace(parts, request, (path) =>
    looksLikeFile(path) ? { kind: "read", path: fileAt(path) } : { kind: "list", path },
  );
}

function wasRead(parts: Parts, request: PlainRequest): OfflineRequest | undefined {
  const [path, ...more] = namesIn(parts.place);
  const limit = parts.limit === undefined ? {} : { limit: Number(parts.limit) };
  return path && more.length === 0 ? { kind: "read", path: fileAt(request.restore(path)), ...limit } : undefined;
}

/** The place that is meant; undefined where more is said of it than can be honoured. */
function placeOf({ place }: Parts, { restore }: PlainRequest): string | undefined {
  const [path = ".", ...more] = namesIn(place);
  return more.length > 0 ? undefined : restore(path);
}

function inPlace(
  parts: Parts,
  request: PlainRequest,
  make: (path: string) => OfflineRequest,
): OfflineRequest | undefined {
  const path = placeOf(parts, request);
  return path === undefined ? undefined : make(path);
}

/** "The readme" is README.md. */
function fileAt(path: string): string {
  return path.toLowerCase() === "readme" ? "README.md" : path;
}
