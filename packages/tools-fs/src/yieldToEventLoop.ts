import { setImmediate as nextTurn } from "node:timers/promises";

/** Longest time, in milliseconds, that the event loop is blocked. */
const longestBlockMs = 8;

/** To be called in a long loop, and awaited where it returns a promise. */
export type Yield = () => Promise<void> | undefined;

/**
 * Returns a function to call in a long loop: it lets other work run when the loop has blocked the event loop for too long, and
 * throws the reason of the signal if that has fired by then.
 */
export function createYielder(signal: AbortSignal | undefined): Yield {
  let yieldAt = performance.now() + longestBlockMs;
  return () => {
    if (performance.now() < yieldAt) return undefined;
    return nextTurn().then(() => {
      signal?.throwIfAborted();
      yieldAt = performance.now() + longestBlockMs;
    });
  };
}
