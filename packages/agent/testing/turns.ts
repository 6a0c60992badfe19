import { Validator } from "@cfworker/json-schema";
import { defineTool, type ExecutableTool, type Guard, type ToolCallInfo, ToolRegistry } from "@toolcrib/core";
import { afterEach, expect } from "vitest";
import schema from "../session.schema.json" with { type: "json" };
import { Agent } from "../src/agent.ts";
import { type AgentError, isAgentError } from "../src/errors.ts";
import type { AgentEvent, Message } from "../src/messages.ts";
import type { AgentOptions } from "../src/options.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../src/testing.ts";

export type Run = (args: Record<string, unknown>, call: ToolCallInfo) => unknown;

/** A tool that takes any arguments. */
export function anyTool(name: string, execute: Run = () => `${name} done`, more: object = {}): ExecutableTool {
  return defineTool({ name, description: name, parameters: { type: "object" }, execute, ...more });
}

export function registryOf(tools: Record<string, Run>, readOnly: readonly string[] = []): ToolRegistry {
  const of = ([name, execute]: [string, Run]) => anyTool(name, execute, { readOnly: readOnly.includes(name) });
  return new ToolRegistry(Object.entries(tools).map(of));
}

const agents: Agent[] = [];
// Whatever a test did to it: the conversation is valid.
afterEach(() => {
  for (const agent of agents.splice(0)) assertConversation(agent.sessionContext);
});

/** An agent whose model follows a script, and whose conversation is valid at the end of the test. */
export function agentOf(replies: readonly ScriptedReply[], options: AgentOptions = {}) {
  const provider = new ScriptedProvider(replies);
  const agent = new Agent(provider, { baseDelayMs: 1, ...options });
  agents.push(agent);
  return { agent, provider };
}

/** The same, of a session or journal. */
export async function resumedFrom(
  from: Parameters<typeof Agent.resume>[1],
  replies: readonly ScriptedReply[] = ["ok"],
  options: AgentOptions = {},
) {
  const provider = new ScriptedProvider(replies);
  const agent = await Agent.resume(provider, from, options);
  assertConversation(agent.sessionContext);
  agents.push(agent);
  return { agent, provider };
}

/** A saved session. */
export const sessionOf = <More extends object>(messages: readonly Message[], more?: More) =>
  ({ format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages, ...(more as More) }) as const;

export async function read(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

export async function failureOf(running: Promise<unknown>): Promise<AgentError> {
  const thrown: unknown = await running.then(
    () => new Error("it did not fail"),
    (error: unknown) => error,
  );
  if (isAgentError(thrown)) return thrown;
  throw thrown;
}

/** The outputs of the results in a conversation, in order. */
export const outputs = ({ sessionContext }: { sessionContext: readonly Message[] }): string[] =>
  sessionContext.flatMap((message) => (message.role === "tool" ? [message.output] : []));

export const userText = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
export const asksForSummary = ({ messages }: { messages: readonly Message[] }): boolean =>
  JSON.stringify(messages.at(-1) ?? "").includes("Sum up the conversation so far");

/** Asks about calls whose argument `ask` is given, with that text. */
export const asking: Guard = ({ args }) =>
  typeof args.ask === "string" ? { ask: { text: args.ask, data: [1] } } : true;

/** `look` is read-only, `change` is not; each notes its `id` in `ran`. */
export function askingTools(ran: string[], guard: Guard = asking, extra: object = {}): ToolRegistry {
  return new ToolRegistry(["look", "change"].map((name) => askingTool(ran, name, extra))).guard(guard);
}

export function askingTool(ran: string[], name: string, extra: object = {}): ExecutableTool {
  const properties = { id: { type: "string" }, ask: { type: "string" }, ...extra };
  const execute: Run = ({ id }) => {
    ran.push(String(id));
    return `${id} done`;
  };
  return anyTool(name, execute, { readOnly: name === "look", parameters: { type: "object", properties } });
}

export const look = (id: string, ask?: string) => ({ id, name: "look", args: { id, ...(ask && { ask }) } });
export const change = (id: string, ask?: string) => ({ ...look(id, ask), name: "change" });
export const waits = (name: string): string => `Error executing ${name}: Not run: waiting for approval`;

/** Checks against the published schema. */
export function assertFits(value: unknown, definition: "session" | "journalLine"): void {
  const whole = { ...schema, $ref: `#/$defs/${definition}` } as object;
  expect(new Validator(whole, "2020-12").validate(value)).toEqual({ valid: true, errors: [] });
}
