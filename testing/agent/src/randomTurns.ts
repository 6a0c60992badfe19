import { setTimeout as sleep } from "node:timers/promises";
import {
  Agent,
  AgentError,
  type AgentErrorCode,
  type AgentEvent,
  type ProviderEvent,
  type StopReason,
} from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";

/** One turn of a random conversation. It is stopped, or fails, wherever chance has it. */
export interface RandomTurn {
  readonly agent: Agent;
  /** Answers began it: it goes on with the last message of the assistant. */
  readonly continues: boolean;
  /** Throws as the agent's own events do. */
  readonly events: AsyncGenerator<AgentEvent, void>;
}

const stops: StopReason[] = [
  "stop",
  "tool-calls",
  "token-limit",
  "context-limit",
  "refusal",
  "content-filter",
  "pause",
];
const codes: AgentErrorCode[] = ["rate_limit", "server", "network", "bad_reply", "invalid_request", "authentication"];
const ids = ["", "a", "a", "b", "functions.x:0", "x".repeat(80), "é"];
const names = ["look", "look", "change", "fail", "deaf", "functions.look", "absent", ""];

/** Has some turns of one conversation: replies, faults, calls, questions and answers, all drawn from `random`. */
export async function randomTurns(random: () => number, visit: (turn: RandomTurn) => Promise<void>): Promise<void> {
  const replies = Array.from({ length: 200 }, () => () => replyOf(random));
  const agent = new Agent(new ScriptedProvider(replies), {
    ...{ maxSteps: 6, attempts: 3, baseDelayMs: 0.1, idleTimeoutMs: 5, requestTimeoutMs: 5 },
    tools: () => toolsOf(random),
  });
  for (let turns = 2 + Math.floor(random() * 3); turns > 0; turns -= 1) {
    const controller = new AbortController();
    const { signal } = controller;
    const { pending } = agent;
    const continues = pending.length > 0 && random() < 0.8;
    const answered = pending.filter(() => random() < 0.7);
    const answers = Object.fromEntries(answered.map(({ callId }) => [callId, random() < 0.6 || "no"]));
    const events = continues ? agent.streamApprove(answers, { signal }) : agent.streamChat("go", { signal });
    const stopAfter = random() < 0.4 ? Math.floor(random() * 14) : Number.POSITIVE_INFINITY;
    await visit({ agent, continues, events: stopped(events, stopAfter, controller) });
  }
}

async function* stopped(
  events: AsyncGenerator<AgentEvent, void>,
  after: number,
  controller: AbortController,
): AsyncGenerator<AgentEvent, void> {
  let count = 0;
  for await (const event of events) {
    count += 1;
    if (count > after) controller.abort();
    yield event;
  }
}

function replyOf(random: () => number): ScriptedReply {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const kind = random();
  if (kind < 0.1)
    return new AgentError({ code: pick(codes), message: "fault", retryable: random() < 0.8, retryAfterMs: 0 });
  if (kind < 0.13) return new TypeError("bug in the provider");
  if (kind < 0.2) return () => broken();
  if (kind < 0.24) return () => silent();
  const calls = Array.from({ length: Math.floor(random() * 4) }, () => ({
    id: pick(ids),
    name: pick(names),
    args: { value: pick([1, "two", [3], { four: null }]) },
    ...(random() < 0.1 && { malformed: "Unexpected end" }),
  }));
  return {
    text: pick(["", "text", "some more text \n\nin two parts  "]),
    reasoning: pick(["", "", "hm, so be it"]),
    calls: random() < 0.3 ? [] : calls,
    ...(random() < 0.15 && { stop: pick(stops) }),
    usage: { inputTokens: Math.floor(random() * 1000) },
  };
}

async function* broken(): AsyncGenerator<ProviderEvent, void> {
  yield { type: "reasoning-delta", text: "half a thought" };
  yield { type: "text-delta", text: "half " };
  throw new AgentError({ code: "network", message: "dropped", retryable: true, retryAfterMs: 0 });
}

async function* silent(): AsyncGenerator<ProviderEvent, void> {
  yield { type: "text-delta", text: "and then " };
  await new Promise(() => {});
}

function toolsOf(random: () => number): ToolRegistry {
  const tools = new ToolRegistry();
  const add = (name: string, readOnly: boolean, execute: () => unknown): void =>
    tools.register(
      defineTool({ name, description: name, readOnly, timeoutMs: 5, parameters: { type: "object" }, execute }),
    );
  add("look", true, () => (random() < 0.5 ? "seen" : sleep(1).then(() => "seen later")));
  add("change", false, () => "done");
  add("fail", true, () => Promise.reject(new Error("failed")));
  add("deaf", false, () => new Promise(() => {}));
  return tools.guard(() => random() < 0.75 || (random() < 0.8 ? { ask: "May it run?" } : "not now"));
}
