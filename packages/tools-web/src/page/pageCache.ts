// Pages that were fetched, for calls that go on in them.

/** A page as its lines. */
export interface CachedPage {
  readonly lines: readonly string[];
  /** Words about it that stand before its lines: where it was found, and what it is. */
  readonly about: string;
}

export interface PageCache {
  get(address: string): CachedPage | undefined;
  set(address: string, page: CachedPage): void;
}

/** Keeps pages up to some bytes and for some milliseconds; the oldest goes first. */
export function createPageCache(mostBytes: number, keepMs: number): PageCache {
  const pages = new Map<string, { page: CachedPage; bytes: number; until: number }>();
  let total = 0;
  const remove = (address: string): void => {
    total -= pages.get(address)?.bytes ?? 0;
    pages.delete(address);
  };
  return {
    get(address) {
      const found = pages.get(address);
      if (found && found.until <= Date.now()) remove(address);
      return pages.get(address)?.page;
    },
    set(address, page) {
      remove(address);
      // Strings of Latin letters take a byte a character, others two; a line has some of its own.
      const bytes = page.lines.reduce((sum, line) => sum + 2 * line.length + 32, 0);
      if (bytes > mostBytes) return;
      pages.set(address, { page, bytes, until: Date.now() + keepMs });
      total += bytes;
      for (const [oldest] of pages) {
        if (total <= mostBytes) break;
        remove(oldest);
      }
    },
  };
}
