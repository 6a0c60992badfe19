import { BeginAnew } from "../shared/beginAnew.ts";
import type { FilesJob, TextJob } from "../shared/jobs.ts";
import type { SearchResult } from "../shared/searchResult.ts";
import { mayBeginHere, searchFirst } from "./firstSearch.ts";
import { type RunOptions, runSearch } from "./runSearch.ts";
import { sharedSearchPool } from "./searchPool.ts";
import { NoThreadsError } from "./searchThread.ts";

/** Set once threads are known not to start in this process. */
let noThreads: NoThreadsError | undefined;
let threadsWork = false;

/** Searches in threads. Where none can be started, searches on the caller's thread, but refuses patterns that could hold it up. */
export async function startSearch(job: TextJob | FilesJob, options: RunOptions): Promise<SearchResult> {
  if (noThreads !== undefined) return searchOnThisThread(noThreads, job, options);
  const pool = sharedSearchPool();
  try {
    if (mayBeginHere(pool, job)) return await searchFirst(pool, job, options.signal, giveUpThreads);
  } catch (error) {
    if (!(error instanceof BeginAnew)) throw error;
  }
  try {
    const result = await runSearch(pool, job, options);
    threadsWork = true;
    return result;
  } catch (error) {
    if (!(error instanceof NoThreadsError)) throw error;
    giveUpThreads(error);
    return searchOnThisThread(error, job, options);
  }
}

/** The one import of a value from `worker/`, and only where no thread can be started. */
async function searchOnThisThread(
  error: NoThreadsError,
  job: TextJob | FilesJob,
  { signal }: RunOptions,
): Promise<SearchResult> {
  const { refuseSlowPatterns, searchHere } = await import("../worker/searchHere.ts");
  refuseSlowPatterns(job, error.message);
  return searchHere(job, signal);
}

/** If a thread has worked before, the machine may only be short of threads for a while. */
function giveUpThreads(error: NoThreadsError): void {
  if (noThreads !== undefined || threadsWork) return;
  noThreads = error;
  process.emitWarning(
    `@toolcrib/tools-search searches on the main thread and refuses patterns that could run away: ${error.message}`,
    { code: "TOOLCRIB_SEARCH_THREADS" },
  );
}
