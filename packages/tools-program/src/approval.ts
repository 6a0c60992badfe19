import type { ApprovalAnswer, ApprovalQuestion, Approve, GuardedCall, WithinQuestion } from "@toolcrib/core";
import { upToOf } from "@toolcrib/core/internal";
import { type OpenOffer, offeredTogether, offerOf, withOffer } from "./grants.ts";
import { type LogLine, type ProgramLog, printOf } from "./programLog.ts";

/** A question of a guard that stays open. */
export type Asked = WithinQuestion & {
  readonly number: number;
  readonly print: string;
  readonly offer: OpenOffer | undefined;
};

interface Approval {
  readonly number: number;
  readonly callId: string;
  readonly log: ProgramLog;
  /** The one who is asked in place. */
  readonly approve: Approve | undefined;
  /** Resolves to whether the lines are kept: what they say must not happen otherwise. */
  readonly write: (lines: readonly LogLine[]) => Promise<boolean>;
}

/**
 * Answers a guard: as the record does, by an answer for several calls, or as the one does who is asked in place. What lets a call run is
 * recorded first. Resolves to the open question where nobody answers.
 */
export async function approvalOf(
  guarded: GuardedCall,
  question: ApprovalQuestion,
  { number, callId, log, approve, write }: Approval,
): Promise<{ readonly answer: ApprovalAnswer } | { readonly asked: Asked }> {
  const print = printOf(guarded, question);
  const offer = offerOf(guarded, question);
  const once = async (answer: ApprovalAnswer, ...lines: LogLine[]): Promise<{ readonly answer: ApprovalAnswer }> => {
    return { answer: (await write(lines)) ? answer : "the record of the program cannot be kept" };
  };
  const recorded = log.answerTo(number, print);
  if (recorded !== undefined) {
    const mayRun = recorded === true || (typeof recorded === "object" && "args" in recorded);
    return mayRun ? once(recorded, { type: "start", number }) : { answer: recorded };
  }
  const by = offer && log.grants.find(number, offer);
  if (by !== undefined) {
    log.grants.use(by, number);
    return once(true, { type: "start", number, by });
  }
  if (!approve) {
    const { name, args, effects } = guarded;
    return { asked: { callId, name, args, ...(effects && { effects }), question, number, print, offer } };
  }
  const answer = await approve(guarded, withOffer(question, offer));
  const most = upToOf(answer);
  if (!offer || most === undefined) return { answer };
  log.grants.offer(number, offer);
  log.grants.give(number, most);
  const { root: _, ...given } = offer;
  return once(true, { type: "offer", number, ...given }, { type: "answer", number, answer });
}

/** Returns questions as they are shown together, and the lines that record what they offer. */
export function shownTogether(questions: readonly Asked[]): {
  readonly shown: readonly WithinQuestion[];
  readonly lines: readonly LogLine[];
} {
  const open = questions.flatMap(({ number, offer }) => (offer ? [[number, offer] as const] : []));
  const offers = offeredTogether(new Map(open));
  return {
    shown: questions.map(({ number, print: _, offer: __, question, ...asked }) => {
      return { ...asked, question: withOffer(question, offers.get(number)) };
    }),
    lines: Array.from(offers, ([number, offer]) => ({ type: "offer", number, ...offer })),
  };
}
