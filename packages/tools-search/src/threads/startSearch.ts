import { ToolError } from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";
import { compilePathGlob } from "../worker/pathGlob.ts";
import { NoThreadsError } from "./noThreads.ts";
import type { FilesJob, TextJob } from "./protocol.ts";
import type { RunOptions } from "./runSearch.ts";
import type { SearchResult } from "./searchResult.ts";

/** Set once threads are known not to start in this process; unset while one has. */
let noThreads: NoThreadsError | undefined;
let threadsWork = false;

let threads: ReturnType<typeof loadThreads> | undefined;

/** Loaded with the first search: several ms, paid otherwise by whoever only imports this package. */
async function loadThreads() {
  return { ...(await import("./searchPool.ts")), ...(await import("./runSearch.ts")) };
}

/** Searches in threads; where none can be started, on the caller's thread what cannot hold it up. */
export async function startSearch(job: TextJob | FilesJob, options: RunOptions): Promise<SearchResult> {
  if (noThreads === undefined) {
    threads ??= loadThreads();
    const { sharedSearchPool, runSearch } = await threads;
    try {
      const result = await runSearch(sharedSearchPool(), job, options);
      threadsWork = true;
      return result;
    } catch (error) {
      if (!(error instanceof NoThreadsError)) throw error;
      // A machine may be short of threads for a while.
      if (!threadsWork) rememberNoThreads(error);
      return searchWithout(error, job, options);
    }
  }
  return searchWithout(noThreads, job, options);
}

async function searchWithout(
  error: NoThreadsError,
  job: TextJob | FilesJob,
  { signal }: RunOptions,
): Promise<SearchResult> {
  const { isHarmless, searchHere } = await import("../worker/searchHere.ts");
  refuseWhatCouldHang(job, error, isHarmless);
  return searchHere(job, signal);
}

function rememberNoThreads(error: NoThreadsError): void {
  if (noThreads !== undefined) return;
  noThreads = error;
  process.emitWarning(
    `@toolcrib/tools-search searches on the main thread and refuses patterns that could run away: ${error.message}`,
    { code: "TOOLCRIB_SEARCH_THREADS" },
  );
}

function refuseWhatCouldHang(
  job: TextJob | FilesJob,
  error: NoThreadsError,
  isHarmless: (expression: string) => boolean,
): void {
  const globs = job.kind === "text" ? job.include : [job.pattern];
  if (job.kind === "text" && job.query.regex && !isHarmless(job.query.text)) {
    throw refused(
      `${clip(job.query.text)} could run for very long`,
      "a literal, or an expression with one * or + at most and no repeated group",
      error,
    );
  }
  if (globs !== undefined && compilePathGlob(globs, job.kind === "text") === undefined) {
    throw refused(`${clip(globs[0] ?? "")} could run for very long`, "a glob of *, **, ?, [a-z] and {a,b} only", error);
  }
}

function refused(what: string, instead: string, error: NoThreadsError): ToolError {
  return new ToolError({
    code: "execution_failed",
    message: `Not searched: ${what}, and ${error.message}. Here pass ${instead}.`,
  });
}
