import { AgentError, type Answers, isAnswer, type PendingCall, type UserContent } from "@toolcrib/agent";
import {
  type OptionSpec,
  type OptionSpecs,
  offeredFolder,
  option,
  type ReadOptions,
  readOptions,
  showLine,
  upToOf,
} from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import type { AgentSource, ListOptions, ResultOptions, RunStatus, StartOptions } from "./run.ts";

const longestName = 200;
/** Control characters, and halves of characters. */
const notText = /[\p{Cc}\p{Surrogate}]/u;
const highestPriority = 1_000_000;
const statuses: readonly RunStatus[] = ["queued", "running", "waiting", "done", "failed", "cancelled"];

/** Reads options by their specs, as `readOptions` does, but throws `invalid_option`. */
export function readInput<
  Options extends object,
  const Specs extends OptionSpecs<NoInfer<Options>> = OptionSpecs<Options>,
>(owner: string, options: Options, specs: Specs): ReadOptions<Options, Specs> {
  try {
    return readOptions(owner, options, specs);
  } catch (cause) {
    throw new AgentError({ code: "invalid_option", message: `${messageOf(cause)}.`, cause });
  }
}

/** The name of a run, an agent or a tenant: text that a database can hold and a person can read. */
const nameOption: OptionSpec = {
  expected: `a text of 1 to ${longestName} characters, not blank, without control characters and halves of characters`,
  fits: (value) =>
    typeof value === "string" && value.trim() !== "" && value.length <= longestName && !notText.test(value),
  isShown: true,
  otherwise: "any",
};

/** Throws unless it may name a run, an agent or a tenant. */
export function checkName(what: string, value: unknown): asserts value is string {
  if (!nameOption.fits(value)) throw invalid(`${what} must be ${nameOption.expected}, received ${shown(value)}.`);
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
  const answers = isObject(value) ? Object.values(value) : [];
  if (answers.length === 0 || !answers.every(isAnswer))
    throw invalid(
      "Answers must be an object of the ids of calls with true, false, a reason, { args }, { output } or { upTo }, as in { call_1: true }.",
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
    if (upToOf(answer) !== undefined && (call.within === undefined || offeredFolder(call.question) === undefined))
      throw invalid(
        `The question about ${JSON.stringify(id)} offers no folder for more calls, so { upTo } is no answer to it.`,
      );
    if (call.question.needs && (answer === true || (isObject(answer) && "args" in answer)))
      throw invalid(`The question about ${JSON.stringify(id)} is answered with { output }: a yes is not enough.`);
  }
}

const startSpecs: OptionSpecs<StartOptions> = {
  id: true,
  tenant: nameOption,
  priority: {
    expected: `a whole number from -${highestPriority} to ${highestPriority}`,
    fits: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= highestPriority,
    isShown: true,
  },
  labels: { ...option.object, expected: "an object of JSON values", fits: isObject },
};

export function checkStartOptions(options: StartOptions): void {
  readInput("start", options, startSpecs);
  if (options.id !== undefined) checkRunId(options.id);
  checkJson("labels", options.labels);
}

const listSpecs: OptionSpecs<ListOptions> = {
  status: option.oneOf(...statuses),
  tenant: nameOption,
  agent: nameOption,
  limit: option.whole,
  after: {
    expected: "a run that list has returned, with its id and createdAt",
    fits: (value) => isObject(value) && value.createdAt instanceof Date && Number.isFinite(value.createdAt.getTime()),
    otherwise: "the first",
  },
};

export function checkListOptions(options: ListOptions): void {
  readInput("list", options, listSpecs);
  if (options.after !== undefined) checkRunId(options.after.id);
}

export function checkResultOptions(options: ResultOptions): void {
  readInput("result", options, { signal: option.signal });
}

/** Throws unless it is an object of definitions with a provider, or functions that make them. */
export function checkAgents(agents: Readonly<Record<string, AgentSource>>): void {
  if (!isObject(agents))
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

export function invalid(message: string): AgentError {
  return new AgentError({ code: "invalid_option", message });
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : Array.isArray(value) ? "a list" : String(value);
  return showLine(text, 80);
}
