import { invalidArgument, isToolError, type JsonSchema } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { clip, cutBytes, messageOf, printableName, type Truncation, truncationNotice } from "@toolcrib/core/text";
import type { PathScope } from "@toolcrib/kit/files";
import { leftOutNotice, objectSchema } from "@toolcrib/kit/text";
import { type Counted, mostProblems, type Problem, type SearchMode } from "./engine/job.ts";
import type { SearchResult } from "./engine/searchResult.ts";

/** Returns the error to throw for a failed search. `field` names the argument that a pattern which does not compile came from. */
export function failedSearch(error: unknown, signal: AbortSignal | undefined, field: string): unknown {
  if (signal?.aborted) return signal.reason;
  if (isToolError(error)) return error;
  return invalidArgument(field, clip(messageOf(error), 500));
}

/** Words that a search did not finish. `advice` says what to do if the pattern was the cause. */
export function unfinishedMessage({ unfinished }: SearchResult, advice: string): string {
  const next = unfinished?.kind === "ended" ? "Call again." : advice;
  return `The search did not end: ${unfinished?.reason}. ${next}`;
}

export interface ReplyParts {
  /** Plural noun of the results. */
  unit: string;
  /** Shown instead of the results. */
  body: string | undefined;
  next: Truncation["next"];
  maxBytes: number;
  notices: readonly string[];
}

/** Returns the results, an empty line, then the notices, the one about a cut first. */
export function replyOf(result: SearchResult, { unit, body, next, maxBytes, notices }: ReplyParts): string {
  const text = result.text.slice(0, -1);
  const head = body ?? cutBytes(text, maxBytes);
  const cutLine = result.cutLine ?? (head.length < text.length ? Buffer.byteLength(text) : undefined);
  const cut: Truncation | undefined =
    cutLine !== undefined
      ? { shown: Buffer.byteLength(head), total: cutLine, unit: "bytes of the first line" }
      : result.more
        ? { shown: result.shown, total: result.total, unit, next }
        : undefined;
  const all = cut === undefined ? notices : [truncationNotice(cut), ...notices];
  return all.length === 0 ? head : `${head}\n\n${all.join("\n")}`;
}

/**
 * Words what a search did not look at: what it could not read, holes, ignored folders that the glob named (`argument` is where to pass
 * them), denied names, and where nothing was found the binary and ignored files that may match.
 */
export function noticesOf(scope: PathScope, result: SearchResult, argument: "paths" | "cwd"): string[] {
  const { problems, problemCount, holes, binaries, leftOut, shown } = result;
  const print = (path: string): string => scope.print(path);
  const notices = [
    problemNotice(scope, problems, problemCount),
    holes.length > 0 &&
      `[left out: ${holes.map(({ path, bytes }) => `a hole of ${bytes} NUL bytes in ${print(path)}`).join(", ")}]`,
    ...ignoredNotices(scope, result, argument),
    shown === 0 && binaries > 0 && `[left out: ${binaries} binary ${binaries === 1 ? "file" : "files"} that may match]`,
    leftOut > 0 && leftOutNotice(leftOut),
  ];
  return notices.filter((notice) => typeof notice === "string");
}

/** Folders that a glob names are told always, everything else that is ignored where nothing was found. */
function ignoredNotices(
  scope: PathScope,
  { ignored, ignoredFiles, ignoredFolders, shown }: SearchResult,
  argument: "paths" | "cwd",
): string[] {
  const asked = { count: ignored.length, first: ignored };
  const folders = ignored.length > 0 || shown > 0 ? asked : ignoredFolders;
  const files = shown > 0 ? { count: 0, first: [] } : ignoredFiles;
  const isList = argument === "cwd";
  const searched = isList ? folders : { count: files.count + folders.count, first: [...files.first, ...folders.first] };
  const how = `to search ${searched.count > 1 ? "one" : "it"}, pass it ${isList ? "as cwd" : "in paths"}`;
  return [
    ...(isList && files.count > 0 ? [`[ignored, so not listed: ${listPaths(scope, files)}]`] : []),
    ...(searched.count > 0 ? [`[ignored, so not searched: ${listPaths(scope, searched)}; ${how}]`] : []),
  ];
}

