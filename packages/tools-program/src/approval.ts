import {
  type AnyToolRegistry,
  type ApprovalAnswer,
  type ApprovalQuestion,
  type Approve,
  type ExecuteOptions,
  type GuardedCall,
  isToolError,
  type WithinQuestion,
} from "@toolcrib/core";
import { guardedCallOf, upToOf } from "@toolcrib/core/internal";
import { type Offer, offerOf, sharedFolders, withFolder } from "./grants.ts";
import { type LogLine, type ProgramLog, printOf } from "./programLog.ts";

/** A question of a guard that stays open. */
export type Asked = WithinQuestion & {
  readonly number: number;
  readonly print: string;
  readonly offer: Offer | undefined;
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
  const asked = askedOf(guarded, question, { callId, number });
  const { print, offer } = asked;
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
  if (!approve) return { asked };
  const answer = await approve(guarded, withFolder(question, offer?.folder));
  const most = upToOf(answer);
  if (!offer || most === undefined) return { answer };
  log.grants.offer(number, offer);
  log.grants.give(number, most);
  return once(true, { type: "offer", number, ...offer }, { type: "answer", number, answer });
}

function askedOf(guarded: GuardedCall, question: ApprovalQuestion, ids: Pick<Asked, "callId" | "number">): Asked {
  const { name, args, effects } = guarded;
  const [print, offer] = [printOf(guarded, question), offerOf(guarded, question)];
  return { name, args, ...(effects && { effects }), question, ...ids, print, offer };
}

interface HeldCall {
  readonly number: number;
  readonly callId: string;
  readonly name: string;
  readonly args: unknown;
  readonly options: ExecuteOptions;
}

/** Resolves to the question about a call that does not run yet, if a guard asks and the record has no answer. */
export async function openQuestion(
  registry: AnyToolRegistry,
  log: ProgramLog,
  { number, callId, name, args, options }: HeldCall,
): Promise<Asked | undefined> {
  const checked = await registry.check(name, args, options);
  const tool = registry.get(name);
  if (checked.ok || !tool || !isToolError(checked.error) || checked.error.code !== "approval_required")
    return undefined;
  const { question, args: given = {} } = checked.error.details;
  const { labels, signal, within } = options;
  const guarded = await guardedCallOf(tool, { name, args: given, callId, within, labels, signal });
  const asked = askedOf(guarded, question, { callId, number });
  const { print, offer } = asked;
  const isAnswered =
    log.answerTo(number, print) !== undefined || (offer && log.grants.find(number, offer)) !== undefined;
  return isAnswered ? undefined : asked;
}

/** Returns questions as they are shown together, and the lines that record what they offer. */
export function shownTogether(questions: readonly Asked[]): {
  readonly shown: readonly WithinQuestion[];
  readonly lines: readonly LogLine[];
} {
  const folderOf = sharedFolders(questions.flatMap(({ offer }) => offer ?? []));
  return {
    shown: questions.map(({ number: _, print: __, offer, question, ...asked }) => {
      return { ...asked, question: withFolder(question, offer && folderOf(offer)) };
    }),
    lines: questions.flatMap(({ number, offer }) =>
      offer ? { type: "offer", number, ...offer, folder: folderOf(offer) } : [],
    ),
  };
}
