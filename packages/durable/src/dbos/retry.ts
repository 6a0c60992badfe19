import { setTimeout as sleep } from "node:timers/promises";
import { isObject, messageOf } from "@toolcrib/core/text";

const firstDelayMs = 100;
const longestDelayMs = 5_000;

/** Whether the database was away: the same work may succeed later. */
export function isDatabaseAway(error: unknown): boolean {
  const code = isObject(error) ? String(error.code) : "";
  // Classes of PostgreSQL: connection exceptions, too many connections, the server shuts down or starts, a transaction that paused.
  return (
    /^(08...|25P03|53300|57P0[1-5]|E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_)\w*)$/.test(code) ||
    /Connection terminated|connection timeout|timeout exceeded|read timeout|not queryable|server closed the connection/i.test(
      messageOf(error),
    )
  );
}

/** Does the work again while the database is away, until the signal ends it. */
export async function untilDatabaseIsBack<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let delay = firstDelayMs; ; delay = Math.min(delay * 2, longestDelayMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await sleep(delay, undefined, signal && { signal });
    }
  }
}
