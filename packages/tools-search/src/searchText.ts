import { setImmediate as nextTurn } from "node:timers/promises";
import {
  defineTool,
  type ExecutableTool,
  invalidArgument,
  isToolError,
  type ToolEffect,
  ToolError,
  toolOutput,
} from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";
import { isInside, LookAlikes, mayHoldEntries, type PathScope, pathEffect } from "@toolcrib/kit/files";
import { leavesOut } from "./engine/globs.ts";
import type { Globs, Query, SearchStart } from "./engine/job.ts";
import { needsLineBreak } from "./engine/requiredLiterals.ts";
import type { SearchResult } from "./engine/searchResult.ts";
import { readExpression } from "./expression/readExpression.ts";
import { memoryOf } from "./memory/fileMemory.ts";
import { origin, type SearchOptions, settingsOf } from "./options.ts";
import {
  asBraces,
  checkBraces,
  checkLength,
  limitsOf,
  longestGlob,
  longestQuery,
  resolveStart,
  treeOf,
  withoutNeedlessBraces,
} from "./searchArguments.ts";
import { failedSearch, noticesOf, replyOf, textData, textDataSchema, unfinishedMessage } from "./searchReply.ts";

/** The values of arguments that are left out. */
const defaults = { regex: false, case_sensitive: true, mode: "lines", context: 0, max_results: 500 } as const;

/** Missing paths listed at most. */
const mostMissing = 5;

/** Paths looked up at the disk before other work may run. */
const pathsAtOnce = 100;

/** Makes `search_text`: finds lines in files, as `path:line:text`. Throws a TypeError for options that cannot be understood. */
export function createSearchTextTool(options: SearchOptions = {}): ExecutableTool {
  const { scope, matchLimitMs, maxReplyBytes, searchMemory } = settingsOf("createSearchTextTool", options);
  return defineTool({
    name: "search_text",
    origin,
    description: "Find single lines in files, as path:line:text. Skips .gitignored and binary files, not dotfiles.",
    readOnly: true,
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, description: "Literal text, or pattern if regex" },
        paths: { type: "array", items: { type: "string" }, description: "Files or directories" },
        regex: { type: "boolean", description: "JavaScript syntax; default false" },
        case_sensitive: { type: "boolean", description: "Default true" },
        include: { type: "string", minLength: 1, description: "Glob at any depth, e.g. *.ts" },
        mode: { enum: ["lines", "files", "count"], description: "Default lines; count: matching lines per file" },
        context: { type: "integer", minimum: 0, description: "Lines around" },
        max_results: { type: "integer", minimum: 1, description: `Default ${defaults.max_results}` },
      },
      required: ["query", "paths"],
      additionalProperties: false,
    },
    defaults,
    outputSchema: textDataSchema,
    async effects({ query, paths, regex = defaults.regex, case_sensitive = defaults.case_sensitive, include }) {
      readQuery(query, regex, case_sensitive);
      checkInclude(include);
      const effects: ToolEffect[] = [];
      const alike = new LookAlikes(scope);
      for (const path of startPaths(paths)) {
        if (effects.length % pathsAtOnce === pathsAtOnce - 1) await nextTurn();
        const { path: canonical } = await alike.resolve(path, "read", "paths");
        effects.push(pathEffect("read", canonical, path, scope, mayHoldEntries(canonical)));
      }
      return effects;
    },
    async execute(args, { signal }) {
      const { query, paths, regex = defaults.regex, include, mode = defaults.mode } = args;
      const { case_sensitive: caseSensitive = defaults.case_sensitive, context = defaults.context } = args;
      const wanted = args.max_results ?? defaults.max_results;
      const read = readQuery(query, regex, caseSensitive);
      checkInclude(include);
      const { starts, missing } = await resolveStarts(scope, startPaths(paths), signal);
      // Loaded with the first search: a program that only imports this package need not pay for it.
      const { search } = await import("./threads/runSearch.ts");
      const result = await search(
        {
          starts,
          query: read,
          globs: include === undefined ? undefined : includeGlobs(scope, include, starts),
          mode,
          context: mode === "lines" ? context : 0,
          limit: wanted + 1,
          maxBytes: maxReplyBytes,
          memory: memoryOf(treeOf(scope, starts), searchMemory),
          ...limitsOf(scope),
        },
        { signal, matchLimitMs: regex || include !== undefined ? matchLimitMs : Infinity },
      ).catch((error: unknown) => {
        throw failedSearch(error, signal, "query");
      });
      const notices = [...missing, ...noticesOf(scope, result, "paths")];
      const unit = mode === "lines" ? "matches" : "files";
      if (result.unfinished !== undefined) throw unfinished(result, unit, notices);
      const body = result.text === "" ? noMatches(query, regex, include) : undefined;
      // A reply that was cut by its length would not be longer with more results.
      const next = result.shown === wanted ? { argument: "max_results", value: wanted * 4 } : undefined;
      const reply = replyOf(result, { unit, body, next, maxBytes: maxReplyBytes, notices });
      return toolOutput(reply, { data: textData(result, mode) });
    },
  });
}

