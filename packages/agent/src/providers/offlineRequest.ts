/** What the stand-in understands. */
export type OfflineRequest =
  | { readonly kind: "help" }
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "search"; readonly query: string; readonly path: string }
  | { readonly kind: "files"; readonly pattern: string; readonly path: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly text: string; readonly path: string }
  | { readonly kind: "survey"; readonly path: string; readonly report: string | undefined };

/** The documented requests, as the stand-in lists them. */
export const understood: readonly string[] = [
  "list PATH",
  "find TEXT in PATH (or: search for TEXT in PATH)",
  "find files PATTERN in PATH",
  "read FILE",
  "write TEXT to FILE",
  "survey PATH and write a report to FILE",
];

const polite = words("please can could would you now then just kindly");
const articles = words("the a an this that my me all");
const containers = words(
  "file files folder folders directory directories project repository repo content contents entries",
);
const inWords = words("in under inside within of at from");
const toWords = words("to into as");

/** Reads a request in plain words; quotes keep a phrase together. Undefined when no rule fits. */
export function parseRequest(text: string): OfflineRequest | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  // What was piped in comes before the request.
  return parseLine(text) ?? parseLine(lines.at(-1) ?? "");
}

interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

function parseLine(line: string): OfflineRequest | undefined {
  const all = split(line);
  const [verb, ...rest] = all.slice(all.findIndex((word) => !is(word, polite)));
  switch (verb?.text.toLowerCase()) {
    case "help":
    case "what":
      return { kind: "help" };
    case "list":
    case "ls":
      return { kind: "list", path: pathIn(rest) ?? "." };
    case "show":
      return rest.some((word) => is(word, containers)) && !rest.some((word) => is(word, words("file")))
        ? { kind: "list", path: pathIn(rest) ?? "." }
        : readRequest(rest);
    case "read":
    case "cat":
    case "open":
    case "print":
      return readRequest(rest);
    case "find":
    case "search":
    case "grep":
    case "look":
      return findRequest(rest);
    case "write":
    case "save":
      return writeRequest(rest);
    case "survey":
    case "summarize":
    case "summarise":
    case "describe":
      return surveyRequest(rest);
    default:
      return undefined;
  }
}

function readRequest(rest: readonly Word[]): OfflineRequest | undefined {
  const path = pathIn(rest);
  return path === undefined ? undefined : { kind: "read", path };
}

function findRequest(rest: readonly Word[]): OfflineRequest | undefined {
  const cut = lastIndexOf(rest, inWords);
  const what = (cut < 0 ? rest : rest.slice(0, cut)).filter((word) => !is(word, words("for me")));
  const path = (cut < 0 ? undefined : pathIn(rest.slice(cut + 1))) ?? ".";
  const wantsFiles =
    what.length > 1 &&
    is(
      what.find((word) => !is(word, articles)),
      words("file files"),
    );
  const named = wantsFiles
    ? what.filter((word) => !is(word, new Set([...articles, ...words("file files named called matching like")])))
    : what;
  const query = named.map((word) => word.text).join(" ");
  if (query === "") return undefined;
  if (!wantsFiles && !/^[^\s"']*[*?][^\s"']*$/.test(query)) return { kind: "search", query, path };
  return { kind: "files", pattern: query.includes("/") ? query : `**/${query}`, path };
}

function writeRequest(rest: readonly Word[]): OfflineRequest | undefined {
  const cut = lastIndexOf(rest, toWords);
  const path = pathIn(rest.slice(cut + 1));
  const text = rest.slice(0, Math.max(cut, 0)).map((word) => word.text);
  return cut < 1 || path === undefined ? undefined : { kind: "write", text: text.join(" "), path };
}

function surveyRequest(rest: readonly Word[]): OfflineRequest {
  const cut = lastIndexOf(rest, toWords);
  const report = cut < 0 ? undefined : pathIn(rest.slice(cut + 1));
  const and = rest.findIndex((word) => is(word, words("and")));
  const end = [and, cut].filter((index) => index >= 0).reduce((a, b) => Math.min(a, b), rest.length);
  return { kind: "survey", path: pathIn(rest.slice(0, end)) ?? ".", report };
}

/** The first word that is no filler, free of the punctuation that ends a sentence. */
function pathIn(rest: readonly Word[]): string | undefined {
  const filler = new Set([...articles, ...containers, ...inWords, ...words("here code codebase everything")]);
  const word = rest.find((candidate) => !is(candidate, filler));
  if (!word || word.quoted) return word?.text;
  return word.text.replace(/[,;:!?]+$/, "").replace(/([^./])\.$/, "$1") || undefined;
}

function split(line: string): Word[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|`([^`]*)`|(\S+)/g)].map(([, double, single, back, bare]) => ({
    text: double ?? single ?? back ?? bare ?? "",
    quoted: bare === undefined,
  }));
}

function is(word: Word | undefined, set: ReadonlySet<string>): boolean {
  return word !== undefined && !word.quoted && set.has(word.text.toLowerCase());
}

function lastIndexOf(list: readonly Word[], set: ReadonlySet<string>): number {
  return list.findLastIndex((word) => is(word, set));
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}
