import { AgentError, type Answers, isAnswer, type PendingCall, type UserContent } from "@toolcrib/agent";
import { type OptionSpecs, readOptions } from "@toolcrib/core/internal";
import { clip, isObject, messageOf, showInvisible } from "@toolcrib/core/text";
import type { AgentSource, ListOptions, ResultOptions, RunStatus, StartOptions } from "./run.ts";

const longestName = 200;
/** Control characters, and halves of characters. */
const notText = /[\p{Cc}\p{Surrogate}]/u;
const highestPriority = 1_000_000;
const statuses: readonly RunStatus[] = ["queued", "running", "waiting", "done", "failed", "cancelled"];

/** Throws `invalid_option` for an unknown option; the message names the nearest known one. */
export function checkKnown<Options extends object>(
  owner: string,
  options: Options,
  known: OptionSpecs<NoInfer<Options>>,
): void {
  try {
    readOptions(owner, options, known);
  } catch (cause) {
    throw new AgentError({ code: "invalid_option", message: `${messageOf(cause)}.`, cause });
  }
}

/** Throws unless it may name a run, an agent, a tenant: text that a database can hold and a person can read. */
export function checkName(what: string, value: unknown): asserts value is string {
  const problem =
    typeof value !== "string" || value.trim() === ""
      ? "a text that is not empty"
      : value.length > longestName
        ? `at most ${longestName} characters long`
        : notText.test(value)
          ? "without control characters and halves of characters"
          : undefined;
  if (problem !== undefined) throw invalid(`${what} must be ${problem}, received ${shown(value)}.`);
}

/** Checks the same for the id of a run. `::` is what tells the turns of a run apart in the engine. */
export function checkRunId(value: unknown): asserts value is string {
  checkName("The id of a run", value);
  if (value.includes("::")) throw invalid(`The id of a run must not contain "::", received ${shown(value)}.`);
}

export function checkMessage(value: unknown): asserts value is UserContent {
  const well =
    typeof value === "string"
      ? value.trim() !== ""
      : Array.isArray(value) && value.length > 0 && value.every((block) => isObject(block) && "type" in block);
  if (!well)
    throw invalid(`A message must be a text that is not empty, or a list of blocks, received ${shown(value)}.`);
  checkJson("A message", value);
}

/** Throws where JSON cannot hold it: it refers to itself, or holds a bigint. */
function checkJson(what: string, value: unknown): void {
  try {
    JSON.stringify(value);
  } catch (cause) {
    const message = `${what} must be JSON, without a bigint or an object that holds itself.`;
    throw new AgentError({ code: "invalid_option", message, cause });
  }
}

export function checkText(value: unknown): asserts value is string {
  if (typeof value !== "string" || value.trim() === "")
    throw invalid(`A message must be a text that is not empty, received ${shown(value)}.`);
}

export function checkAnswers(value: unknown): asserts value is Answers {
  const answers = isObject(value) && !Array.isArray(value) ? Object.values(value) : [];
  if (answers.length === 0 || !answers.every(isAnswer))
    throw invalid(
      "Answers must be an object of the ids of calls with true, false, a reason, { args } or { output }, as in { call_1: true }.",
    );
  checkJson("Answers", value);
}

/** Throws unless each answer is one to a call that waits. Whether other arguments fit the tool is known where the run goes on. */
export function checkPending(answers: Answers, pending: readonly PendingCall[] = []): void {
  for (const [id, answer] of Object.entries(answers)) {
    const call = pending.find(({ callId }) => callId === id);
    if (!call) {
      const waiting = pending.map(({ callId }) => callId).join(", ");
      throw invalid(`No call ${JSON.stringify(id)} waits for an answer: waiting are ${waiting}.`);
    }
    if (call.question.needs && (answer === true || (isObject(answer) && "args" in answer)))
      throw invalid(`The question about ${JSON.stringify(id)} is answered with { output }: a yes is not enough.`);
  }
}

export function checkStartOptions(options: StartOptions): void {
  checkKnown("start", options, { id: true, tenant: true, priority: true, labels: true });
  const { id, tenant, priority = 0, labels = {} } = options;
  if (id !== undefined) checkRunId(id);
  if (tenant !== undefined) checkName("tenant", tenant);
  if (!Number.isInteger(priority) || Math.abs(priority) > highestPriority)
    throw invalid(`priority must be a whole number from -${highestPriority} to ${highestPriority}.`);
  if (!isObject(labels) || Array.isArray(labels)) throw invalid("labels must be an object of JSON values.");
  checkJson("labels", labels);
}

export function checkListOptions(options: ListOptions): void {
  checkKnown("list", options, { status: true, tenant: true, agent: true, limit: true, after: true });
  const { status, tenant, agent, limit = 1, after } = options;
  if (status !== undefined && !statuses.includes(status))
    throw invalid(`status must be one of ${statuses.join(", ")}, received ${shown(status)}.`);
  if (tenant !== undefined) checkName("tenant", tenant);
  if (agent !== undefined) checkName("agent", agent);
  checkWhole("limit", limit);
  if (after === undefined) return;
  if (!(isObject(after) && after.createdAt instanceof Date && Number.isFinite(after.createdAt.getTime())))
    throw invalid("after must be a run that list has returned, with its id and createdAt.");
  checkRunId(after.id);
}

export function checkResultOptions(options: ResultOptions): void {
  checkKnown("result", options, { signal: true });
  if (options.signal !== undefined && typeof options.signal?.addEventListener !== "function")
    throw invalid("signal must be an AbortSignal: pass the signal of an AbortController.");
}

/** Throws unless it is an object of definitions with a provider, or functions that make them. */
export function checkAgents(agents: Readonly<Record<string, AgentSource>>): void {
  if (!isObject(agents) || Array.isArray(agents))
    throw invalid("agents must be an object such as { review: { provider, tools } }, the name of each agent first.");
  for (const [name, source] of Object.entries(agents)) {
    checkName("The name of an agent", name);
    if (typeof source !== "function") checkDefinition(name, source);
  }
}

/** Throws unless it has a provider and nothing that the engine keeps itself. */
export function checkDefinition(name: string, definition: unknown): void {
  if (!isObject(definition) || !isObject(definition.provider) || typeof definition.provider.send !== "function")
    throw invalid(`agents.${name} must be { provider, tools, … }, or a function that returns that.`);
  for (const option of ["journal", "onJournalError", "sessionName", "steps"])
    if (option in definition)
      throw invalid(`agents.${name} has ${option}: the database keeps the session of a run. Leave it out.`);
}

/** Throws unless it is a whole number above 0. */
export function checkWhole(name: string, value: unknown): void {
  if (!(typeof value === "number" && Number.isSafeInteger(value) && value > 0))
    throw invalid(`${name} must be a whole number above 0, received ${shown(value)}.`);
}

export function invalid(message: string): AgentError {
  return new AgentError({ code: "invalid_option", message });
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : Array.isArray(value) ? "a list" : String(value);
  return clip(showInvisible(text), 80);
}
