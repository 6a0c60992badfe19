import { clip } from "@toolcrib/core/text";
import type { ToolMessage } from "../../messages.ts";
import {
  type IsEnabled,
  isEmpty,
  isNotice,
  linesOf,
  missingTool,
  noResult,
  noticeOf,
  type OfflineCall,
  plural,
  refusalToWrite,
  type Script,
} from "./answer.ts";
import type { OfflineRequest } from "./request.ts";

const mostFilesRead = 4;
const mostFilesListed = 5000;
const mostMarksShown = 10;
const mostFoldersShown = 20;
const mostKindsShown = 8;

/** The files that tell most about a project, most telling first. */
const telling: readonly RegExp[] = [
  /^readme(\.\w+)?$/i,
  /^(package|composer|deno)\.json$/,
  /^(pyproject|Cargo)\.toml$/,
  /^(go\.mod|pom\.xml|build\.gradle(\.kts)?|Gemfile|CMakeLists\.txt|Makefile|setup\.py)$/,
  /^(AGENTS|CONTRIBUTING)\.md$/,
];

/** Lists and searches, reads the files that tell most, writes the report and shows it. */
export function* survey(request: Extract<OfflineRequest, { kind: "survey" }>, isEnabled: IsEnabled): Script {
  const { path, report: file } = request;
  const looks: readonly OfflineCall[] = [
    { name: "list_dir", args: { path } },
    { name: "search_text", args: { query: "\\b(TODO|FIXME)\\b", regex: true, paths: [path] } },
    { name: "search_files", args: { pattern: "**/*", cwd: path, max_results: mostFilesListed } },
  ];
  const seen = yield looks.filter((call) => isEnabled(call.name));
  if (seen.length === 0) return { text: looks.map((call) => missingTool(call.name)).join("\n"), failed: true };
  const names = isEnabled("read_file") ? linesOf(outputOf(seen, "list_dir") ?? "") : [];
  const files = telling.flatMap((pattern) => names.filter((name) => pattern.test(name))).slice(0, mostFilesRead);
  const texts = yield files.map((name) => ({
    name: "read_file",
    // A part of a JSON file cannot be parsed.
    args: { path: join(path, name), ...(!name.endsWith(".json") && { limit: 200 }) },
  }));
  const failures = [...seen, ...texts].filter((result) => result.isError);
  const failed = failures.length === seen.length + texts.length;
  const missing = [...looks.map((call) => call.name), "read_file"].filter((name) => !isEnabled(name));
  const parts = [
    `# Survey of ${path}`,
    about(files, texts),
    section("Top level", outputOf(seen, "list_dir"), entries),
    section("Files", outputOf(seen, "search_files"), kinds),
    section("TODO and FIXME", outputOf(seen, "search_text"), marks),
    missing.length > 0 ? `Not read, because these tools are not enabled: ${missing.join(", ")}.` : "",
    ...failures.map(({ output }) => `Not seen: ${output}`),
  ];
  const report = `${parts.filter((part) => part !== "").join("\n\n")}\n`;
  if (file === undefined) return { text: report, failed };
  if (!isEnabled("write_file")) return { text: `${missingTool("write_file")}\n\n${report}`, failed: true };
  const refusal = yield* refusalToWrite(file, isEnabled);
  if (refusal !== undefined) return { text: `${report}\n${refusal}\n`, failed: true };
  const [written = noResult] = yield [{ name: "write_file", args: { path: file, content: report } }];
  const closing = written.isError ? `The report could not be written: ${written.output}` : `The report is in ${file}`;
  return { text: `${report}\n${closing}\n`, failed: failed || written.isError };
}

/** Returns a tool's output; undefined if it was not called or failed. */
function outputOf(results: readonly ToolMessage[], name: string): string | undefined {
  return results.find((result) => result.name === name && !result.isError)?.output;
}

function join(folder: string, name: string): string {
  return folder === "." ? name : `${folder.replace(/\/$/, "")}/${name}`;
}

function about(files: readonly string[], texts: readonly ToolMessage[]): string {
  const lines = files.flatMap((file, index) => {
    const { output, isError } = texts[index] ?? noResult;
    const line = isError ? "" : file.endsWith(".json") ? packageFacts(output) : opening(output);
    return line === "" ? [] : [`- ${file}: ${line}`];
  });
  return lines.length > 0 ? `## What it says about itself\n\n${lines.join("\n")}` : "";
}

function packageFacts(text: string): string {
  try {
    const { name, description, scripts, dependencies }: Record<string, object | undefined> = JSON.parse(text);
    const scriptCount = plural(Object.keys(scripts ?? {}).length, "script");
    const counts = [scriptCount, plural(Object.keys(dependencies ?? {}).length, "dependency", "dependencies")];
    return [name, description, ...counts].filter((part) => typeof part === "string").join(" · ");
  } catch {
    return noticeOf(text) === undefined ? "not readable as JSON" : "too long to read here";
  }
}

/** Returns the first two paragraphs that are prose or a heading. */
function opening(text: string): string {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .replace(/^#+\s*/, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((paragraph) => /^[^<[!/`|]*[\p{L}\p{N}]/u.test(paragraph) && !isNotice(paragraph))
    .slice(0, 2)
    .map((paragraph) => clip(paragraph, 160))
    .join(" · ");
}

/** Returns the first `most` of some items, and how many more there are. */
function firstOf(items: readonly string[], most: number, separator: string, one: string): string {
  const left = items.length - most;
  const more = left > 0 ? [`… and ${plural(left, `more ${one}`)}`] : [];
  return [...items.slice(0, most), ...more].join(separator);
}

/** Returns a part of the report, from the lines that a tool returned; `count` says how many of something there are, or are at least. */
function section(
  title: string,
  output: string | undefined,
  body: (lines: readonly string[], count: (number: number, one: string) => string) => string,
): string {
  if (output === undefined) return "";
  const atLeast = noticeOf(output) === undefined ? "" : "At least ";
  const lines = isEmpty(output) ? [] : linesOf(output);
  return `## ${title}\n\n${body(lines, (number, one) => `${atLeast}${plural(number, one)}`)}`;
}

type Body = Parameters<typeof section>[2];

const entries: Body = (names, count) => {
  const folders = names.filter((name) => name.endsWith("/"));
  const shown = folders.length > 0 ? `: ${firstOf(folders, mostFoldersShown, " ", "folder")}` : "";
  return `${count(folders.length, "folder")}, ${plural(names.length - folders.length, "file")}${shown}`;
};

const kinds: Body = (paths, count) => {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const kind = /[^/.][^/]*(\.[^./]+)$/.exec(path)?.[1] ?? "no extension";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const rows = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map((row) => row.join(" "));
  return `${count(paths.length, "file")}: ${firstOf(rows, mostKindsShown, ", ", "kind") || "none"}`;
};

const marks: Body = (lines, count) => {
  if (lines.length === 0) return "None.";
  const files = new Set(lines.map((line) => line.slice(0, line.search(/:\d+:/)))).size;
  const rows = lines.map((line) => `- ${line.trim().slice(0, 200)}`);
  return `${count(lines.length, "mark")} in ${plural(files, "file")}:\n\n${firstOf(rows, mostMarksShown, "\n", "mark")}`;
};
