import { clip } from "@toolcrib/core/text";
import type { ToolMessage } from "../../messages.ts";
import { beforeWriting } from "./overwriteCheck.ts";
import type { OfflineRequest } from "./request.ts";
import {
  isNotice,
  linesOf,
  missingTool,
  noticeOf,
  type OfflineCall,
  type OfflineStep,
  type Progress,
  plural,
} from "./step.ts";

type SurveyRequest = Extract<OfflineRequest, { kind: "survey" }>;

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

/** Lists and searches, reads the files that tell most, writes the report and shows it: each step follows from the results. */
export function nextSurveyStep(request: SurveyRequest, progress: Progress): OfflineStep {
  const { replies, results, isEnabled } = progress;
  const looks = looksAt(request.path);
  if (replies.length === 0) {
    const calls = looks.filter((call) => isEnabled(call.name));
    if (calls.length > 0) return { calls };
    return { text: looks.map((call) => missingTool(call.name)).join("\n"), failed: true };
  }
  if (replies.length === 1 && isEnabled("read_file")) {
    const calls = tellingFiles(results).map((name) => ({
      name: "read_file",
      // A part of a JSON file cannot be parsed.
      args: { path: join(request.path, name), ...(!name.endsWith(".json") && { limit: 200 }) },
    }));
    if (calls.length > 0) return { calls };
  }
  // A later listing is the check of the report's folder, no part of the survey.
  const own = results.filter(({ name }, index) => name !== "write_file" && (name !== "list_dir" || index === 0));
  const report = reportOf(request.path, own, isEnabled);
  const failed = own.every((result) => result.isError);
  if (request.report === undefined) return { text: report, failed };
  if (!isEnabled("write_file")) return { text: `${missingTool("write_file")}\n\n${report}`, failed: true };
  const before = request.overwrite ? undefined : beforeWriting(request.report, progress);
  if (before) return "text" in before ? { text: `${report}\n${before.text}\n`, failed: true } : before;
  const written = results.find(({ name }) => name === "write_file");
  if (!written) return { calls: [{ name: "write_file", args: { path: request.report, content: report } }] };
  if (written.isError) return { text: `${report}\nThe report could not be written: ${written.output}\n`, failed: true };
  return { text: `${report}\nThe report is in ${request.report}\n`, failed };
}

function looksAt(path: string): readonly OfflineCall[] {
  return [
    { name: "list_dir", args: { path } },
    { name: "search_text", args: { query: "\\b(TODO|FIXME)\\b", regex: true, paths: [path] } },
    { name: "search_files", args: { pattern: "**/*", cwd: path, max_results: mostFilesListed } },
  ];
}

function outputOf(results: readonly ToolMessage[], name: string): string | undefined {
  const result = results.find((candidate) => candidate.name === name);
  return result && !result.isError ? result.output : undefined;
}

function tellingFiles(results: readonly ToolMessage[]): string[] {
  const names = linesOf(outputOf(results, "list_dir") ?? "");
  const found = telling.flatMap((pattern) => names.filter((name) => pattern.test(name)));
  return found.slice(0, mostFilesRead);
}

function join(folder: string, name: string): string {
  return folder === "." ? name : `${folder.replace(/\/$/, "")}/${name}`;
}

function reportOf(path: string, results: readonly ToolMessage[], isEnabled: Progress["isEnabled"]): string {
  const parts = [`# Survey of ${path}`, about(results), entries(results), kinds(results), marks(results)];
  const missing = [...looksAt(path).map((call) => call.name), "read_file"].filter((name) => !isEnabled(name));
  if (missing.length > 0) parts.push(`Not looked at, as these tools are not enabled: ${missing.join(", ")}.`);
  for (const result of results) if (result.isError) parts.push(`Not seen: ${result.output}`);
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function about(results: readonly ToolMessage[]): string {
  const files = tellingFiles(results);
  const texts = results.filter((result) => result.name === "read_file");
  const lines = texts.flatMap((result, index) => {
    const file = files[index] ?? "file";
    const line = result.isError ? "" : file.endsWith(".json") ? packageFacts(result.output) : opening(result.output);
    return line === "" ? [] : [`- ${file}: ${line}`];
  });
  return lines.length > 0 ? `## What it says of itself\n\n${lines.join("\n")}` : "";
}

function packageFacts(text: string): string {
  try {
    const { name, description, scripts, dependencies } = JSON.parse(text) as Record<string, object | undefined>;
    const scriptCount = plural(Object.keys(scripts ?? {}).length, "script");
    const counts = [scriptCount, plural(Object.keys(dependencies ?? {}).length, "dependency", "dependencies")];
    return [name, description, ...counts].filter((part) => typeof part === "string").join(" · ");
  } catch {
    return noticeOf(text) === undefined ? "not readable as JSON" : "too long to read here";
  }
}

/** The first two paragraphs that are prose or a heading. */
function opening(text: string): string {
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) =>
    paragraph
      .replace(/^#+\s*/, "")
      .replace(/\s+/g, " ")
      .trim(),
  );
  const prose = paragraphs.filter((paragraph) => /^[^<[!/`|]*[\p{L}\p{N}]/u.test(paragraph) && !isNotice(paragraph));
  return prose
    .slice(0, 2)
    .map((paragraph) => clip(paragraph, 160))
    .join(" · ");
}

/** The first `most` of some items, and how many more there are. */
function firstOf(items: readonly string[], most: number, separator: string, one: string): string {
  const left = items.length - most;
  const more = left > 0 ? [`… and ${plural(left, `more ${one}`)}`] : [];
  return [...items.slice(0, most), ...more].join(separator);
}

function counted(output: string, count: number, one: string): string {
  return `${noticeOf(output) === undefined ? "" : "At least "}${plural(count, one)}`;
}

function entries(results: readonly ToolMessage[]): string {
  const output = outputOf(results, "list_dir");
  if (output === undefined) return "";
  const names = linesOf(output);
  const folders = names.filter((name) => name.endsWith("/"));
  const files = plural(names.length - folders.length, "file");
  const shown = folders.length > 0 ? `: ${firstOf(folders, mostFoldersShown, " ", "folder")}` : "";
  return `## Top level\n\n${counted(output, folders.length, "folder")}, ${files}${shown}`;
}

function kinds(results: readonly ToolMessage[]): string {
  const output = outputOf(results, "search_files");
  if (output === undefined) return "";
  const paths = output.startsWith("No ") ? [] : linesOf(output);
  const counts = new Map<string, number>();
  for (const path of paths) {
    const kind = /[^/.][^/]*(\.[^./]+)$/.exec(path)?.[1] ?? "no extension";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const rows = [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([kind, count]) => `${kind} ${count}`);
  return `## Files\n\n${counted(output, paths.length, "file")}: ${firstOf(rows, mostKindsShown, ", ", "kind") || "none"}`;
}

function marks(results: readonly ToolMessage[]): string {
  const output = outputOf(results, "search_text");
  if (output === undefined) return "";
  const lines = output.startsWith("No ") ? [] : linesOf(output);
  if (lines.length === 0) return "## TODO and FIXME\n\nNone.";
  const files = new Set(lines.map((line) => line.slice(0, line.search(/:\d+:/)))).size;
  const rows = lines.map((line) => `- ${line.trim().slice(0, 200)}`);
  const title = `${counted(output, lines.length, "mark")} in ${plural(files, "file")}`;
  return `## TODO and FIXME\n\n${title}:\n\n${firstOf(rows, mostMarksShown, "\n", "mark")}`;
}