/** Returns the query as it is searched for. Throws for one that cannot be found, or that is no expression here. */
function readQuery(query: string, regex: boolean, caseSensitive: boolean): Query {
  checkLength("query", query, longestQuery);
  const { source, ignoresCase } = regex ? readExpression(query, caseSensitive) : { source: query, ignoresCase: false };
  if (regex ? needsLineBreak(source) : query.includes("\n")) {
    throw invalidArgument("query", "a line never contains a line break; search for a part of one line");
  }
  return { text: source, regex, caseSensitive: caseSensitive && !ignoresCase };
}

function checkInclude(include: string | undefined): void {
  if (include === undefined) return;
  checkLength("include", include, longestGlob);
  checkBraces("include", include);
}

function startPaths(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.length === 0 ? ["."] : paths);
}

/** Resolves the paths. Missing ones are reported next to the results of the others. Throws if none is left. */
async function resolveStarts(
  scope: PathScope,
  paths: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<{ starts: SearchStart[]; missing: string[] }> {
  const starts: SearchStart[] = [];
  const missing: string[] = [];
  const alike: string[] = [];
  const how = {
    argument: "paths",
    alike: new LookAlikes(scope),
    onAlike: (notice: string): unknown => alike.push(notice),
  };
  let failed: unknown;
  let seen = 0;
  for (const path of paths) {
    seen += 1;
    if (seen % pathsAtOnce === 0) {
      await nextTurn();
      signal?.throwIfAborted();
    }
    try {
      starts.push(await resolveStart(scope, path, how));
    } catch (error) {
      if (!isToolError(error) || error.code !== "execution_failed") throw error;
      failed ??= error;
      missing.push(`[${error.message}]`);
    }
  }
  if (starts.length === 0) throw failed;
  if (missing.length > mostMissing)
    missing.push(`[and ${missing.splice(mostMissing).length} more paths were not found]`);
  return { starts, missing: [...missing, ...alike] };
}

/** Returns the glob relative to each start. One written relative to the working directory works too. */
function includeGlobs(scope: PathScope, include: string, starts: readonly SearchStart[]): Globs {
  const negated = leavesOut(include) ? "!" : "";
  const patterns = new Set<string>();
  for (const given of [include, withoutNeedlessBraces(include) ?? include]) {
    const glob = given.slice(negated.length).replace(/^(?:\.?\/)+/, "/");
    patterns.add(negated + glob);
    const fromCwd = glob.replace(/^\//, "");
    for (const { shown, path, isDirectory } of starts) {
      if (isDirectory && shown !== "" && isInside(scope.cwd, path) && fromCwd.startsWith(shown)) {
        patterns.add(`${negated}/${fromCwd.slice(shown.length)}`);
      }
    }
  }
  return { patterns: [...patterns], anyDepth: true };
}

/** The parts of an expression that let it go on in the next line. */
const acrossLines = /\\(?:[nr]|x0*[ad]\b|u0*[ad]\b|c[jm])|\[\\s\\S\]|\[\\S\\s\]|\[\^\]|\(\?[a-z]*s/i;

function noMatches(query: string, regex: boolean, include: string | undefined): string {
  const plain = include === undefined ? undefined : withoutNeedlessBraces(include);
  const where =
    include === undefined
      ? ""
      : ` in files that match ${clip(include)}${plain === undefined ? "" : ` or ${clip(plain)}`}`;
  const braces = include === undefined ? undefined : asBraces(include);
  const several = braces === undefined ? "" : `; several globs are written ${clip(braces)}`;
  const alone = regex && acrossLines.test(query) ? "; each line is matched alone" : "";
  return `No matches for ${clip(query)}${where}${several}${alone}${regex ? slipOf(query) : ""}`;
}

/** Says what of an expression that was not found may have been meant otherwise: syntax of grep, delimiters. */
function slipOf(query: string): string {
  const escaped = /\\([|(){}+?])/.exec(query)?.[1];
  const [open, close] = [query.indexOf("\\("), query.lastIndexOf("\\)")];
  if (escaped !== undefined && ((open >= 0 && open < close) || /\\[|]|\w\\[+?]|\\\{\d/.test(query)))
    return `; \\${escaped} is the character itself, and ${escaped} alone is the operator`;
  return /^\/.*\/[gimsuy]*$/.test(query) ? "; the slashes around it are part of the query" : "";
}

function unfinished(result: SearchResult, unit: string, notices: readonly string[]): ToolError {
  const found =
    result.text === "" ? `No ${unit} so far.` : `${result.shown} ${unit} so far:\n${result.text.slice(0, -1)}`;
  const advice = "Use a simpler pattern (no repetition inside a repetition) or fewer paths.";
  const message = `${unfinishedMessage(result, advice)} ${found}`;
  return new ToolError({ code: "execution_failed", message: [message, ...notices].join("\n") });
}
