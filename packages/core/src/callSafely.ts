/** The name in messages of a value that cannot be read. */
export const unreadable = "an object that cannot be read";

/** Returns the result of `read`; undefined if it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Calls a listener and drops what it throws or rejects with: its failure must not become the caller's. */
export function callSafely(listener: () => unknown): void {
  const returned = attempt(listener);
  if (typeof returned === "object" && returned !== null) Promise.resolve(returned).catch(() => undefined);
}
