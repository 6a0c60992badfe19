import { join } from "node:path";
import { Agent, type AgentEvent, type AgentOptions, type Provider } from "@toolcrib/agent";
import { AnthropicProvider } from "@toolcrib/agent/anthropic";
import { OpenAIProvider } from "@toolcrib/agent/openai";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { assertConversation } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { jsonOf, replyEvents, sse, streamOf, type WireReply } from "@toolcrib/testing/wireReplies";
import type { WireAnswer, WireFormat, WireRequest, WireServer } from "@toolcrib/testing/wireServer";
import { expect } from "vitest";

/** A model service with a window. */
export interface WindowedService {
  readonly format: WireFormat;
  /** In its tokens, and how many characters of a request are one. */
  readonly window: number;
  readonly charactersPerToken: number;
  /** The answer to a request beyond the window. `silent`: it takes all, as if nothing were missing. */
  readonly refusal: "number" | "code" | "413" | "400" | "silent";
  readonly hasUsage: boolean;
}

const refusals = {
  number: [400, (window: number) => `This model's maximum context length is ${window} tokens.`],
  code: [400, () => "too long"],
  413: [413, () => "Payload Too Large"],
  400: [400, () => "Bad Request"],
} as const;

export function tokensOf({ text }: WireRequest, { charactersPerToken }: WindowedService): number {
  return Math.ceil(text.length / charactersPerToken);
}

export const isSummary = ({ text }: WireRequest): boolean => text.includes("Sum up the conversation so far");

/** Answers as the service does; `reply` is what its model says. */
export function answerWithin(request: WireRequest, service: WindowedService, reply: WireReply): WireAnswer {
  const { window, refusal, hasUsage } = service;
  const tokens = tokensOf(request, service);
  if (tokens > window && refusal !== "silent") {
    const [status, word] = refusals[refusal];
    const code = refusal === "code" ? { code: "context_length_exceeded" } : {};
    return jsonOf({ type: "error", error: { type: "error", message: word(window), ...code } }, { status });
  }
  const input = Math.min(tokens, window);
  const usage = { input_tokens: input, output_tokens: 20, prompt_tokens: input, completion_tokens: 20 };
  const events = replyEvents(request.format, reply, request).map(({ data, ...event }) => ({
    ...event,
    data: typeof data === "string" ? data : withUsage(data, hasUsage ? usage : undefined),
  }));
  return streamOf(sse(events));
}

function withUsage(value: unknown, usage: object | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withUsage(item, usage));
  const entries = Object.entries(value).map(([key, inner]) => {
    if (key !== "usage" || inner === null) return [key, withUsage(inner, usage)];
    return [key, usage ?? (Object.hasOwn(inner, "prompt_tokens") ? null : { output_tokens: 0 })];
  });
  return Object.fromEntries(entries);
}

const apiKey = "sk-services-0123456789";

export function connect({ format }: Pick<WindowedService, "format">, { url }: WireServer): Provider {
  if (format === "messages") return new AnthropicProvider({ apiKey, baseURL: url });
  if (format === "responses") return new OpenAIProvider({ apiKey, baseURL: `${url}/v1` });
  return new OpenAICompatibleProvider({ apiKey, baseURL: `${url}/v1`, model: "m" });
}

/** The tool `read`, whose results have the sizes that `size` says. */
export function readerOf(size: () => number): ToolRegistry {
  return new ToolRegistry([
    defineTool({
      name: "read",
      description: "Reads.",
      parameters: { type: "object", properties: { path: { type: "string" } } },
      readOnly: true,
      execute: () => "some words and 1234 more\n".repeat(Math.ceil(size() / 25)),
    }),
  ]);
}

/** The records of the steps of one turn after another, as JSON. */
class Records {
  readonly #records = new Map<string, string>();
  #isReplay = false;

  replay(): this {
    this.#isReplay = true;
    return this;
  }

