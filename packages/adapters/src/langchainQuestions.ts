import type { ApprovalAnswer } from "@toolcrib/core";
import { upToOf } from "@toolcrib/core/internal";
import type { HITLRequest } from "langchain";
import { type AdapterOptions, decisionOn, type ToolSource } from "./registryCall.ts";

/** The question of a guard about one call of a reply, with the user's answer. */
export interface Answered extends Call {
  readonly question: string;
  readonly answer: boolean | string;
}

/** A call as LangChain hands it over; `args` may be anything that a model wrote. */
export interface Call {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: unknown;
}

/** A call that the user is asked about. `upTo`: the folder for which an approval may be one for more calls of a program. */
export interface Asked extends Call {
  readonly question: string;
  readonly upTo?: string;
}

/** LangGraph's `interrupt`. */
export type Interrupt = (request: HITLRequest) => unknown;

type Decision = {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly message?: unknown;
  readonly upTo?: unknown;
};

/**
 * Asks the questions that guards have about these calls by one interrupt, and returns the answers. What is no answer to
 * exactly these questions makes it ask again, before anything runs.
 */
export async function askAll(
  registry: ToolSource,
  calls: readonly Call[],
  { interrupt, labels }: { interrupt: Interrupt } & Pick<AdapterOptions, "labels">,
  configurable: Configurable,
): Promise<Answered[]> {
  const asked: Asked[] = [];
  for (const { id, name, args } of calls) {
    const decision = await decisionOn(registry, name, args, { labels, callId: id });
    if (decision && "question" in decision) asked.push({ id, name, args, question: decision.question.text });
  }
  if (asked.length === 0) return [];
  const answers = await answersTo(asked, interrupt, configurable);
  return answers.map(({ answer, ...each }) => ({ ...each, answer: typeof answer === "object" ? true : answer }));
}

/** Asks about calls by one interrupt. What is no answer to exactly these questions makes it ask again. */
export async function answersTo(
  asked: readonly Asked[],
  interrupt: Interrupt,
  configurable: Configurable,
): Promise<(Asked & { readonly answer: ApprovalAnswer })[]> {
  const request = requestFor(asked);
  const round = await roundOf(configurable);
  const given: unknown[] = [];
  // Every value that the task was given is handed out once more, in order, before an interrupt is thrown.
  for (let count = Math.max(1, round.given); count > 0; count -= 1) given.push(interrupt(request));
  const isAnswered = round.isNew && (round.asked === undefined || isSame(round.asked, request));
  const last = given.at(round.isStale ? -2 : -1);
  const answers =
    (isAnswered ? answersIn(last, asked, round.isShared) : undefined) ?? answersIn(interrupt(request), asked, false);
  return asked.map((each, at) => ({ ...each, answer: answers?.[at] ?? false }));
}

/** Returns the answer to the question about a call, as `approve` of a registry wants it; undefined if none was asked. */
export function approvalOf(answers: readonly Answered[], { id, name, args }: Call): AdapterOptions["approve"] {
  const own = answers.filter((each) => isSame([each.id, each.name, each.args], [id, name, args]));
  if (own.length === 0) return undefined;
  return (_call, { text }) => {
    const same = own.filter(({ question }) => question === text);
    if (same.length === 0) return "the user has answered another question";
    return same.find(({ answer }) => answer !== true)?.answer ?? true;
  };
}

function requestFor(asked: readonly Asked[]): HITLRequest {
  return {
    actionRequests: asked.map(({ id, name, args, question, upTo }) => ({
      name,
      args: args as HITLRequest["actionRequests"][number]["args"],
      description: question,
      ...(id === undefined ? {} : { id }),
      ...(upTo === undefined ? {} : { upTo }),
    })),
    reviewConfigs: asked.map(({ name }) => ({ actionName: name, allowedDecisions: ["approve", "reject"] })),
  };
}

/**
 * Returns the answers in the order of the calls: as many decisions as questions, or one for each call by its `id`. A value that went to
 * several interrupts at once counts only by `id`. Otherwise undefined.
 */
