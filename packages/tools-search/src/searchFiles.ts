import { defineTool, type ExecutableTool, invalidArgument, ToolError, toolOutput } from "@toolcrib/core";
import { clip, printableName } from "@toolcrib/core/text";
import { type PathScope, pathEffect } from "@toolcrib/kit/files";
import { leavesOut } from "./engine/globs.ts";
import { origin, type SearchOptions, settingsOf } from "./options.ts";
import { checkBraces, checkLength, limitsOf, longestGlob, resolveStart } from "./searchArguments.ts";
import { filesData, filesDataSchema } from "./searchData.ts";
import { failedSearch, noticesOf, replyOf, unfinishedMessage } from "./searchReply.ts";

/** The values of arguments that are left out. */
const defaults = { cwd: ".", max_results: 1000 };

/** Makes `search_files`: finds files whose path matches a glob. Throws a TypeError for options that cannot be understood. */
export function createSearchFilesTool(options: SearchOptions = {}): ExecutableTool {
  const { scope, matchLimitMs, maxReplyBytes } = settingsOf("createSearchFilesTool", options);
  return defineTool({
    name: "search_files",
    origin,
    description: "Find files by glob, e.g. **/*.ts. Skips .gitignored.",
    readOnly: true,
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", minLength: 1, description: "Glob" },
        cwd: { type: "string", description: "Start directory" },
        max_results: { type: "integer", minimum: 1, description: `Default ${defaults.max_results}` },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    defaults,
    outputSchema: filesDataSchema,
    async effects({ pattern, cwd = defaults.cwd }) {
      checkPattern(pattern);
      return [pathEffect("read", await scope.resolve(cwd, "cwd", "read"), cwd, scope, true)];
    },
    async execute(args, { signal }) {
      const { cwd = defaults.cwd, max_results: wanted = defaults.max_results } = args;
      const pattern = checkPattern(args.pattern);
      const start = await resolveStart(scope, cwd, "cwd");
      if (!start.isDirectory) throw invalidArgument("cwd", `${printableName(clip(cwd))} is a file; pass a directory`);
      // Loaded with the first search: a program that only imports this package need not pay for it.
      const { search } = await import("./threads/runSearch.ts");
      const result = await search(
        {
          starts: [start],
          query: undefined,
          globs: { patterns: [pattern], anyDepth: false },
          mode: "files",
          context: 0,
          limit: wanted + 1,
          maxBytes: maxReplyBytes,
          ...limitsOf(scope),
        },
        { signal, matchLimitMs },
      ).catch((error: unknown) => {
        throw failedSearch(error, signal, "pattern");
      });
      if (result.unfinished !== undefined) {
        const message = unfinishedMessage(result, "Use a simpler pattern or a smaller cwd.");
        throw new ToolError({ code: "execution_failed", message });
      }
      const notices = noticesOf(scope, result);
      const body = result.shown === 0 ? await noFiles(pattern, cwd, scope) : undefined;
      // A reply that was cut by its length would not be longer with more results.
      const next = result.shown === wanted ? { argument: "max_results", value: result.total ?? 0 } : undefined;
      const reply = replyOf(result, { unit: "files", body, next, maxBytes: maxReplyBytes, notices });
      return toolOutput(reply, { data: filesData(result) });
    },
  });
}

/** Returns the pattern without a leading `./`. Throws for one that would leave its directory, or only excludes files. */
function checkPattern(given: string): string {
  checkLength("pattern", given, longestGlob);
  const pattern = given.replace(/^(?:\.\/+)+/, "");
  if (/^\/|^\\(?![*?[\]{}()!])|^[A-Za-z]:[/\\]/.test(pattern)) {
    throw invalidArgument("pattern", "it is relative to cwd, not absolute; pass the directory as cwd");
  }
  if (pattern.split("/").includes("..")) {
    throw invalidArgument("pattern", "it cannot leave cwd by ..; pass another cwd");
  }
  if (leavesOut(pattern)) {
    throw invalidArgument("pattern", "it says which files to find; it cannot start with !");
  }
  checkBraces("pattern", pattern);
  return pattern === "" ? "." : pattern;
}

async function noFiles(pattern: string, cwd: string, scope: PathScope): Promise<string> {
  const named = pattern.replace(/\/+$/, "");
  const start = await resolveStart(scope, `${cwd}/${named}`, "pattern").catch(() => undefined);
  if (start?.isDirectory) return `No files match ${clip(pattern)}: it is a directory; use ${clip(named)}/**`;
  const deeper = pattern.includes("/") ? "" : `; use **/${clip(pattern)} to look at any depth`;
  return `No files match ${clip(pattern)}${deeper}`;
}