function listPaths(scope: PathScope, { count, first }: Counted): string {
  // Starts may overlap.
  const paths = [...new Set(first)];
  const named = paths.slice(0, mostProblems).map((path) => scope.print(path));
  const others = count - first.length + paths.length - named.length;
  return `${named.join(", ")}${others > 0 ? `, and ${others} more` : ""}`;
}

function problemNotice(scope: PathScope, problems: readonly Problem[], count: number): string | undefined {
  if (count === 0) return undefined;
  const named = problems.map(({ path, code }) => `${scope.print(path)} (${problemWords[code] ?? code})`);
  const more = count > named.length ? `, and ${count - named.length} more` : "";
  return `[could not read ${named.join(", ")}${more}]`;
}

const problemWords: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENAMETOOLONG: "its path is too long",
  ENOENT: "its name is not valid UTF-8",
  ELOOP: "it became a link",
  ERR_ACCESS_DENIED: "refused by Node's permission model",
  binary: "a binary file",
  longLine: "a line too long for a regular expression here",
};

/** Characters of results that are given as data too: more would hardly fit, and take time for nothing. */
const longestData = 100 * 1024;

const text: JsonSchema = { type: "string" };
const count: JsonSchema = { type: "integer", minimum: 0 };
const leftOut: Record<string, JsonSchema> = { "left_out?": count, "could_not_read?": count };

/** The data of `search_text`: `matches`, or `files` in the other modes. */
export const textDataSchema: JsonSchema = objectSchema({
  "matches?": { type: "array", items: objectSchema({ path: text, line: count, text }) },
  "files?": { type: "array", items: objectSchema({ path: text, "count?": count }) },
  more: { type: "boolean" },
  ...leftOut,
});

/** The data of `search_files`. */
export const filesDataSchema: JsonSchema = objectSchema({
  files: { type: "array", items: text },
  total: count,
  ...leftOut,
});

/** Returns the data; undefined for more than it may hold. */
export function textData(result: SearchResult, mode: SearchMode): Record<string, unknown> | undefined {
  if (result.text.length > longestData) return undefined;
  const lists = mode === "lines" ? { matches: matchesOf(result) } : { files: filesOf(result, mode) };
  return { ...lists, more: result.more, ...unseen(result) };
}

/** Returns the data; undefined for more than it may hold. */
export function filesData(result: SearchResult): Record<string, unknown> | undefined {
  if (result.text.length > longestData) return undefined;
  const files = filesOf(result, "files").map(({ path }) => path);
  return { files, total: result.total ?? files.length, ...unseen(result) };
}

function unseen({ leftOut, problemCount }: SearchResult): Record<string, number> {
  return { ...(leftOut > 0 && { left_out: leftOut }), ...(problemCount > 0 && { could_not_read: problemCount }) };
}

function matchesOf({ text, places }: SearchResult): unknown[] {
  return places.map(({ start, end, pathLength }) => {
    // Neighbours have `-` behind the path, and a group begins with `--`.
    const lines = text.slice(start, end).split("\n");
    const match = lines.find((line) => line.length > pathLength && line[pathLength] === ":") ?? "";
    const colon = match.indexOf(":", pathLength + 1);
    const line = Number(match.slice(pathLength + 1, colon));
    return { path: nameOf(match.slice(0, pathLength)), line, text: match.slice(colon + 1) };
  });
}

function filesOf({ text, places }: SearchResult, mode: SearchMode): { path: string; count?: number }[] {
  return places.map(({ start, end, pathLength }) => {
    const path = nameOf(text.slice(start, start + pathLength));
    return mode === "count" ? { path, count: Number(text.slice(start + pathLength + 1, end)) } : { path };
  });
}

/** Returns a path as it is, of one that may be printed as a JSON string. */
function nameOf(printed: string): string {
  if (!printed.startsWith('"')) return printed;
  const name: unknown = attempt(() => JSON.parse(printed));
  return typeof name === "string" && printableName(name) === printed ? name : printed;
}