function answersIn(given: unknown, asked: readonly Asked[], isShared: boolean): ApprovalAnswer[] | undefined {
  const { decisions }: { decisions?: unknown } = Object(given);
  if (!Array.isArray(decisions)) return undefined;
  const list: Decision[] = decisions.map(Object);
  const isInOrder = !isShared && list.length === asked.length && list.every(({ id }) => id === undefined);
  const found = asked.map(({ id, upTo }, at) => {
    const own = isInOrder ? list.slice(at, at + 1) : list.filter((each) => each.id !== undefined && each.id === id);
    return own.length === 1 ? answerOf(own[0], upTo) : undefined;
  });
  return found.every((each) => each !== undefined) ? found : undefined;
}

/** Returns true for an approval; for a rejection its message, which is the reason that the model reads, or false. */
function answerOf(decision: Decision | undefined, folder: string | undefined): ApprovalAnswer | undefined {
  const { upTo } = decision ?? {};
  const count = folder === undefined ? undefined : upToOf({ upTo });
  if (upTo !== undefined && (count === undefined || decision?.type !== "approve")) return undefined;
  if (decision?.type === "approve") return count === undefined ? true : { upTo: count };
  if (decision?.type !== "reject") return undefined;
  return typeof decision.message === "string" ? decision.message : false;
}

/** The part of LangGraph's `configurable` that tells a task of its interrupts. */
interface Configurable {
  readonly thread_id?: unknown;
  readonly checkpoint_ns?: string;
  readonly checkpoint_map?: Readonly<Record<string, string>>;
  readonly __pregel_resume_map?: unknown;
  readonly __pregel_scratchpad?: { readonly resume?: readonly unknown[]; readonly nullResume?: unknown };
  readonly __pregel_checkpointer?: { getTuple(config: unknown): Promise<Checkpoint | undefined> };
}

interface Checkpoint {
  readonly pendingWrites?: readonly (readonly [task: string, channel: string, value: unknown])[];
}

interface Round {
  /** The number of values that the task was given so far. */
  readonly given: number;
  /** True if the last of them is an old one, which LangGraph hands out once more beside values by the interrupt's id. */
  readonly isStale: boolean;
  /** True if one came after the pending question. */
  readonly isNew: boolean;
  /** The request that is pending, if it is known. */
  readonly asked?: unknown;
  /** True if the last value went to other interrupts too. */
  readonly isShared: boolean;
}

async function roundOf(configurable: Configurable): Promise<Round> {
  const { resume = [], nullResume } = configurable.__pregel_scratchpad ?? {};
  const given = resume.length + (nullResume === undefined ? 0 : 1);
  const isStale = nullResume !== undefined && configurable.__pregel_resume_map !== undefined;
  if (given === 0) return { given, isStale, isNew: true, isShared: false };
  let asked: unknown;
  let kept = 0;
  let isShared = false;
  const tasks = (configurable.checkpoint_ns ?? "").split("|");
  for (const [level, task] of tasks.entries()) {
    const checkpoint_ns = tasks.slice(0, level).join("|");
    const checkpoint_id = configurable.checkpoint_map?.[checkpoint_ns];
    const config = { configurable: { thread_id: configurable.thread_id, checkpoint_ns, checkpoint_id } };
    const { pendingWrites = [] } = (await configurable.__pregel_checkpointer?.getTuple(config)) ?? {};
    const ended = new Set(pendingWrites.flatMap(([id, channel]) => (isInterruptChannel(channel) ? [] : [id])));
    for (const [id, channel, value] of pendingWrites) {
      const isOwn = level === tasks.length - 1 && task.includes(id);
      if (isOwn && channel === "__resume__") kept = [value].flat().length;
      if (isOwn && channel === "__interrupt__") asked = lastValue(value);
      if (channel === "__interrupt__" && !task.includes(id)) isShared ||= !ended.has(id);
    }
  }
  const isByName = nullResume === undefined || isStale;
  return { given, isStale, isNew: given - Number(isStale) > kept, asked, isShared: isShared && !isByName };
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const isInterruptChannel = (channel: string): boolean => channel === "__interrupt__" || channel === "__resume__";

/** Returns the request of an interrupt as a checkpoint keeps it. */
function lastValue(written: unknown): unknown {
  const last: unknown = Array.isArray(written) ? written.at(-1) : written;
  return Object(last).value;
}
