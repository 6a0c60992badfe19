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

/** A word, or several in quotes. */
const named = (name: string): string => `(?:"(?<${name}Quoted>.*?)"|'(?<${name}Single>.*?)'|(?<${name}>[^\\s"']+))`;
const where = `(?: in (?:this (?:project|folder)|${named("path")}))?`;
const overwriting = "(?<overwrite>,? overwriting it)?";

const rules = [
  ["help", "help|\\?|hello|hi"],
  ["list", `list(?: ${named("path")})?`],
  ["read", `read ${named("path")}`],
  ["files", `find files ${named("text")}${where}`],
  ["search", `(?:find|search for) ${named("text")}${where}`],
  ["write", `write ${named("text")} to ${named("path")}${overwriting}`],
  ["write", `(?<overwrite>overwrite) ${named("path")} with ${named("text")}`],
  [
    "survey",
    `survey(?: this project| ${named("path")})?(?: and write a (?:short )?report to ${named("report")})?${overwriting}`,
  ],
].map(([kind, pattern]) => ({ kind, pattern: new RegExp(`^(?:${pattern})[.!]?$`, "is") }));

/** Reads a request in the documented words. Undefined if none fits. */
export function parseRequest(text: string): OfflineRequest | undefined {
  // What was piped in comes before the request.
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return parseLine(last) ?? parseLine(text);
}

function parseLine(text: string): OfflineRequest | undefined {
  const line = text.trim();
  if (line.length > longest) return undefined;
  for (const { kind, pattern } of rules) {
    const found = pattern.exec(line);
    if (found) return toRequest(kind, found.groups ?? {});
  }
  return undefined;
}

function toRequest(kind: string | undefined, groups: Readonly<Record<string, string>>): OfflineRequest | undefined {
  const phrase = (name: string): string | undefined =>
    groups[`${name}Quoted`] ?? groups[`${name}Single`] ?? groups[name]?.replace(/(?<=[^./])[.,!]+$/, "");
  const [text = "", path = ".", report] = ["text", "path", "report"].map(phrase);
  const replaced = groups.overwrite === undefined ? {} : ({ overwrite: true } as const);
  switch (kind) {
    case "list":
    case "read":
      return { kind, path };
    case "files":
      return { kind, pattern: text.includes("/") ? text : `**/${text}`, path };
    case "search":
      return { kind, query: text, path };
    case "write":
      return { kind, text, path, ...replaced };
    case "survey":
      return "overwrite" in replaced && report === undefined ? undefined : { kind, path, report, ...replaced };
    default:
      return { kind: "help" };
  }
}