  async run<T>(name: string, fn: () => Promise<T>): Promise<T> {
    const recorded = this.#records.get(name);
    if (recorded !== undefined) return JSON.parse(recorded) as T;
    if (this.#isReplay) throw new Error(`${name} was not recorded`);
    const value = await fn();
    this.#records.set(name, JSON.stringify(value));
    return value;
  }
}

/**
 * Has a conversation of so many steps with a service, all of it random: its window and another one that the agent is given, results, messages and
 * turns, with a journal that is resumed or with recorded steps that are replayed. Throws where a turn ends without an answer.
 */
export async function talkLong(server: WireServer, random: () => number, steps: number): Promise<void> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const between = (low: number, high: number): number => Math.round(low * (high / low) ** random());
  const refusal = pick(["number", "number", "code", "413", "silent"] as const);
  const service: WindowedService = {
    format: pick(["chat", "messages", "responses"]),
    window: between(2500, 12_000),
    charactersPerToken: pick([2, 4, 4, 7]),
    refusal,
    hasUsage: random() < 0.6,
  };
  const characters = service.window * service.charactersPerToken;
  // For a service that says nothing it must be right.
  const contextWindow = refusal === "silent" ? service.window : between(500, 100_000);
  const compaction = refusal === "silent" || random() < 0.5 ? { contextWindow } : undefined;
  const what = JSON.stringify({ ...service, compaction });
  const isRecorded = random() < 0.4;
  const journal = join(temporaryFolder("full"), "talk.jsonl");
  let done = 0;
  let left = 0;
  let message = "";
  server.answerAll((request) => {
    if (isSummary(request)) return answerWithin(request, service, { text: "It went on. ".repeat(between(1, 30)) });
    const isRefused = tokensOf(request, service) > service.window && refusal !== "silent";
    if (!isRefused) {
      expect(request.text, what).toContain(JSON.stringify(message).slice(1, -1));
      done += 1;
    }
    if (!isRefused) left -= 1;
    const call = { name: "read", args: JSON.stringify({ path: "p".repeat(between(1, 200)) }) };
    const calls = Array.from({ length: pick([1, 1, 1, 2, 4]) }, () => call);
    return answerWithin(request, service, left >= 0 ? { text: "Looking.", calls } : { text: "Done." });
  });
  const tools = readerOf(() => between(10, characters * 2));
  const options: AgentOptions = { tools, attempts: 1, systemPrompt: "Be brief.", ...(compaction && { compaction }) };
  const provider = connect(service, server);
  let agent = new Agent(provider, { ...options, journal });
  // What the wire adds to a message, the tools among it, has room within the half of the window.
  const longest = Math.max(20, characters / 2 - 2600);
  while (done < steps) {
    left = between(1, 40) - 1;
    message = `Message ${done}: ${"words ".repeat(between(1, longest / 6))}`;
    const before = agent.sessionContext;
    const records = new Records();
    if (isRecorded) agent = await resumed(provider, before, { ...options, steps: records });
    const reasons: unknown[] = [];
    for await (const event of agent.streamChat(message)) if (event.type === "end") reasons.push(event.reason);
    expect(reasons, what).toEqual(["stop"]);
    assertConversation(agent.sessionContext);
    if (isRecorded) {
      const again = await resumed(provider, before, { ...options, steps: records.replay() });
      await readAll(again.streamChat(message));
      expect(JSON.stringify(again.sessionContext), what).toBe(JSON.stringify(agent.sessionContext));
    } else if (random() < 0.3) agent = await Agent.resume(provider, journal, options);
    else if (random() < 0.1) await agent.compact();
  }
  // Thinking behind a change goes. A beginning that happens to be the same as an earlier one may have another reply.
  for (const problem of server.takeProblems()) expect(problem, what).toMatch(/is left out|thinking is lost|as it came/);
  server.requests.length = 0;
}

async function resumed(provider: Provider, messages: Agent["sessionContext"], options: AgentOptions): Promise<Agent> {
  const session = { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "Be brief.", messages } as const;
  return Agent.resume(provider, session, options);
}

async function readAll(events: AsyncIterable<AgentEvent>): Promise<void> {
  for await (const _ of events);
}
