import { invalidArgument, isToolError } from "@toolcrib/core";
import { clip, cutBytes, messageOf, type Truncation, truncationNotice } from "@toolcrib/core/text";
import type { PathScope } from "@toolcrib/kit/files";
import { leftOutNotice } from "@toolcrib/kit/text";
import { type Counted, mostProblems, type Problem } from "./engine/job.ts";
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
