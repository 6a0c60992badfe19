import { attempt } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import type { GuestResult } from "./engine/messages.ts";

/** Characters of a call's arguments, and of its error, in the list of calls. */
export const shownLength = 200;

/** A call that a program made, for the list of its calls. */
export interface CallRecord {
  readonly number: number;
  readonly name: string;
  /** JSON text, cut. */
  readonly args: string;
  readonly isReadOnly: boolean;
  /** `waiting`: not started, and never will be once the program has ended. `asked`: a guard's question is open. */
  state: "waiting" | "asked" | "running" | "ok" | "failed";
  error?: string;
}

/** Notes the result of a call. */
export function setState(record: CallRecord, { ok, text }: Pick<GuestResult, "ok" | "text">): void {
  record.state = ok ? "ok" : "failed";
  if (!ok) record.error = clip(String(JSON.parse(text).message), shownLength);
}

/** Characters of a call's arguments in the record. */
const mostArguments = 10 * shownLength;

/** Returns arguments as the record shows them: of long ones each text is cut, so that they stay JSON, from which others read a path. */
export function shownArguments(args: string): string {
  if (args.length <= mostArguments) return args;
  const cut = attempt(() =>
    JSON.stringify(JSON.parse(args), (_key, value: unknown) =>
      typeof value === "string" ? clip(value, shownLength) : value,
    ),
  );
  return cut !== undefined && cut.length <= mostArguments ? cut : clip(args, mostArguments);
}
