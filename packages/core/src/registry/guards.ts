import { attempt, settle } from "../callSafely.ts";
import type { ApprovalQuestion, ToolError } from "../errors.ts";
import type { Approve, ExecutableTool, Guard, GuardDecision, GuardedCall, ToolCall, ToolEffect } from "../interface.ts";
import { canonicalJson, copyJson, deepFreeze, isPlainObject } from "../json.ts";
import { type ArgumentCopies, copyForCall } from "./argumentCopies.ts";
import { aborted, approvalRequired, denied } from "./outcome.ts";
import { type Entry, sourceOf } from "./registration.ts";
import { toolFingerprint } from "./toolFingerprint.ts";

/** Holds what came of the guards: the arguments to run with, the result in the tool's place, or why the call may not run. */
export type GuardsAnswer =
  | { readonly args: Args; readonly changed: Readonly<Args> | undefined }
  | { readonly output: string }
  | { readonly error: ToolError; readonly changed?: Readonly<Args> | undefined };

type Args = Record<string, unknown>;

/** Limits how often `approve` may give an answer that cannot be used. */
const mostAnswers = 3;

/** Limits how often the guards decide about one call: other arguments, and questions that change, make them decide anew. */
const mostRounds = 8;

/**
 * Returns the tool's own copy of the arguments where the call may run, with `changed` where they are the user's; else the user's result, or why
 * not. Guards are asked in order and the first denial ends it; then each question needs an answer of `approve`. A yes takes time, so the
 * guards decide again after it: it holds for the same question about the same arguments. Never rejects; after the signal nobody is asked any more.
 */
export async function askGuards(
  guards: () => readonly Guard[],
  { tool, check }: Pick<Entry, "tool" | "check">,
  call: ToolCall,
  approve: Approve | undefined,
): Promise<GuardsAnswer> {
  const { name, signal } = call;
  let args = attempt(() => copyForCall(call.args));
  let changed: Readonly<Args> | undefined;
  let answered: AnsweredQuestions = new Map();
  for (let round = 1; ; round += 1) {
    if (!args)
      return {
        error: denied(name, "its arguments cannot be copied, so it is not certain what would run", { by: "guard" }),
        changed,
      };
    const asked = await decisionsOn(guards(), tool, call, args);
    if ("error" in asked) return { ...asked, changed };
    if (signal?.aborted) return { error: aborted(name, signal.reason, false), changed };
    const open = asked.questions.filter((question) => !isAnswered(question, answered));
    const [first] = open;
    if (!first) return { args: args.own, changed };
    if (round > mostRounds) return { error: unanswered(first, asked), changed };
    const answer = await answersTo(asked, open, answered, approve, check);
    if (answer === true) continue;
    if (!("args" in answer)) return "error" in answer ? { ...answer, changed } : answer;
    changed = answer.args;
    args = attempt(() => copyForCall(answer.args));
    answered = new Map([[answer.guard, true]]);
  }
}

/** Holds what the user has said yes to, by the position of the guard: its question, or `true` for whatever it asks about the user's own arguments. */
type AnsweredQuestions = Map<number, string | true>;

function isAnswered(question: ApprovalQuestion, answered: AnsweredQuestions): boolean {
  const yes = answered.get(question.guard ?? 0);
  return !question.needs && (yes === true || yes === printOf(question));
}

/** Returns the question in a form to compare. */
function printOf({ text, data }: ApprovalQuestion): string | undefined {
  return attempt(() => canonicalJson([text, data ?? null]));
}

/** Holds what every guard has decided about a call that none of them denies. */
interface Asked {
  readonly args: ArgumentCopies;
  readonly tool: ExecutableTool;
  readonly call: ToolCall;
  readonly questions: readonly ApprovalQuestion[];
  /** Calls with arguments of its own, so that nobody can change what the next one sees. */
  ask(decide: (call: GuardedCall) => unknown): Promise<{ readonly answer: unknown }>;
}

async function decisionsOn(
  guards: readonly Guard[],
  tool: ExecutableTool,
  call: ToolCall,
  args: ArgumentCopies,
): Promise<Asked | { readonly error: ToolError }> {
  const { name, callId, labels, signal } = call;
  const known = { name, tool, origin: sourceOf(tool).origin, ...(await effectsOf(tool, args)), callId, labels, signal };
  const ask: Asked["ask"] = async (decide) => {
    const settled = await settle(() => decide(Object.freeze({ ...known, args: args.forGuard() })));
    return { answer: "value" in settled ? settled.value : undefined };
  };
  const questions: ApprovalQuestion[] = [];
  for (const [position, guard] of guards.entries()) {
    if (signal?.aborted) break;
    const decision = readDecision((await ask(guard)).answer);
    if (decision && "deny" in decision) {
      const { deny, details, recoverable } = decision;
      return { error: denied(name, deny, { by: "guard", ...details }, recoverable) };
    }
    if (decision) questions.push(position === 0 || decision.needs ? decision : { ...decision, guard: position });
  }
  return { args, tool, call, questions, ask };
}

/** Returns true where each of the open questions is answered with yes, and notes it in `answered`. */
async function answersTo(
  asked: Asked,
  open: readonly ApprovalQuestion[],
  answered: AnsweredQuestions,
  approve: Approve | undefined,
  check: Entry["check"],
): Promise<
  true | { readonly args: Args; readonly guard: number } | { readonly output: string } | { readonly error: ToolError }
