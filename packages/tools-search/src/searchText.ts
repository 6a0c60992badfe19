import { defineTool, type ExecutableTool, isToolError, ToolError } from "@toolcrib/core";
import { createPathScope, isInside, type PathScope } from "@toolcrib/core/files";
import { clip, truncationNotice } from "@toolcrib/core/text";
import { matchLimitMs, type SearchOptions } from "./options.ts";
import type { SearchStart } from "./protocol.ts";
import { runSearch, type SearchResult } from "./runSearch.ts";
import { sharedSearchPool } from "./searchPool.ts";
import { problemNotice, resolveStart } from "./searchStart.ts";

/** Matches shown where the call does not say. */
const defaultMaxResults = 500;

/** Makes `search_text`: finds lines in files, as `path:line:text`. */
export function createSearchTextTool(options: SearchOptions = {}): ExecutableTool {
  const scope = createPathScope(options);
  return defineTool({
    name: "search_text",
    description: "Find lines in files, as path:line:text. Skips .gitignored and binary files.",
    readOnly: true,
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, description: "Text, or pattern with regex" },
        paths: { type: "array", items: { type: "string" }, description: "Files or directories" },
        regex: { type: "boolean", description: "JavaScript syntax; default literal" },
        case_sensitive: { type: "boolean", description: "Default true" },
        include: { type: "string", minLength: 1, description: "File glob, e.g. *.ts" },
        context: { type: "integer", minimum: 0, description: "Lines around" },
        max_results: { type: "integer", minimum: 1, description: `Default ${defaultMaxResults}` },
      },
      required: ["query", "paths"],
      additionalProperties: false,
    },
    async execute(args, { signal }) {
      const { query, paths, regex = false, case_sensitive = true, include, context = 0 } = args;
      const wanted = args.max_results ?? defaultMaxResults;
      checkQuery(query, regex);
      const { starts, missing } = await resolveStarts(scope, paths.length === 0 ? ["."] : paths);
      const result = await runSearch(
        sharedSearchPool(),
        {
          kind: "text",
          starts,
          query: { text: query, regex, caseSensitive: case_sensitive },
          include: include === undefined ? undefined : includePatterns(scope, include, starts),
          context,
          limit: wanted + 1,
          roots: scope.roots,
        },
        { signal, matchLimitMs: regex || include !== undefined ? (options.matchLimitMs ?? matchLimitMs) : Infinity },
      ).catch((error: unknown) => {
        throw signal?.aborted
          ? signal.reason
          : invalid("query", error instanceof Error ? error.message : String(error));
      });
      const notices = [...missing, problemNotice(scope, result.problems, result.problemCount) ?? ""].filter(Boolean);
      if (result.unfinished !== undefined) throw unfinished(result, notices);
      if (result.shown < result.total) {
        const next = { argument: "max_results", value: wanted * 4 };
        notices.unshift(truncationNotice({ shown: result.shown, unit: "matches", next }));
      }
      const body = result.text === "" ? noMatches(query, include) : result.text.slice(0, -1);
      return notices.length === 0 ? body : `${body}\n\n${notices.join("\n")}`;
    },
  });
}

function checkQuery(query: string, regex: boolean): void {
  if (!regex) {
    if (/\n/.test(query)) throw invalid("query", "a line never holds a line break; search for a part of one line");
    return;
  }
  try {
    new RegExp(query);
  } catch (error) {
    const next = query.startsWith("(?i)")
      ? "leave out (?i) and pass case_sensitive=false"
      : "correct it, or leave out regex to search for it as it is";
    throw invalid("query", `${(error as Error).message}; ${next}`);
  }
}

function invalid(field: string, reason: string): ToolError {
  const message = `Invalid arguments: ${field}: ${clip(reason, 500)}`;
  return new ToolError({ code: "invalid_arguments", message, details: { field, reason } });
}

/** Paths that lead nowhere are told beside what the others give; an error where none is left. */
async function resolveStarts(
  scope: PathScope,
  paths: readonly string[],
): Promise<{ starts: SearchStart[]; missing: string[] }> {
  const starts: SearchStart[] = [];
  const missing: string[] = [];
  let failed: unknown;
  for (const path of new Set(paths)) {
    try {
      starts.push(await resolveStart(scope, path, "paths"));
    } catch (error) {
      if (!isToolError(error) || error.code !== "execution_failed") throw error;
      failed ??= error;
      missing.push(`[${error.message}]`);
    }
  }
  if (starts.length === 0) throw failed;
  return { starts, missing };
}

/** The glob relative to each start; one written from the working directory is understood too. */
function includePatterns(scope: PathScope, include: string, starts: readonly SearchStart[]): string[] {
  const negated = include.startsWith("!") ? "!" : "";
  const glob = include.slice(negated.length).replace(/^(?:\.?\/)+/, "/");
  const patterns = new Set([negated + glob]);
  const fromCwd = glob.replace(/^\//, "");
  for (const { shown, path, isDirectory } of starts) {
    if (isDirectory && shown !== "" && isInside(scope.cwd, path) && fromCwd.startsWith(shown)) {
      patterns.add(`${negated}/${fromCwd.slice(shown.length)}`);
    }
  }
  return [...patterns];
}

function noMatches(query: string, include: string | undefined): string {
  return `No matches for ${clip(query)}${include === undefined ? "" : ` in files that match ${clip(include)}`}`;
}

function unfinished(result: SearchResult, notices: readonly string[]): ToolError {
  const found =
    result.text === "" ? "No matches so far." : `${result.shown} matches so far:\n${result.text.slice(0, -1)}`;
  const message = `The search did not end: ${result.unfinished}. Use a simpler pattern (no repetition inside a repetition) or fewer paths. ${found}`;
  return new ToolError({ code: "execution_failed", message: [message, ...notices].join("\n") });
}
