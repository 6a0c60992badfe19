// An answer to one question that is for several calls of a program.
import type { ApprovalQuestion } from "./errors.ts";
import { isPlainObject } from "./json.ts";

/** Most calls that one answer may be for. */
export const mostUpTo = 1000;

/** Returns the number of calls that an answer `{ upTo }` is for; undefined for any other answer, and for a number that cannot be one. */
export function upToOf(answer: unknown): number | undefined {
  if (!isPlainObject(answer) || Object.keys(answer).length !== 1) return undefined;
  const { upTo } = answer;
  return Number.isSafeInteger(upTo) && Number(upTo) >= 1 && Number(upTo) <= mostUpTo ? Number(upTo) : undefined;
}

/** Returns the folder for which a question offers an answer `{ upTo }`; undefined where it offers none. */
export function offeredFolder({ data, needs }: ApprovalQuestion): string | undefined {
  const upTo: unknown = isPlainObject(data) ? data.upTo : undefined;
  return typeof upTo === "string" && upTo !== "" && !needs ? upTo : undefined;
}
