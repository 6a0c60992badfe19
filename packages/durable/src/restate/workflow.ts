import {
  CancelledError,
  handlers,
  TerminalError,
  type WorkflowContext,
  type WorkflowDefinition,
  type WorkflowSharedContext,
  workflow,
} from "@restatedev/restate-sdk";
import { type Answers, isAgentError, type PendingCall, type Usage, type UserContent } from "@toolcrib/agent";
import type { ToolLabels } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import { checkAnswers, checkDefinition, checkMessage, checkName, checkPending, checkText } from "../checkInput.ts";
import { manifestVersion } from "../manifest.ts";
import type { AgentSource } from "../run.ts";
import { createAgent, defineAgent, type RunAgent, runTurn, type TurnEnd, type TurnInput } from "../turn.ts";
import { messageName, RecordedSteps } from "./recordedSteps.ts";

/** The input of a run. */
export interface RestateInput {
  readonly message: UserContent;
  readonly tenant?: string;
  /** JSON, handed to the maker of the agent and to every tool call. */
  readonly labels?: ToolLabels;
}

/** The outcome of a run. */
export interface RestateAnswer {
  readonly answer: string;
  readonly usage: Usage;
}

/** The state of a run. */
export interface RestateRun {
  readonly status: "running" | "waiting" | "done" | "failed" | "cancelled";
  readonly answer?: string;
  /** With the status `waiting`: the calls that wait for an answer. */
  readonly pending?: readonly PendingCall[];
  /** With the status `failed`. */
  readonly error?: { readonly message: string; readonly code?: unknown };
  /** Of the turns that have ended. */
  readonly usage?: Usage;
  /** The number of turns: the first message, and each one after an answer. */
  readonly turns: number;
}

/** The handlers of the workflow of an agent; its key is the id of the run. */
export interface AgentHandlers {
  /** Runs the agent to its answer. Fails where the agent does. */
  run(context: WorkflowContext, input: RestateInput): Promise<RestateAnswer>;
  /** Returns what is known of a run; null for an unknown id. */
  get(context: WorkflowSharedContext): Promise<RestateRun | null>;
  /** Answers the questions that wait, by the id of the call, as `agent.approve` takes them. */
  approve(context: WorkflowSharedContext, answers: Answers): Promise<void>;
  /** Sends a message to a run that has not ended: it reads it before its next request. */
  send(context: WorkflowSharedContext, text: string): Promise<void>;
}

const stateKey = "run";

/** Returns a workflow of Restate that runs an agent: each reply of the model and each call is recorded by `context.run`. */
export function agentWorkflow(name: string, agent: AgentSource): WorkflowDefinition<string, AgentHandlers> {
  checkName("The name of an agent", name);
  if (typeof agent !== "function") checkDefinition(name, agent);
  return workflow({
    name,
    handlers: {
      run: (context: WorkflowContext, input: RestateInput) => runAgent(context, { [name]: agent }, name, input),
      get: handlers.workflow.shared((context: WorkflowSharedContext) => context.get<RestateRun>(stateKey)),
      approve: handlers.workflow.shared(approve),
      send: handlers.workflow.shared(send),
    },
  });
}

async function runAgent(
  context: WorkflowContext,
  agents: Readonly<Record<string, AgentSource>>,
  name: string,
  input: RestateInput,
): Promise<RestateAnswer> {
  const { message, tenant, labels = {} } = input ?? {};
  orRefuse(() => checkMessage(message));
  await checkTools(context, agents);
  const steps = new RecordedSteps(context, (text) => made.agent.steer(text));
  const definition = await defineAgent(agents, name, { id: context.key, tenant, labels });
  const made: RunAgent = await createAgent(definition, { steps });
  let turn: TurnInput = { message };
  let turns = 1;
  try {
    for (;;) {
      context.set<RestateRun>(stateKey, { status: "running", turns });
      const end = await runTurn(made, turn, { signal: steps.signal, labels });
      if (steps.lost !== undefined) throw steps.lost;
      const { session: _, ...state } = end;
      context.set<RestateRun>(stateKey, { ...state, turns });
      if (end.status === "done") return { answer: end.answer ?? "", usage: end.usage };
      if (end.status === "failed") throw failure(end);
      // The engine suspends the run: no worker waits.
      turn = { answers: await context.promise<Answers>(answersName(turns)).get() };
      turns += 1;
    }
  } catch (error) {
    if (error instanceof CancelledError) context.set<RestateRun>(stateKey, { status: "cancelled", turns });
    throw error;
  }
}

/** Throws where the run was begun with other tools or options: the engine tries again, until a worker with those has it. */
async function checkTools(context: WorkflowContext, agents: Readonly<Record<string, AgentSource>>): Promise<void> {
  const version = await manifestVersion(agents);
  const begun = await context.run("tools", () => version);
  if (begun === version) return;
  throw new Error(
    "This run was begun with other tools, another model or other options. Register a different worker as a separate deployment.",
  );
}

async function approve(context: WorkflowSharedContext, answers: Answers): Promise<void> {
  orRefuse(() => checkAnswers(answers));
  const run = await context.get<RestateRun>(stateKey);
  if (run?.status !== "waiting") throw new TerminalError("The run does not wait for an answer.", { errorCode: 409 });
  orRefuse(() => checkPending(answers, run.pending));
  await context.promise<Answers>(answersName(run.turns)).resolve(answers);
}

async function send(context: WorkflowSharedContext, text: string): Promise<void> {
  orRefuse(() => checkText(text));
  const run = await context.get<RestateRun>(stateKey);
  if (run?.status === "done" || run?.status === "failed" || run?.status === "cancelled")
    throw new TerminalError("The run has ended: start another one.", { errorCode: 409 });
  for (let number = 1; ; number += 1) {
    const message = context.promise<string>(messageName(number));
    if ((await message.peek()) !== undefined) continue;
    try {
      return await message.resolve(text);
    } catch (error) {
      // Another message has taken the number meanwhile.
      if (!(error instanceof TerminalError)) throw error;
    }
  }
}

function answersName(turns: number): string {
  return `answers:${turns}`;
}

function failure({ error }: TurnEnd): TerminalError {
  const code = typeof error?.code === "string" ? { metadata: { code: error.code } } : {};
  return new TerminalError(error?.message ?? "The turn failed.", { errorCode: 500, ...code });
}

/** Refuses what a caller has sent wrong, so that it is not tried again. */
function orRefuse(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new TerminalError(messageOf(error), {
      errorCode: 400,
      ...(isAgentError(error) && { metadata: { code: error.code } }),
    });
  }
}
