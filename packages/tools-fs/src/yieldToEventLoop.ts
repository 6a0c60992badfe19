import { setImmediate as nextTurn } from "node:timers/promises";

/** Longest time, in milliseconds, that the event loop is blocked. */
const longestBlockMs = 8;

/**
 * Returns a function to call in a long loop: it lets other work run when the loop has blocked the event loop for too long, and
 * throws the reason of the signal if that has fired by then.
 */
export function createYielder(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let yieldAt = performance.now() + longestBlockMs;
  return () => {
    if (performance.now() < yieldAt) return undefined;
    return nextTurn().then(() => {
      signal?.throwIfAborted();
      yieldAt = performance.now() + longestBlockMs;
    });
  };
}
