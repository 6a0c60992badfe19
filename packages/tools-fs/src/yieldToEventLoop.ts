import { setImmediate as nextTurn } from "node:timers/promises";

/** The event loop is held no longer than this at a time, in milliseconds. */
const sliceLength = 8;

/** Gives way to other work once its slice is used up, and then throws the signal's reason if that has fired. */
export function createSlices(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let sliceEnd = performance.now() + sliceLength;
  return () => {
    if (performance.now() < sliceEnd) return undefined;
    return nextTurn().then(() => {
      signal?.throwIfAborted();
      sliceEnd = performance.now() + sliceLength;
    });
  };
}
