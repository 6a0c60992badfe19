import {
  type ApprovalQuestion,
  type DenialDetails,
  type ExecutableTool,
  type Guard,
  type GuardDecision,
  type GuardedCall,
  isToolError,
} from "@toolcrib/core";
import { isObject, messageOf } from "@toolcrib/core/text";
import { oneLine } from "./describe.ts";
import { judgeCall } from "./judge/judgeCall.ts";
import { type PolicyOptions, settingsOf } from "./options.ts";
import { questionData, questionText } from "./question.ts";
import { type Rememberable, rememberable } from "./remembered/rememberable.ts";
import type { RememberedAnswer, RememberedStore } from "./remembered/store.ts";
import type { Settings } from "./settings.ts";
import { type Cause, type Decision, type Mode, strictest, type Verdict } from "./verdict.ts";

/** A call to explain: as a guard gets it, or a tool with arguments. */
export type ExplainedCall =
  | GuardedCall
  | { readonly name: string; readonly args: Readonly<Record<string, unknown>>; readonly tool: ExecutableTool };

export interface Policy {
  /** For `registry.guard`. Never throws; what goes wrong denies. */
  readonly guard: Guard;
  /** Says which rule decides a call, and why. Asks the tool for its effects, and runs nothing. */
  explain(call: ExplainedCall): Promise<Explanation>;
  /**
   * Keeps a yes to a question for good: for `data.remember` of the question. Rejects where nothing may be remembered, and where the
   * call is no longer what the question was about.
   */
  remember(call: ExplainedCall, question: ApprovalQuestion): Promise<RememberedAnswer>;
  /** Lists the answers remembered for these roots. */
  list(): Promise<readonly RememberedAnswer[]>;
  /** Forgets an answer; whether there was one. */
  revoke(id: string): Promise<boolean>;
}

/** A policy's decision about a call, and the reason. */
export interface Explanation {
  readonly decision: Decision;
  /** One sentence. */
  readonly text: string;
  readonly mode: Mode;
  /** The cause of the decision. */
  readonly decidedBy: Cause;
  /** Every part of the call with its own verdict; the strictest decides. */
  readonly parts: readonly Verdict[];
}

/** Makes a guard of rules. Throws a TypeError for a malformed rule or option. */
export function createPolicy(options: PolicyOptions = {}): Policy {
  const settings = settingsOf(options);
  const isHere = ({ folders }: RememberedAnswer): boolean =>
    [...folders].sort().join("\0") === [...settings.roots].sort().join("\0");
  return {
    async guard(call) {
      try {
        return guardDecision(call, await decide(call, settings), settings);
      } catch (error) {
        return `the policy could not judge the call, so the call is denied: ${oneLine(messageOf(error))}`;
      }
    },
    async explain(call) {
      const guarded = await guardedCall(call);
      return explanation(guarded, await decide(guarded, settings), settings);
    },
    remember: async (call, question) => remember(await guardedCall(call), question, settings),
    list: async () => (await settings.remembered?.load())?.filter(isHere) ?? [],
    async revoke(id) {
      let found = false;
      await settings.remembered?.change((answers) => {
        const left = answers.filter((answer) => answer.id !== id);
        found = left.length < answers.length;
        return left;
      });
      return found;
    },
  };
}

/** The decision about a call. */
interface CallVerdict {
  readonly deciding: Verdict;
  readonly parts: readonly Verdict[];
  /** The verdicts that the user has to be asked about. */
  readonly asked: readonly Verdict[];
  /** The calls that a permanent yes would cover. */
  readonly remember: Rememberable | undefined;
}

/**
 * Decides a call, remembered answers included: a yes that was given for good allows what the mode alone would ask about, and nothing
 * that a rule asks about or denies, or that is protected.
 */
