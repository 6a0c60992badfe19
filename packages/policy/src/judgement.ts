import type { GuardedCall } from "@toolcrib/core";
import { judgeCall } from "./judge/judgeCall.ts";
import { type Rememberable, rememberable } from "./remembered/rememberable.ts";
import type { Settings } from "./settings.ts";
import { strictest, type Verdict } from "./verdict.ts";

/** How a call is decided. */
export interface Judgement {
  readonly deciding: Verdict;
  readonly verdicts: readonly Verdict[];
  /** What has to be asked about. */
  readonly asked: readonly Verdict[];
  /** What an always-yes would hold for. */
  readonly remember: Rememberable | undefined;
}

/**
 * Judges a call, remembered answers included: a yes that was given for good allows what the mode alone would ask about, and nothing
 * that a rule asks about or denies, or that is protected.
 */
export async function judge(call: GuardedCall, settings: Settings): Promise<Judgement> {
  const verdicts = await judgeCall(call, settings);
  const deciding = strictest(verdicts);
  if (deciding.decision !== "ask") return { deciding, verdicts, asked: [], remember: undefined };
  const asked = verdicts.filter(({ decision }) => decision === "ask");
  const { remembered, roots, scope } = settings;
  const remember = remembered && rememberable(call, asked, roots, scope);
  if (!remembered || !remember) return { deciding, verdicts, asked, remember };
  const { id } = remember;
  const isKnown = (await remembered.load()).some((answer) => answer.id === id);
  if (!isKnown) return { deciding, verdicts, asked, remember };
  const allowed: Verdict = {
    ...deciding,
    decision: "allow",
    cause: { by: "remembered", id },
    why: "it was allowed for good",
  };
  return { deciding: allowed, verdicts: [allowed], asked: [], remember: undefined };
}
