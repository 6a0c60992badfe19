import type { GuardedCall } from "@toolcrib/core";
import type { Judgement } from "./judgement.ts";
import type { Settings } from "./settings.ts";
import type { Cause, Decision, Mode, Verdict } from "./verdict.ts";
import { oneLine } from "./words.ts";

/** How a policy decides a call, and why. */
export interface Explanation {
  readonly decision: Decision;
  /** One sentence. */
  readonly text: string;
  readonly mode: Mode;
  /** What decided. */
  readonly decidedBy: Cause;
  /** Every part of the call with its own verdict; the strictest decides. */
  readonly parts: readonly Verdict[];
}

const words: Readonly<Record<Decision, string>> = { allow: "Allowed", ask: "Asked", deny: "Denied" };

export function explainJudgement(
  { name }: GuardedCall,
  { deciding, verdicts }: Judgement,
  { mode }: Settings,
): Explanation {
  const text = `${words[deciding.decision]}: ${oneLine(name, 80)} would ${deciding.what}; ${oneLine(deciding.why, 500)}.`;
  return { decision: deciding.decision, text, mode, decidedBy: deciding.cause, parts: verdicts };
}