async function decide(call: GuardedCall, settings: Settings): Promise<CallVerdict> {
  const { remembered, roots, scope } = settings;
  const parts = await judgeCall(call, settings);
  const deciding = strictest(parts);
  if (deciding.decision !== "ask") return { deciding, parts, asked: [], remember: undefined };
  const asked = parts.filter(({ decision }) => decision === "ask");
  const remember = remembered && rememberable(call, asked, roots, scope);
  if (!remembered || !remember) return { deciding, parts, asked, remember };
  const { id } = remember;
  if (!(await remembered.load()).some((answer) => answer.id === id)) return { deciding, parts, asked, remember };
  const cause: Cause = { by: "remembered", id };
  const allowed: Verdict = { ...deciding, decision: "allow", cause, why: "a remembered answer allows it" };
  return { deciding: allowed, parts: [allowed], asked: [], remember: undefined };
}

const decided: Readonly<Record<Decision, string>> = { allow: "Allowed", ask: "Asked", deny: "Denied" };

function explanation({ name }: GuardedCall, { deciding, parts }: CallVerdict, { mode }: Settings): Explanation {
  const { decision, cause, what, why } = deciding;
  const text = `${decided[decision]}: ${oneLine(name, 80)} would ${what}; ${oneLine(why, 500)}.`;
  return { decision, text, mode, decidedBy: cause, parts };
}

function guardDecision(
  call: GuardedCall,
  { deciding, asked, remember }: CallVerdict,
  settings: Settings,
): GuardDecision {
  const { mode } = settings;
  const { decision, what, why, cause } = deciding;
  if (decision === "allow") return true;
  if (decision === "deny") {
    // A call that the tool itself refuses is denied in its words, as it would be without a policy.
    if (cause.by === "effects") return { deny: why, ...ownDenial(call.effectsError, mode) };
    const deny = `${oneLine(call.name, 80)} would ${what}; ${oneLine(why, 500)}`;
    return { deny, details: denialDetails(deciding, mode) };
  }
  const text = questionText(call.name, deciding, asked.length);
  return { ask: { text, data: questionData(call, deciding, asked, settings, remember) } };
}

function denialDetails({ cause, effect }: Verdict, mode: Mode): DenialDetails {
  const path = effect?.givenPath ?? effect?.path;
  const host = effect?.host;
  const about = { ...(path !== undefined && { path }), ...(host !== undefined && { host }) };
  if (cause.by === "rule") return { by: "rule", rule: cause.rule, ...about };
  if (cause.by !== "protected") return { by: "mode", mode, ...about };
  return { by: "protected", ...(cause.pattern && { pattern: cause.pattern }), ...about };
}

function ownDenial(error: unknown, mode: Mode): { details: DenialDetails; recoverable?: boolean } {
  if (!isToolError(error)) return { details: { by: "mode", mode } };
  const details: DenialDetails = { by: "tool", ...(error.code === "permission_denied" && error.details) };
  return { details, recoverable: error.recoverable };
}

async function remember(call: GuardedCall, question: ApprovalQuestion, settings: Settings): Promise<RememberedAnswer> {
  const store: RememberedStore | undefined = settings.remembered;
  if (!store) throw new Error("this policy remembers nothing: pass the option remembered, such as fileStore(path)");
  const { remember: subject } = await decide(call, settings);
  if (!subject) throw new Error("a yes to this call cannot be remembered");
  const asked = isObject(question.data) ? question.data.remember : undefined;
  if (!isObject(asked) || asked.id !== subject.id)
    throw new Error("the question was about another call, or the tool has changed since");
  const { name: tool, origin } = call;
  const answer = { ...subject, tool, origin, folders: settings.roots, at: new Date().toISOString() };
  await store.change((answers) => [...answers.filter(({ id }) => id !== answer.id), answer]);
  return answer;
}

/** Returns the call with the effects that the tool declares. */
async function guardedCall(call: ExplainedCall): Promise<GuardedCall> {
  if ("effects" in call) return call;
  const { name, args, tool } = call;
  const origin = tool.origin ?? "own";
  const plain = { name, args, tool, origin, callId: undefined, labels: undefined, signal: undefined };
  if (tool.effects === undefined) return { ...plain, effects: undefined };
  try {
    return { ...plain, effects: await tool.effects({ ...args }) };
  } catch (error) {
    return { ...plain, effects: undefined, effectsError: error ?? new Error("the tool threw nothing") };
  }
}
