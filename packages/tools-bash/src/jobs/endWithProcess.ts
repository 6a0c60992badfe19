const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const marker: unique symbol = Symbol.for("toolcrib.endWithProcess");

/**
 * Calls `end` when this process exits, and when a signal is about to end it that nobody else handles. It must be synchronous. Returns
 * what takes that back. Nothing can be called if the process is killed (SIGKILL).
 */
export function endWithProcess(end: () => void): () => void {
  const onSignal = Object.assign(
    (signal: NodeJS.Signals) => {
      // Another listener decides whether the process ends; when it does so in order, it exits.
      if (!process.listeners(signal).every((listener) => marker in listener)) return;
      end();
      takeBack();
      process.kill(process.pid, signal);
    },
    { [marker]: true },
  );
  const takeBack = (): void => {
    process.removeListener("exit", end);
    for (const signal of signals) process.removeListener(signal, onSignal);
  };
  process.on("exit", end);
  for (const signal of signals) process.on(signal, onSignal);
  return takeBack;
}
