// Pages that were fetched, for calls that go on in them.

/** A page as its lines. */
export interface KeptPage {
  readonly lines: readonly string[];
  /** Words about it that stand before its lines: where it was found, and what it is. */
  readonly about: string;
}

export interface KeptPages {
  get(address: string): KeptPage | undefined;
  set(address: string, page: KeptPage): void;
}

/** Keeps pages up to some bytes and for some milliseconds; the oldest goes first. */
export function createKeptPages(mostBytes: number, keepMs: number, now: () => number = Date.now): KeptPages {
  const pages = new Map<string, { page: KeptPage; bytes: number; until: number }>();
  let held = 0;
  const remove = (address: string): void => {
    held -= pages.get(address)?.bytes ?? 0;
    pages.delete(address);
  };
  return {
    get(address) {
      const found = pages.get(address);
      if (found && found.until <= now()) remove(address);
      return pages.get(address)?.page;
    },
    set(address, page) {
      remove(address);
      // Strings of Latin letters take a byte a character, others two; a line has some of its own.
      const bytes = page.lines.reduce((sum, line) => sum + 2 * line.length + 32, 0);
      if (bytes > mostBytes) return;
      pages.set(address, { page, bytes, until: now() + keepMs });
      held += bytes;
      for (const [oldest] of pages) {
        if (held <= mostBytes) break;
        remove(oldest);
      }
    },
  };
}
