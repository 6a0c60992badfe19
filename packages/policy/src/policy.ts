import type { ApprovalQuestion, ExecutableTool, Guard, GuardDecision, GuardedCall } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import { type Explanation, explainJudgement } from "./explain.ts";
import { type Judgement, judge } from "./judgement.ts";
import { type PolicyOptions, settingsOf } from "./options.ts";
import { questionData, questionText } from "./question.ts";
import type { RememberedAnswer, RememberedStore } from "./remembered/store.ts";
import type { Settings } from "./settings.ts";
import { oneLine } from "./words.ts";

/** A call to explain: as a guard gets it, or a tool with arguments. */
export type ExplainedCall =
  | GuardedCall
  | { readonly name: string; readonly args: Readonly<Record<string, unknown>>; readonly tool: ExecutableTool };

export interface Policy {
  /** For `registry.guard`. Never throws; what goes wrong denies. */
  readonly guard: Guard;
  /** Which rule decides a call, and why. Asks the tool for its effects, and runs nothing. */
  explain(call: ExplainedCall): Promise<Explanation>;
  /**
   * Keeps a yes to a question for good: for `data.remember` of the question. Rejects where nothing may be remembered, and where the
   * call is no longer what the question was about.
   */
  remember(call: ExplainedCall, question: ApprovalQuestion): Promise<RememberedAnswer>;
  /** The answers remembered for these roots. */
  list(): Promise<readonly RememberedAnswer[]>;
  /** Forgets an answer; whether there was one. */
  revoke(id: string): Promise<boolean>;
}

/** Makes a guard of rules. Throws a TypeError for a malformed rule or option. */
export function createPolicy(options: PolicyOptions = {}): Policy {
  const settings = settingsOf(options);
  const isHere = ({ folders }: RememberedAnswer): boolean =>
    [...folders].sort().join("\0") === [...settings.roots].sort().join("\0");
  return {
    async guard(call) {
      try {
        return decisionOf(call, await judge(call, settings), settings);
      } catch (error) {
        return `the policy could not judge the call, so it is denied: ${oneLine(messageOf(error))}`;
      }
    },
    async explain(call) {
      const guarded = await guardedCall(call);
      return explainJudgement(guarded, await judge(guarded, settings), settings);
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

function decisionOf(call: GuardedCall, { deciding, asked, remember }: Judgement, { mode }: Settings): GuardDecision {
  const { decision, what, why, cause } = deciding;
  if (decision === "allow") return true;
  // What the tool itself refuses is denied in its words.
  if (decision === "deny")
    return cause.by === "effects" ? why : `${oneLine(call.name, 80)} would ${what}; ${oneLine(why, 500)}`;
  const text = questionText(call.name, deciding, asked.length);
  return { ask: { text, data: questionData(call, deciding, asked, mode, remember) } };
}

async function remember(call: GuardedCall, question: ApprovalQuestion, settings: Settings): Promise<RememberedAnswer> {
  const store: RememberedStore | undefined = settings.remembered;
  if (!store) throw new Error("this policy remembers nothing: pass the option remembered, such as fileStore(path)");
  const { remember: subject } = await judge(call, settings);
  if (!subject) throw new Error("a yes to this call cannot be remembered");
  const { data } = question as { readonly data?: { readonly remember?: { readonly id?: unknown } } };
  if (data?.remember?.id !== subject.id)
    throw new Error("the question was about another call, or the tool has changed since");
  const { name: tool, origin } = call;
  const answer = { ...subject, tool, origin, folders: settings.roots, at: new Date().toISOString() };
  await store.change((answers) => [...answers.filter(({ id }) => id !== answer.id), answer]);
  return answer;
}

/** The call with what the tool says that it would do. */
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
