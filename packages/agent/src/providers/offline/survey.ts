import { clip } from "@toolcrib/core/text";
import type { ToolMessage } from "../../messages.ts";
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
import { beforeWriting } from "./target.ts";

type SurveyRequest = Extract<OfflineRequest, { kind: "survey" }>;

const mostFilesRead = 4;
const mostFilesListed = 5000;
const mostMarksShown = 10;
const mostFoldersShown = 20;
const mostKindsShown = 8;

// What tells most about a project, most telling first.
const telling: readonly RegExp[] = [
  /^readme(\.\w+)?$/i,
  /^(package|composer|deno)\.json$/,
  /^(pyproject|Cargo)\.toml$/,
  /^(go\.mod|pom\.xml|build\.gradle(\.kts)?|Gemfile|CMakeLists\.txt|Makefile|setup\.py)$/,
  /^(AGENTS|CONTRIBUTING)\.md$/,
];

/** Look, read what matters, write the report, tell: each step follows from what the tools have returned. */
export function nextSurveyStep(request: SurveyRequest, progress: Progress): OfflineStep {
  const { replies, results, isEnabled } = progress;
  if (replies.length === 0) {
    const calls = looks(request.path).filter((call) => isEnabled(call.name));
    return calls.length > 0
      ? { calls }
      : {
          text: looks(request.path)
            .map((call) => missingTool(call.name))
            .join("\n"),
          failed: true,
        };
  }
  if (replies.length === 1 && isEnabled("read_file")) {
    const calls = tellingFiles(results).map((name) => ({
      name: "read_file",
      // JSON says nothing in part.
      args: { path: join(request.path, name), ...(!name.endsWith(".json") && { limit: 200 }) },
    }));
    if (calls.length > 0) return { calls };
  }
  // The look at the report's own folder is no part of the survey.
  const own = results.filter(({ name }, index) => name !== "list_dir" || index === 0);
  const report = reportOf(request.path, own, isEnabled);
  const written = results.findLast((result) => result.name === "write_file");
  const sawNothing = own.every((result) => result.isError || result === written);
  if (request.report === undefined) return { text: report, failed: sawNothing };
  if (!isEnabled("write_file")) return { text: `${missingTool("write_file")}\n\n${report}`, failed: true };
  const before = request.overwrite ? undefined : beforeWriting(request.report, progress);
  if (before) return "text" in before ? { text: `${report}\n${before.text}\n`, failed: true } : before;
  if (!written) return { calls: [{ name: "write_file", args: { path: request.report, content: report } }] };
  return {
    text: `${report}\n${written.isError ? `The report could not be written: ${written.output}` : `The report is in ${request.report}`}\n`,
    failed: written.isError || sawNothing,
  };
}

function looks(path: string): readonly OfflineCall[] {
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
  const missing = [...looks(path).map((call) => call.name), "read_file"].filter((name) => !isEnabled(name));
  if (missing.length > 0) parts.push(`Not looked at, as these tools are not enabled: ${missing.join(", ")}.`);
  for (const result of results)
    if (result.isError && result.name !== "write_file") parts.push(`Not seen: ${result.output}`);
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function about(results: readonly ToolMessage[]): string {
  const files = tellingFiles(results);
  const texts = results.filter((result) => result.name === "read_file");
  const lines = texts.flatMap((result, index) => {
    const line = result.isError ? "" : firstFact(files[index] ?? "", result.output);
    return line === "" ? [] : [`- ${files[index] ?? "file"}: ${line}`];
  });
  return lines.length > 0 ? `## What it says of itself\n\n${lines.join("\n")}` : "";
}

function firstFact(file: string, text: string): string {
  if (file.endsWith(".json")) {
    try {
      const { name, description, scripts, dependencies } = JSON.parse(text) as Record<string, unknown>;
      const counts = [
        `${plural(sizeOf(scripts), "script")}`,
        `${plural(sizeOf(dependencies), "dependency", "dependencies")}`,
      ];
      return [name, description, ...counts].filter((part) => typeof part === "string").join(" · ");
    } catch {
      return noticeOf(text) === undefined ? "not readable as JSON" : "too long to read here";
    }
  }
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

function sizeOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function entries(results: readonly ToolMessage[]): string {
  const output = outputOf(results, "list_dir");
  if (output === undefined) return "";
  const names = linesOf(output);
  const folders = names.filter((name) => name.endsWith("/"));
  const shown = folders.slice(0, mostFoldersShown).join(" ");
  const left = folders.length - mostFoldersShown;
  const more = left > 0 ? ` … and ${plural(left, "more folder")}` : "";
  const atLeast = noticeOf(output) ? "At least " : "";
  return `## Top level\n\n${atLeast}${plural(folders.length, "folder")}, ${plural(names.length - folders.length, "file")}${shown && `: ${shown}${more}`}`;
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
  const rows = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const shown = rows.slice(0, mostKindsShown).map(([kind, count]) => `${kind} ${count}`);
  const left = rows.length - shown.length;
  if (left > 0) shown.push(`and ${plural(left, "more kind")}`);
  const atLeast = noticeOf(output) ? "At least " : "";
  return `## Files\n\n${atLeast}${plural(paths.length, "file")}: ${shown.join(", ") || "none"}`;
}

function marks(results: readonly ToolMessage[]): string {
  const output = outputOf(results, "search_text");
  if (output === undefined) return "";
  const lines = output.startsWith("No ") ? [] : linesOf(output);
  if (lines.length === 0) return "## TODO and FIXME\n\nNone.";
  const files = new Set(lines.map((line) => line.slice(0, line.search(/:\d+:/)))).size;
  const atLeast = noticeOf(output) ? "At least " : "";
  const shown = lines.slice(0, mostMarksShown).map((line) => `- ${line.trim().slice(0, 200)}`);
  const left = lines.length - shown.length;
  if (left > 0) shown.push(`- … and ${left} more`);
  return `## TODO and FIXME\n\n${atLeast}${plural(lines.length, "mark")} in ${plural(files, "file")}:\n\n${shown.join("\n")}`;
}
