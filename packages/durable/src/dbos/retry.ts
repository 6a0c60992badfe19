import { setTimeout as sleep } from "node:timers/promises";
import { isObject, messageOf } from "@toolcrib/core/text";

const firstDelayMs = 100;
const longestDelayMs = 5_000;

/**
 * Classes of SQLSTATE that tell of the moment: the same statement may succeed later. All others (data, constraints, syntax, rights, a limit
 * of the program, an internal error) tell of the statement, and it fails at once.
 */
const transientClasses: ReadonlySet<string> = new Set([
  "08", // The connection.
  "25", // The state of the transaction: read-only while a server fails over, paused for too long.
  "28", // Sign-in and, as 3D, the name of the database. Both were right when the database was opened.
  "3D",
  "40", // The transaction was rolled back: a conflict with another one, a deadlock.
  "53", // Resources: memory, disk, connections.
  "55", // The state of an object, such as a lock that is not available.
  "57", // An operator: a cancelled query, a time limit, a server that stops or starts.
  "58", // The system below PostgreSQL.
]);

/** Codes of Node.js for a server that cannot be reached, or not any more. */
const systemCode = /^E(?:CONN|PIPE|TIMEDOUT|HOST|NET|AI_|NOTFOUND)\w*$/;

/** Messages of the driver, which has no codes. */
const driverMessage =
  /Connection terminated|connection timeout|timeout exceeded|read timeout|not queryable|server closed the connection/i;

/** Returns whether the database refused or was away for the moment: the same work may succeed later. */
export function isTransient(error: unknown): boolean {
  const { code, severity, cause, error: wrapped }: Readonly<Record<string, unknown>> = isObject(error) ? error : {};
  if (typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code))
    // An error that ends the connection, such as that of a pooler, is not the statement's fault whatever its class.
    return transientClasses.has(code.slice(0, 2)) || severity === "FATAL" || severity === "PANIC";
  if ((typeof code === "string" && systemCode.test(code)) || driverMessage.test(messageOf(error))) return true;
  // The engine wraps what fails while it starts.
  return error instanceof Error && [cause, wrapped].some((inner) => inner instanceof Error && isTransient(inner));
}

/** The engine tries again by its own list of codes, and looks for them in the cause of an error. */
export const sameAgain: Error = Object.assign(new Error("The same statement may succeed later."), { code: "08000" });

/** Marks a transient error so that the engine tries again too. */
export function markTransient<E>(error: E): E {
  if (isTransient(error) && error instanceof Error) error.cause ??= sameAgain;
  return error;
}

/** Does the work again until no transient error ends it, or the signal does. */
export async function untilDatabaseIsBack<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let delay = firstDelayMs; ; delay = Math.min(delay * 2, longestDelayMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await sleep(delay, undefined, signal && { signal });
    }
  }
}
