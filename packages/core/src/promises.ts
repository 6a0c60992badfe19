/**
 * `running`, unless the signal fires first: then rejects with the signal's reason. What `running` does later is dropped.
 */
export async function untilAborted<T>(running: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return running;
  const { promise: abort, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([abort, running]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** What `read` answers; undefined where it throws. For properties of objects that others made, whose getters may throw. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Calls a listener and drops what it throws or rejects with: its failure must not become the caller's. */
export function callSafely(listener: () => unknown): void {
  const drop = (): void => undefined;
  assimilate(listener, drop, drop);
}

/** A thenable that resolves to thenables for ever would never leave the microtask queue; only this many are followed. */
const mostThenables = 10;

/**
 * Calls `start` and reports how it ends, once, whatever it returns or throws. Unlike `await`, a foreign thenable is asked
 * only a bounded number of times.
 */
export function assimilate(
  start: () => unknown,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
  level = 0,
): void {
  let settled = false;
  const once =
    (then: (value: unknown) => void) =>
    (value: unknown): void => {
      if (settled) return;
      settled = true;
      then(value);
    };
  const fail = once(onError);
  try {
    const value = start();
    if (value instanceof Promise) {
      void Promise.prototype.then.call(value, once(onValue), fail);
      return;
    }
    if ((typeof value === "object" && value !== null) || typeof value === "function") {
      const { then } = value as { then?: unknown };
      if (typeof then === "function") {
        if (level >= mostThenables) throw new Error("the result is a promise of promises without end");
        then.call(
          value,
          once((inner) => assimilate(() => inner, onValue, onError, level + 1)),
          fail,
        );
        return;
      }
    }
    once(onValue)(value);
  } catch (error) {
    fail(error);
  }
}
