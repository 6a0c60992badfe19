/**
 * Resolves to what `running` does, unless the signal fires first: then rejects with the signal's reason. What `running` does later is dropped.
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
