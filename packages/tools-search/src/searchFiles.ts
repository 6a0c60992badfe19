import { defineTool, type ExecutableTool, ToolError } from "@toolcrib/core";
import { createPathScope, type PathScope } from "@toolcrib/core/files";
import { clip, printableName, truncationNotice } from "@toolcrib/core/text";
import { matchLimitMs, type SearchOptions } from "./options.ts";
import { runSearch } from "./runSearch.ts";
import { sharedSearchPool } from "./searchPool.ts";
import { problemNotice, resolveStart } from "./searchStart.ts";

/** Paths shown where the call does not say. */
const defaultMaxResults = 1000;

/** Makes `search_files`: finds files whose path matches a glob. */
export function createSearchFilesTool(options: SearchOptions = {}): ExecutableTool {
  const scope = createPathScope(options);
  return defineTool({
    name: "search_files",
    description: "Find files by glob, e.g. src/**/*.ts. Skips .gitignored.",
    readOnly: true,
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", minLength: 1, description: "Glob" },
        cwd: { type: "string", description: "Start directory" },
        max_results: { type: "integer", minimum: 1, description: `Default ${defaultMaxResults}` },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    async execute(args, { signal }) {
      const { cwd = ".", max_results: wanted = defaultMaxResults } = args;
      const pattern = checkPattern(args.pattern);
      const start = await resolveStart(scope, cwd, "cwd");
      if (!start.isDirectory) throw invalid("cwd", `${clip(printableName(cwd))} is a file; pass a directory`);
      const result = await runSearch(
        sharedSearchPool(),
        { kind: "files", start, pattern, limit: wanted, roots: scope.roots },
        { signal, matchLimitMs: options.matchLimitMs ?? matchLimitMs },
      ).catch((error: unknown) => {
        throw signal?.aborted
          ? signal.reason
          : invalid("pattern", error instanceof Error ? error.message : String(error));
      });
      if (result.unfinished !== undefined) {
        const message = `The search did not end: ${result.unfinished}. Use a simpler pattern or a smaller cwd.`;
        throw new ToolError({ code: "execution_failed", message });
      }
      const notices = [problemNotice(scope, result.problems, result.problemCount) ?? ""].filter(Boolean);
      if (result.shown < result.total) {
        const next = { argument: "max_results", value: result.total };
        notices.unshift(truncationNotice({ shown: result.shown, total: result.total, unit: "files", next }));
      }
      const body = result.total === 0 ? await noFiles(pattern, cwd, scope) : result.text.slice(0, -1);
      return notices.length === 0 ? body : `${body}\n\n${notices.join("\n")}`;
    },
  });
}

/** Without a leading `./`. Throws for a pattern that would leave its directory, or that takes files away only. */
function checkPattern(given: string): string {
  const pattern = given.replace(/^(?:\.\/+)+/, "");
  if (/^\/|^\\(?![*?[\]{}()!])|^[A-Za-z]:[/\\]/.test(pattern)) {
    throw invalid("pattern", "it is relative to cwd, not absolute; pass the directory as cwd");
  }
  if (pattern.split("/").includes("..")) {
    throw invalid("pattern", "it cannot leave cwd by ..; pass another cwd");
  }
  if (pattern.startsWith("!") && !pattern.startsWith("!(")) {
    throw invalid("pattern", "it says which files to find; it cannot start with !");
  }
  return pattern === "" ? "." : pattern;
}

async function noFiles(pattern: string, cwd: string, scope: PathScope): Promise<string> {
  const named = pattern.replace(/\/+$/, "");
  const start = await resolveStart(scope, `${cwd}/${named}`, "pattern").catch(() => undefined);
  if (start?.isDirectory) return `No files match ${clip(pattern)}: it is a directory; use ${clip(named)}/**`;
  const deeper = pattern.includes("/") ? "" : `; use **/${clip(pattern)} to look at any depth`;
  return `No files match ${clip(pattern)}${deeper}`;
}

function invalid(field: string, reason: string): ToolError {
  const message = `Invalid arguments: ${field}: ${clip(reason, 500)}`;
  return new ToolError({ code: "invalid_arguments", message, details: { field, reason } });
}
