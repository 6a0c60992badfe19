import { record } from "../mapping.ts";

const maxPages = 100;

/** Sends one request of a list; resolves to its result as the server sent it. */
export type SendRequest = (method: string, params: Record<string, unknown>) => Promise<unknown>;

/** Collects the entries of a list, page by page, and whether there were more than `most`. */
export async function listPages(
  send: SendRequest,
  method: string,
  field: string,
  most: number,
): Promise<{ readonly entries: readonly Record<string, unknown>[]; readonly isCut: boolean }> {
  const entries: Record<string, unknown>[] = [];
  let cursor: unknown;
  for (let page = 0; page < maxPages; page += 1) {
    const result = record(await send(method, cursor === undefined ? {} : { cursor }));
    const listed: unknown = result[field];
    for (const entry of Array.isArray(listed) ? listed : []) {
      if (entries.length === most) return { entries, isCut: true };
      entries.push(record(entry));
    }
    const { nextCursor } = result;
    if (typeof nextCursor !== "string" || nextCursor === cursor) return { entries, isCut: false };
    cursor = nextCursor;
  }
  return { entries, isCut: true };
}
