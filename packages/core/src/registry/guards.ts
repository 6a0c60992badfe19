import { attempt } from "../callSafely.ts";
import type { ApprovalQuestion, ToolError } from "../errors.ts";
import type {
  ApprovalAnswer,
  Approve,
  ExecutableTool,
  Guard,
  GuardDecision,
  GuardedCall,
  ToolCall,
  ToolEffect,
} from "../interface.ts";
import { canonicalJson, copyJson, deepFreeze, isPlainObject } from "../json.ts";
import { type ArgumentCopies, copiesOf } from "./argumentCopies.ts";
import { aborted, approvalRequired, denied } from "./outcome.ts";
import { type Entry, sourceOf } from "./registration.ts";
import { toolFingerprint } from "./toolFingerprint.ts";

type Args = Readonly<Record<string, unknown>>;

/** Holds what came of the guards: copies of the arguments to run with, the result in the tool's place, or why the call may not run. */
export type GuardsAnswer =
  | { readonly copies: ArgumentCopies; readonly changed?: Args | undefined }
  | { readonly output: string }
  | { readonly error: ToolError; readonly changed?: Args | undefined };

/** Limits how often `approve` may give an answer that cannot be used. */
const mostAnswers = 3;

/** Limits how often the guards decide about one call: other arguments, and questions that change, make them decide anew. */
const mostRounds = 8;

/**
 * Returns the arguments where the call may run, with `changed` where they are the user's; else the user's result, or why
 * not. Guards are asked in order and the first denial ends it; then each question needs an answer of `approve`. A yes takes time, so the
 * guards decide again after it: it holds for the same question about the same arguments. Never rejects; after the signal nobody is asked any more.
 */
export async function askGuards(
  guards: () => readonly Guard[],
  { tool, check }: Pick<Entry, "tool" | "check">,
  call: ToolCall,
  given: ArgumentCopies | undefined,
  approve: Approve | undefined,
): Promise<GuardsAnswer> {
  const { name, signal } = call;
  let copies = given;
  let changed: Args | undefined;
  let answered: AnsweredQuestions = new Map();
  for (let round = 1; ; round += 1) {
    if (!copies)
      return {
        error: denied(name, "its arguments cannot be copied, so it is not certain what would run", { by: "guard" }),
        changed,
      };
    const asked = await decisionsOn(guards(), tool, { ...call, args: copies.frozen });
    if ("error" in asked) return { ...asked, changed };
    if (signal?.aborted) return { error: aborted(name, signal.reason, false), changed };
    const open = asked.questions.filter((question) => !isAnswered(question, answered));
    const [first] = open;
    if (!first) return { copies, changed };
    if (round > mostRounds) return { error: unanswered(first, asked.call), changed };
    const answer = await answersTo(asked, open, answered, approve, check);
    if (answer === true) continue;
    if (!("args" in answer)) return "error" in answer ? { ...answer, changed } : answer;
    changed = answer.args;
    copies = attempt(() => copiesOf(answer.args));
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
  readonly call: GuardedCall;
  readonly questions: readonly ApprovalQuestion[];
}

async function decisionsOn(
  guards: readonly Guard[],
  tool: ExecutableTool,
  started: ToolCall,
): Promise<Asked | { readonly error: ToolError }> {
  const { name, signal } = started;
  const call = await guardedCallOf(tool, started);
  const questions: ApprovalQuestion[] = [];
  for (const [position, guard] of guards.entries()) {
    if (signal?.aborted) break;
    const decision = readDecision(await answerOrNothing(() => guard(call)));
    if (decision && "deny" in decision) {
      const { deny, details, recoverable } = decision;
      return { error: denied(name, deny, { by: "guard", ...details }, recoverable) };
    }
    if (decision) questions.push(position === 0 || decision.needs ? decision : { ...decision, guard: position });
  }
  return { call, questions };
}

/** Resolves to a call as guards and `approve` see it. */
export async function guardedCallOf(
  tool: ExecutableTool,
  {
    name,
    args,
    callId,
    within,
    labels,
    signal,
  }: Pick<ToolCall, "name" | "args" | "callId" | "within" | "labels" | "signal">,
): Promise<GuardedCall> {
  const { origin } = sourceOf(tool);
  const call = { name, args, tool, origin, ...(await effectsOf(tool, args)), callId, labels, signal };
  return Object.freeze(within === undefined ? call : { ...call, within });
}

/**
 * The answer of an `approve` that leaves its question open: the call ends as one that nobody was asked about, so that what watches calls
 * takes it for no denial. No answer of a user can be it.
 */
export const leftOpen: ApprovalAnswer = Symbol.for("toolcrib.leftOpen") as unknown as ApprovalAnswer;

/** Resolves to an answer; to undefined, which denies, for a throw. */
async function answerOrNothing(ask: () => unknown): Promise<unknown> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}

/** Returns true where each of the open questions is answered with yes, and notes it in `answered`. */
async function answersTo(
  asked: Asked,
  open: readonly ApprovalQuestion[],
  answered: AnsweredQuestions,
  approve: Approve | undefined,
  check: Entry["check"],
): Promise<
  | true
  | { readonly args: Record<string, unknown>; readonly guard: number }
  | { readonly output: string }
  | { readonly error: ToolError }
> {
  const { name, signal } = asked.call;
  for (const question of open) {
    if (signal?.aborted) break;
    const answer = approve ? await answerTo(question, asked.call, approve, check) : undefined;
    if (answer === undefined) return { error: unanswered(question, asked.call) };
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
  call: GuardedCall,
  approve: Approve,
  check: Entry["check"],
): Promise<true | string | { readonly args: Args } | { readonly output: string } | undefined> {
  let shown = question;
  for (let count = 0; count < mostAnswers && !call.signal?.aborted; count += 1) {
    const given = await answerOrNothing(() => approve(call, shown));
    if (given === leftOpen) return undefined;
    const answer = readAnswer(given);
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

function unanswered(question: ApprovalQuestion, { name, tool, args }: GuardedCall): ToolError {
  return approvalRequired(name, { question, args, tool: toolFingerprint(tool) });
}

async function effectsOf(tool: ExecutableTool, args: Args): Promise<Pick<GuardedCall, "effects" | "effectsError">> {
  if (tool.effects === undefined) return { effects: undefined };
  try {
    return { effects: readEffects(await tool.effects(args)) };
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
  const { deny, details, recoverable } = decision;
  return { deny: reasonOf(deny), ...(isPlainObject(details) && { details }), recoverable: recoverable === true };
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
