import { createHash } from "node:crypto";
import type { PendingCall } from "@toolcrib/agent";

/** Returns the id of a question. A yes to one is none to the next about the same call, which has other words, arguments or guard. */
export function approvalIdOf({ callId, args, question: { text, guard } }: PendingCall): string {
  const print = createHash("sha256").update(JSON.stringify([text, guard, args]));
  return `${callId}.${print.digest("hex").slice(0, 16)}`;
}
