import { lstatSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type ExecutableTool, invalidArgument, ToolError, toolOutput } from "@toolcrib/core";
import { clip, printableName } from "@toolcrib/core/text";
import { LookAlikes, type PathScope, pathEffect } from "@toolcrib/kit/files";
import { leavesOut } from "./engine/globs.ts";
import type { Counted } from "./engine/job.ts";
import { wholePath } from "./engine/walkBatches.ts";
import { origin, type SearchOptions, settingsOf } from "./options.ts";
import {
  asBraces,
  checkBraces,
  checkLength,
  limitsOf,
  longestGlob,
  resolveStart,
  withoutNeedlessBraces,
} from "./searchArguments.ts";
import { failedSearch, filesData, filesDataSchema, noticesOf, replyOf, unfinishedMessage } from "./searchReply.ts";

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
      const { path } = await new LookAlikes(scope).resolve(cwd, "read", "cwd");
      return [pathEffect("read", path, cwd, scope, true)];
    },
    async execute(args, { signal }) {
      const { cwd = defaults.cwd, max_results: wanted = defaults.max_results } = args;
      const pattern = checkPattern(args.pattern);
      const plain = withoutNeedlessBraces(pattern);
      const alike: string[] = [];
      const start = await resolveStart(scope, cwd, { argument: "cwd", onAlike: (notice) => alike.push(notice) });
      if (!start.isDirectory) throw invalidArgument("cwd", `${printableName(clip(cwd))} is a file; pass a directory`);
      // Loaded with the first search: a program that only imports this package need not pay for it.
      const { search } = await import("./threads/runSearch.ts");
      const result = await search(
        {
          starts: [start],
          query: undefined,
          globs: { patterns: plain === undefined ? [pattern] : [pattern, plain], anyDepth: false },
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
      // The reply itself says it of the file whose path the pattern is.
      const ignoredFiles = withoutPath(result.ignoredFiles, wholePath(start, pattern));
      const notices = [...alike, ...noticesOf(scope, { ...result, ignoredFiles }, "cwd")];
      if (plain !== undefined) notices.unshift(`[searched as ${clip(plain)} too: {a,b} needs a comma]`);
      const body = result.shown === 0 ? await noFiles(pattern, start.path, scope) : undefined;
      // A reply that was cut by its length would not be longer with more results.
      const next = result.shown === wanted ? { argument: "max_results", value: result.total ?? 0 } : undefined;
      const reply = replyOf(result, { unit: "files", body, next, maxBytes: maxReplyBytes, notices });
      return toolOutput(reply, { data: filesData(result) });
    },
  });
}

function withoutPath({ count, first }: Counted, path: string): Counted {
  const others = first.filter((one) => one !== path);
  return { count: count - first.length + others.length, first: others };
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

/** Says that nothing below `folder` matches, and why if the pattern is the path of something that exists. */
async function noFiles(pattern: string, folder: string, scope: PathScope): Promise<string> {
  const braces = asBraces(pattern);
  const none = `No files match ${clip(pattern)}${braces === undefined ? "" : `; several globs are written ${clip(braces)}`}`;
  const named = pattern.replace(/\/+$/, "");
  const path = join(folder, named);
  const alike = await scope.resolve(path, "pattern", "read").then(
    (canonical) => new LookAlikes(scope).namesOf(canonical),
    () => [],
  );
  if (alike.length > 0) return `${none}; there is ${alike.join(" and ")}, whose name looks the same`;
  const start = await resolveStart(scope, path, { argument: "pattern" }).catch(() => undefined);
  if (start !== undefined) {
    const hidden = whyHidden(named, folder, scope);
    if (hidden !== undefined) return `${none}: it is ${hidden}`;
    return `${none}: it is ${start.isDirectory ? `a directory; use ${clip(named)}/**` : "ignored by a .gitignore; search_text takes it in paths"}`;
  }
  return pattern.includes("/") ? none : `${none}; use **/${clip(pattern)} to look at any depth`;
}

/** Says why a search never comes to a path that exists, whatever is ignored. */
function whyHidden(named: string, folder: string, scope: PathScope): string | undefined {
  let path = folder;
  const names = named.split("/").filter((name) => name !== "" && name !== ".");
  for (const [at, name] of names.entries()) {
    path = join(path, name);
    if (name === ".git") return "in .git, which is not searched";
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    const rest = at < names.length - 1 ? `behind ${scope.print(path)}, a link` : "a link";
    return `${rest}, and links are not followed`;
  }
  return undefined;
}
