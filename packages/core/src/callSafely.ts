// The one place that deals with what others made: objects whose getters throw, proxies that are revoked, thenables that never end.
// Whatever reads such a thing does it through here, and what cannot be read counts as not there.

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

type Settled = { readonly value: unknown } | { readonly error: unknown };

/** Resolves to how a call ends, whatever it returns or throws. The value is wrapped, so that nobody takes it for a promise once more. */
export function settle(start: () => unknown): Promise<Settled> {
  return new Promise((resolve) => {
    assimilate(
      start,
      (value) => resolve({ value }),
      (error) => resolve({ error }),
    );
  });
}

/** Calls a listener and drops what it throws or rejects with: its failure must not become the caller's. */
export function callSafely(listener: () => unknown): void {
  const returned = attempt(listener);
  if (isReference(returned)) assimilate(() => returned, drop, drop);
}

function drop(): void {}

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
): void {
  let value: unknown;
  try {
    value = start();
    if (value instanceof Promise) {
      void Promise.prototype.then.call(value, onValue, onError);
      return;
    }
  } catch (error) {
    onError(error);
    return;
  }
  if (isReference(value)) assimilateThenable(value, onValue, onError, 0);
  else onValue(value);
}

/** Follows a promise of another realm, which may call both functions, and each of them often. */
function assimilateThenable(
  value: object,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
  level: number,
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
    const then: unknown = Reflect.get(value, "then");
    if (typeof then !== "function") {
      once(onValue)(value);
      return;
    }
    if (level >= mostThenables) throw new Error("the result is a promise of promises without end");
    const onInner = (inner: unknown): void => {
      if (isReference(inner)) assimilateThenable(inner, onValue, onError, level + 1);
      else onValue(inner);
    };
    then.call(value, once(onInner), fail);
  } catch (error) {
    fail(error);
  }
}

function isReference(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