> {
  const { name, signal } = asked.call;
  for (const question of open) {
    if (signal?.aborted) break;
    const answer = approve ? await answerTo(question, asked, approve, check) : undefined;
    if (answer === undefined) return { error: unanswered(question, asked) };
    if (typeof answer === "string") return { error: denied(name, answer, { by: "user" }) };
    const guard = question.guard ?? 0;
    if (answer === true) answered.set(guard, printOf(question) ?? "");
    else if (!signal?.aborted) return "args" in answer ? { ...answer, guard } : answer;
  }
  return true;
}

/** Returns the answer, its arguments checked; a string denies. Undefined where `approve` has given none that can be used. */
async function answerTo(
  question: ApprovalQuestion,
  { call, ask }: Asked,
  approve: Approve,
  check: Entry["check"],
): Promise<true | string | { readonly args: Args } | { readonly output: string } | undefined> {
  let shown = question;
  for (let count = 0; count < mostAnswers && !call.signal?.aborted; count += 1) {
    const answer = readAnswer((await ask((guarded) => approve(guarded, shown))).answer);
    if (typeof answer === "string" || (answer !== true && "output" in answer)) return answer;
    if (question.needs) {
      shown = { ...question, refused: "Answer this question with { output }: a yes is not enough." };
      continue;
    }
    if (answer === true) return true;
    const { args, error } = await check(answer.args);
    if (!error) return { args };
    shown = { ...question, refused: error.message };
  }
  return call.signal?.aborted ? true : undefined;
}

function unanswered(question: ApprovalQuestion, { args, tool, call }: Asked): ToolError {
  const fingerprint = attempt(() => toolFingerprint(tool));
  return approvalRequired(call.name, { question, args: args.forGuard(), ...(fingerprint && { tool: fingerprint }) });
}

async function effectsOf(
  tool: ExecutableTool,
  args: ArgumentCopies,
): Promise<Pick<GuardedCall, "effects" | "effectsError">> {
  try {
    if (tool.effects === undefined) return { effects: undefined };
    const settled = await settle(() => tool.effects?.(args.forEffects()));
    if ("error" in settled) throw settled.error;
    return { effects: readEffects(settled.value) };
  } catch (thrown) {
    // Never undefined: that would read as a tool that does not say what it does.
    return { effects: undefined, effectsError: thrown ?? new Error("effects() threw nothing") };
  }
}

const kinds: ReadonlySet<unknown> = new Set<ToolEffect["kind"]>(["read", "write", "delete", "execute", "network"]);
const isText = (value: unknown): boolean => typeof value === "string";

/** The checks of the fields. */
const fields: { readonly [Field in keyof ToolEffect]-?: (value: unknown) => boolean } = {
  kind: (value) => kinds.has(value),
  path: isText,
  givenPath: isText,
  tree: (value) => typeof value === "boolean",
  command: isText,
  shell: isText,
  cwd: isText,
  env: (value) => isPlainObject(value) && Object.values(value).every(isText),
  confinement: isText,
  input: isText,
  into: isText,
  host: isText,
  remote: isText,
};

/** Returns a frozen copy. A guard relies on the types, so a list with anything else in it is as good as none. */
function readEffects(value: unknown): readonly ToolEffect[] {
  const effects: unknown = copyJson(value);
  if (!Array.isArray(effects)) throw new TypeError("effects() must return an array");
  return deepFreeze(Array.from(effects, readEffect));
}

/** Returns the known fields alone. */
function readEffect(effect: unknown): ToolEffect {
  if (!isPlainObject(effect) || effect.kind === undefined)
    throw new TypeError("effects() must return objects with a kind");
  const known = Object.entries(fields).filter(([field]) => effect[field] !== undefined);
  for (const [field, fits] of known) {
    if (!fits(effect[field])) throw new TypeError(`effects() returned an effect whose ${field} has the wrong type`);
  }
  return Object.fromEntries(known.map(([field]) => [field, effect[field]])) as unknown as ToolEffect;
}

type Denial = Extract<GuardDecision, { deny: string }>;

/** Returns undefined for a yes, else the denial or the question. */
function readDecision(decision: unknown): ApprovalQuestion | Denial | undefined {
  if (decision === true) return undefined;
  return attempt(() => questionOf(decision) ?? denialOf(decision)) ?? { deny: reasonOf(decision) };
}

function denialOf(decision: unknown): Denial | undefined {
  if (!isPlainObject(decision) || typeof decision.deny !== "string") return undefined;
  const details: unknown = attempt(() => copyJson(decision.details ?? {}));
  return {
    deny: reasonOf(decision.deny),
    ...(isPlainObject(details) && { details }),
    recoverable: decision.recoverable === true,
  };
}

function questionOf(decision: unknown): ApprovalQuestion | undefined {
  const ask: unknown = isPlainObject(decision) ? copyJson(decision.ask) : undefined;
  if (typeof ask === "string" && ask !== "") return { text: ask };
  if (!isPlainObject(ask) || typeof ask.text !== "string" || ask.text === "") return undefined;
  const { text, data, needs } = ask;
  return { text, ...("data" in ask && { data }), ...(needs === "output" && { needs }) };
}

/** Reads an answer. A string denies. */
function readAnswer(answer: unknown): true | string | { readonly args: Args } | { readonly output: string } {
  return answer === true || (attempt(() => answerOf(answer)) ?? reasonOf(answer));
}

function answerOf(answer: unknown): { readonly args: Args } | { readonly output: string } | undefined {
  if (!isPlainObject(answer) || Object.keys(answer).length !== 1) return undefined;
  const { args, output } = answer;
  if (typeof output === "string") return { output };
  return isPlainObject(args) ? { args } : undefined;
}

function reasonOf(answer: unknown): string {
  return typeof answer === "string" && answer !== "" ? answer : "this call was not approved";
}
