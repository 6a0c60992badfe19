import {
  Agent,
  type AgentOptions,
  type Answers,
  isAgentError,
  type PendingCall,
  type Session,
  type SessionToolContext,
  type Usage,
  type UserContent,
} from "@toolcrib/agent";
import { type ToolLabels, ToolRegistry } from "@toolcrib/core";
import { checkDefinition, invalid } from "./checkInput.ts";
import { type PlainError, toPlainError } from "./errors.ts";
import type { AgentDefinition, AgentSource, RunInfo } from "./run.ts";

/** The input of a turn of a run. */
export type TurnInput = { readonly message: UserContent } | { readonly answers: Answers };

/** The end of a turn, as JSON. */
export interface TurnEnd {
  readonly status: "done" | "waiting" | "failed";
  readonly answer?: string;
  readonly pending?: readonly PendingCall[];
  readonly error?: PlainError;
  readonly usage: Usage;
  readonly session: Session;
}

/** An agent, and the session that it has come to. */
export interface RunAgent {
  readonly agent: Agent;
  session(): Session;
}

/** Returns the definition of an agent for a run. */
export async function defineAgent(
  agents: Readonly<Record<string, AgentSource>>,
  name: string,
  run: RunInfo,
): Promise<AgentDefinition> {
  const source = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (source === undefined) throw invalid(`This worker has no agent ${JSON.stringify(name)}.`);
  const definition = typeof source === "function" ? await source(run) : source;
  checkDefinition(name, definition);
  return definition;
}

/** Makes the agent of a turn, which goes on with a session where there is one. */
export async function createAgent(
  { provider, tools, ...options }: AgentDefinition,
  { steps, session }: { readonly steps?: AgentOptions["steps"]; readonly session?: Session | undefined },
): Promise<RunAgent> {
  let context: SessionToolContext | undefined;
  const all: AgentOptions = {
    ...options,
    ...(steps && { steps }),
    tools: (given) => {
      context = given;
      return typeof tools === "function" ? tools(given) : (tools ?? new ToolRegistry());
    },
  };
  const agent = session ? await Agent.resume(provider, session, all) : new Agent(provider, all);
  return { agent, session: () => sessionOf(agent, context) };
}

function sessionOf({ systemPrompt, sessionContext }: Agent, context: SessionToolContext | undefined): Session {
  const about = { format: "toolcrib-session", version: 1, savedAt: new Date().toISOString() } as const;
  return { ...about, systemPrompt, messages: sessionContext, ...context?.kept };
}

/** Runs one turn to its end. A failure is an end too. */
export async function runTurn(
  { agent, session }: RunAgent,
  input: TurnInput,
  options: { readonly signal: AbortSignal; readonly labels: ToolLabels },
): Promise<TurnEnd> {
  let end: Pick<TurnEnd, "status" | "answer" | "pending" | "error">;
  try {
    const answer = await ("answers" in input
      ? agent.approve(input.answers, options)
      : agent.chat(input.message, options));
    end = { status: "done", answer };
  } catch (error) {
    const isWaiting = isAgentError(error) && error.code === "ended" && error.reason === "approval";
    const pending = isWaiting ? agent.pending : refusedAnswers(error, input, agent.pending);
    end = pending ? { status: "waiting", pending } : { status: "failed", error: toPlainError(error) };
  }
  return { ...end, usage: agent.usage, session: session() };
}

/** Returns the questions if the agent has taken none of the answers: they say why. Undefined for any other error. */
function refusedAnswers(
  error: unknown,
  input: TurnInput,
  pending: readonly PendingCall[],
): readonly PendingCall[] | undefined {
  if (!("answers" in input && isAgentError(error) && error.code === "invalid_option" && pending.length > 0)) return;
  const isAnswered = ({ callId }: PendingCall): boolean => Object.hasOwn(input.answers, callId);
  return pending.map((call) =>
    isAnswered(call) ? { ...call, question: { ...call.question, refused: error.message } } : call,
  );
}
