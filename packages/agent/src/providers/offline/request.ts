/** A request that the stand-in understands. */
export type OfflineRequest =
  | { readonly kind: "help" }
  | { readonly kind: "list" | "read"; readonly path: string }
  | { readonly kind: "search"; readonly query: string; readonly path: string }
  | { readonly kind: "write"; readonly text: string; readonly path: string }
  | { readonly kind: "survey"; readonly path: string; readonly report: string | undefined };

/** The documented requests, as the stand-in lists them. */
export const understood: readonly string[] = [
  "list PATH",
  "find TEXT in PATH (or: search for TEXT in PATH)",
  "read FILE",
  'write "TEXT" to FILE (words in quotes, to a file that does not exist yet)',
  "survey PATH and write a report to FILE",
];

/** A request is short; longer text was piped in. */
const longest = 10_000;

/** Returns a pattern for a word, or several in quotes. */
const named = (name: string): string => `(?:"(?<${name}Quoted>.*?)"|'(?<${name}Single>.*?)'|(?<${name}>[^\\s"']+))`;

const rules = [
  ["help", "help"],
  ["list", `list(?: ${named("path")})?`],
  ["read", `read ${named("path")}`],
  ["search", `(?:find|search for) ${named("text")}(?: in ${named("path")})?`],
  ["write", `write ${named("text")} to ${named("path")}`],
  ["survey", `survey(?: this project| ${named("path")})?(?: and write a (?:short )?report to ${named("report")})?`],
].map(([kind, pattern]) => ({ kind, pattern: new RegExp(`^(?:${pattern})[.!]?$`, "is") }));

/** Reads a request in the documented words. Undefined if none fits. What was piped in comes before it, on lines of its own. */
export function parseRequest(text: string): OfflineRequest | undefined {
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return parseLine(last.trim()) ?? parseLine(text.trim());
}

function parseLine(line: string): OfflineRequest | undefined {
  if (line.length > longest) return undefined;
  for (const { kind, pattern } of rules) {
    const groups = pattern.exec(line)?.groups;
    if (groups) return toRequest(kind, groups);
    if (kind === "help" && pattern.test(line)) return { kind };
  }
  return undefined;
}

function toRequest(kind: string | undefined, groups: Readonly<Record<string, string>>): OfflineRequest | undefined {
  const phrase = (name: string): string | undefined =>
    groups[`${name}Quoted`] ?? groups[`${name}Single`] ?? groups[name]?.replace(/(?<=[^./])[.,!]+$/, "");
  const [text = "", path = ".", report] = ["text", "path", "report"].map(phrase);
  switch (kind) {
    case "list":
    case "read":
      return { kind, path };
    case "search":
      return { kind, query: text, path };
    case "write":
      return { kind, text, path };
    case "survey":
      return { kind, path, report };
    default:
      return undefined;
  }
}
