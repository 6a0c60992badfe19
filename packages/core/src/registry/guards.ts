import type { ApprovalQuestion, ToolError } from "../errors.ts";
import { attempt, settle } from "../foreign.ts";
import type { Approve, ExecutableTool, Guard, GuardedCall, ToolCall, ToolEffect } from "../interface.ts";
import { copyJson, deepFreeze, isPlainObject } from "../json.ts";
import { type GuardedArguments, guardArguments } from "./guardedArguments.ts";
import { aborted, approvalRequired, denied } from "./outcome.ts";
import { sourceOf } from "./registration.ts";
import { toolFingerprint } from "./toolFingerprint.ts";

/**
 * The tool's own copy of the arguments where the call may run, else why not. Guards are asked in order and the first denial ends it;
 * then each question needs a yes of `approve`. Never rejects; after the signal nobody is asked any more.
 */
export async function askGuards(
  guards: readonly Guard[],
  tool: ExecutableTool,
  call: ToolCall,
  approve: Approve | undefined,
): Promise<{ readonly args: Record<string, unknown> } | { readonly error: ToolError }> {
  const args = attempt(() => guardArguments(call.args));
  if (!args) return { error: denied(call.name, "its arguments cannot be copied, so nobody can say what would run") };
  const error = await refusal(guards, tool, call, args, approve);
  return error ? { error } : { args: args.own };
}

async function refusal(
  guards: readonly Guard[],
  tool: ExecutableTool,
  { name, callId, labels, signal }: ToolCall,
  args: GuardedArguments,
  approve: Approve | undefined,
): Promise<ToolError | undefined> {
  const known = { name, tool, origin: sourceOf(tool).origin, ...(await effectsOf(tool, args)), callId, labels, signal };
  // Asked with its own arguments, so that one guard cannot change what the next one sees.
  const ask = async (decide: (call: GuardedCall) => unknown): Promise<{ answer: unknown }> => {
    const settled = await settle(() => decide(Object.freeze({ ...known, args: args.forGuard() })));
    return { answer: "value" in settled ? settled.value : undefined };
  };
  const questions: ApprovalQuestion[] = [];
  for (const guard of guards) {
    if (signal?.aborted) break;
    const decision = readDecision((await ask(guard)).answer);
    if (typeof decision === "string") return denied(name, decision);
    if (decision) questions.push(decision);
  }
  for (const question of questions) {
    if (signal?.aborted) break;
    if (!approve) {
      const fingerprint = attempt(() => toolFingerprint(tool));
      return approvalRequired(name, { question, args: args.forGuard(), ...(fingerprint && { tool: fingerprint }) });
    }
    const { answer } = await ask((call) => approve(call, question));
    if (answer !== true) return denied(name, reasonOf(answer));
  }
  return signal?.aborted ? aborted(name, signal.reason, false) : undefined;
}

async function effectsOf(
  tool: ExecutableTool,
  args: GuardedArguments,
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
  host: isText,
  remote: isText,
};

/** A frozen copy. A guard relies on the types, so a list with anything else in it is as good as none. */
function readEffects(value: unknown): readonly ToolEffect[] {
  const effects: unknown = copyJson(value);
  if (!Array.isArray(effects)) throw new TypeError("effects() must give an array");
  return deepFreeze(Array.from(effects, readEffect));
}

/** The known fields alone. */
function readEffect(effect: unknown): ToolEffect {
  if (!isPlainObject(effect) || effect.kind === undefined)
    throw new TypeError("effects() must give objects with a kind");
  const known = Object.entries(fields).filter(([field]) => effect[field] !== undefined);
  for (const [field, fits] of known) {
    if (!fits(effect[field]))
      throw new TypeError(`effects() gave an effect whose ${field} is not of the promised type`);
  }
  return Object.fromEntries(known.map(([field]) => [field, effect[field]])) as unknown as ToolEffect;
}

/** Undefined for a yes, a reason for a denial, else the question. */
function readDecision(decision: unknown): ApprovalQuestion | string | undefined {
  if (decision === true) return undefined;
  return attempt(() => questionOf(decision)) ?? reasonOf(decision);
}

function questionOf(decision: unknown): ApprovalQuestion | undefined {
  const ask: unknown = isPlainObject(decision) ? copyJson(decision.ask) : undefined;
  if (typeof ask === "string" && ask !== "") return { text: ask };
  if (!isPlainObject(ask) || typeof ask.text !== "string" || ask.text === "") return undefined;
  return "data" in ask ? { text: ask.text, data: ask.data } : { text: ask.text };
}

function reasonOf(answer: unknown): string {
  return typeof answer === "string" && answer !== "" ? answer : "this call was not approved";
}
