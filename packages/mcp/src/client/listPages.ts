import { record } from "../mapping.ts";

/** Sends one request of a list; resolves to its result as the server sent it. */
export type SendRequest = (method: string, params: Record<string, unknown>) => Promise<unknown>;

/** Reads a list page by page; ends where it goes round in a circle, as those of some servers do. */
export async function* pagesOf(send: SendRequest, method: string): AsyncGenerator<Record<string, unknown>> {
  const asked = new Set<unknown>([undefined, null]);
  let cursor: unknown;
  do {
    asked.add(cursor);
    const page = record(await send(method, cursor === undefined ? {} : { cursor }));
    yield page;
    cursor = page.nextCursor;
  } while (!asked.has(cursor));
}

const maxPages = 100;

/** Collects the entries of a list, and whether there were more than `most`. */
export async function listPages(
  send: SendRequest,
  method: string,
  field: string,
  most: number,
): Promise<{ readonly entries: readonly Record<string, unknown>[]; readonly isCut: boolean }> {
  const entries: Record<string, unknown>[] = [];
  let pages = 0;
  for await (const { [field]: listed } of pagesOf(send, method)) {
    pages += 1;
    if (Array.isArray(listed)) entries.push(...listed.slice(0, most + 1).map(record));
    if (entries.length > most || pages > maxPages) return { entries: entries.slice(0, most), isCut: true };
  }
  return { entries, isCut: false };
}

/** Gives a server its time. Rejects with the reason of the caller, or with the limit, where one of them ends the request. */
export async function withinTime<Answer>(
  limitMs: number,
  caller: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    return await ask(caller ? AbortSignal.any([caller, limit]) : limit);
  } catch (error) {
    caller?.throwIfAborted();
    throw limit.aborted ? new Error(`no answer within ${limitMs} ms`) : error;
  }
}
