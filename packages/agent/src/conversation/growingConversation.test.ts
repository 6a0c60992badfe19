import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ChatTool, createToolSearch, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyTool, asksForSummary } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { AgentError, isAgentError } from "../errors.ts";
import { fallbackProvider } from "../fallback.ts";
import type { AgentEvent } from "../messages.ts";
import type { AgentOptions, ChatOptions } from "../options.ts";
import type { ModelRequest, Opening, Provider, ProviderEvent } from "../provider.ts";
import { assertConversation } from "../testing.ts";

/** The kind of the next reply. */
type Reply = "text" | "look" | "search" | "ask" | "pause" | "refused" | "failed" | "gone";
const replies: readonly Reply[] = ["text", "look", "search", "ask", "pause", "refused", "failed", "gone"];

/** The requests so far, checked as they come: what a model has answered is never sent differently again. */
class Model {
  readonly replies: Reply[] = [];
  /** The last request that got a reply. Undefined once the conversation has begun anew. */
  answered: Pick<ModelRequest, "messages" | "opening" | "changes" | "tools"> | undefined;
  failures = 0;
  #calls = 0;

  provider(name: string): Provider {
    return { name, model: "m", send: (request) => this.#send(request, name) };
  }

  async *#send(request: ModelRequest, name: string): AsyncGenerator<ProviderEvent, void> {
    const isSummary = asksForSummary(request);
    check(request, this.answered, isSummary);
    const kind = isSummary ? "text" : (this.replies.shift() ?? "text");
    // Which is why the next provider takes over.
    if (kind === "gone" && name === "first") throw new AgentError({ code: "not_found", message: "gone" });
    if (kind === "failed") throw new AgentError({ code: "bad_reply", message: "failed" });
    if (kind === "refused") throw new AgentError({ code: "invalid_request", message: "no" });
    this.#calls += 1;
    const content = [{ type: "text" as const, text: `reply ${this.#calls}` }, ...callsOf(kind, this.#calls)];
    if (!isSummary) this.answered = { ...request, messages: [...request.messages] };
    const usage = { inputTokens: JSON.stringify(request.messages).length, outputTokens: 1 };
    const stop = kind === "pause" ? "pause" : content.length > 1 ? "tool-calls" : "stop";
    const all = { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    yield { type: "reply", message: { role: "assistant", content }, stop, usage: all };
  }
}

function callsOf(kind: Reply, number: number) {
  const call = (name: string, args = {}) => ({ type: "tool-call" as const, id: `c${number}`, name, args });
  if (kind === "look" || kind === "ask") return [call(kind)];
  return kind === "search" ? [call("search_tools", { query: "hidden" })] : [];
}

const json = JSON.stringify;

function check(request: ModelRequest, answered: Model["answered"], isSummary: boolean): void {
  const { messages, opening, changes = [], systemPrompt, tools, deferredTools } = request;
  assertConversation(messages);
  if (!opening) throw new Error("A request has no opening.");
  for (const { position } of changes) {
    expect(["user", "tool"]).toContain(messages[position - 1]?.role);
    expect([undefined, "assistant"]).toContain(messages[position]?.role);
  }
  if (answered) {
    expect(json(messages.slice(0, answered.messages.length))).toBe(json(answered.messages));
    expect(json(opening)).toBe(json(answered.opening));
    expect(json(changes.slice(0, answered.changes?.length))).toBe(json(answered.changes));
  }
  // A summary sends what is there, and a reply that paused goes on with what was there.
  if (isSummary || messages.at(-1)?.role === "assistant") return;
  const told = fold(opening, changes);
  const present = new Set(tools.map((tool) => tool.function.name));
  for (const tool of answered?.tools ?? [])
    expect(present.has(tool.function.name) || told.withdrawn.has(tool.function.name)).toBe(true);
  expect(told.systemPrompt).toBe(systemPrompt);
  const found = tools.filter((tool) => deferredTools?.includes(tool) && !told.withdrawn.has(tool.function.name));
  const offered = new Map([...told.tools, ...found.map((tool) => [tool.function.name, json(tool)] as const)]);
  expect(new Map([...offered].sort())).toEqual(
    new Map(tools.map((tool) => [tool.function.name, json(tool)] as const).sort()),
  );
}

/** Computes what a model knows after these announcements. */
function fold(opening: Opening, changes: NonNullable<ModelRequest["changes"]>) {
  const known = new Map<string, string>();
  const tools = new Map<string, string>();
  const withdrawn = new Set<string>();
  let { systemPrompt } = opening;
  const take = (all: readonly ChatTool[] = [], isOffered = true): void => {
    for (const tool of all) {
      known.set(tool.function.name, json(tool));
      withdrawn.delete(tool.function.name);
      if (isOffered) tools.set(tool.function.name, json(tool));
    }
  };
  take(opening.deferredTools, false);
  take(opening.tools);
  for (const change of changes) {
    systemPrompt = change.systemPrompt ?? systemPrompt;
    take(change.deferredTools, false);
    take(change.addedTools);
    for (const name of change.removedTools ?? []) {
      tools.delete(name);
      withdrawn.add(name);
    }
    for (const name of change.offeredTools ?? []) {
      expect(withdrawn.delete(name)).toBe(true);
      tools.set(name, known.get(name) ?? "");
    }
  }
  return { systemPrompt, tools, withdrawn };
}

function toolOf(name: string, description = name): ExecutableTool {
  const more = { description, readOnly: name === "look", deferred: name === "hidden" };
  return anyTool(name, () => "x".repeat(200), more);
}

function toolsOf(): ToolRegistry {
  const registry = new ToolRegistry(["look", "ask", "hidden"].map((name) => toolOf(name)));
  registry.register(createToolSearch(registry));
  return registry.guard(({ name }) => (name === "ask" ? { ask: "May I?" } : true));
}

const names = ["look", "ask", "hidden", "more"] as const;
type Names = (typeof names)[number];

type Step =
  | {
      readonly do: "chat";
      readonly replies: readonly Reply[];
      readonly turnTools: boolean;
      readonly leave: boolean;
      readonly prompts?: boolean;
    }
  | { readonly do: "approve"; readonly answer: boolean }
  | { readonly do: "toggle" | "remove" | "renew"; readonly name: Names }
  | { readonly do: "prompt"; readonly text: string }
  | { readonly do: "steer" | "compact" | "clear" | "resume" | "take over" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("chat" as const),
      replies: fc.array(fc.constantFrom(...replies), { maxLength: 4 }),
      turnTools: fc.boolean(),
      prompts: fc.boolean(),
      leave: fc.integer({ max: 9, min: 0 }).map((number) => number === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("approve" as const), answer: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("toggle" as const, "remove" as const, "renew" as const),
      name: fc.constantFrom(...names),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("prompt" as const), text: fc.constantFrom("", "P", "Q") }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("steer", "compact", "clear", "resume", "take over") }),
  },
);

/** One conversation: the same agent, or one that has resumed it. */
class Talk {
  readonly model: Model = new Model();
  readonly #folder = temporaryFolder("growing");
  readonly #tools = toolsOf();
  #journal = join(this.#folder, "0.jsonl");
  #agent: Agent;

  constructor() {
    this.#agent = new Agent(this.#provider(), this.#options());
  }

  #provider(): Provider {
    return fallbackProvider(this.model.provider("first"), this.model.provider("second"), this.model.provider("first"));
  }

  #options(): AgentOptions {
    const compaction = { contextWindow: 4000 };
    return { tools: this.#tools, journal: this.#journal, compaction, attempts: 3, baseDelayMs: 1, maxSteps: 5 };
  }

  async take(step: Step): Promise<void> {
    const agent = this.#agent;
    if (step.do === "chat") await this.#chat(step);
    else if (step.do === "approve" && agent.pending.length > 0) {
      const answers = Object.fromEntries(agent.pending.map(({ callId }) => [callId, step.answer]));
      await this.#read(agent.streamApprove(answers));
    } else if (step.do === "toggle" && agent.toolRegistry.hasTool(step.name)) {
      if (agent.toolRegistry.isToolEnabled(step.name)) agent.disableTool(step.name);
      else agent.enableTool(step.name);
    } else if (step.do === "remove" && agent.toolRegistry.hasTool(step.name)) agent.removeTool(step.name);
    else if (step.do === "renew") {
      if (agent.toolRegistry.hasTool(step.name)) agent.removeTool(step.name);
      agent.addTool(toolOf(step.name, `${step.name} ${agent.usage.outputTokens % 3}`));
    } else if (step.do === "prompt") agent.setSystemPrompt(step.text);
    else if (step.do === "steer") agent.steer("Mind this.");
    else if (step.do === "compact" && agent.pending.length === 0) {
      if (await agent.compact()) this.model.answered = undefined;
    } else if (step.do === "clear") {
      agent.clearContext();
      this.model.answered = undefined;
      // The journal is written behind it, and before the next turn.
      await this.#chat({ do: "chat", replies: [], turnTools: false, leave: false });
    } else if (step.do === "resume" || step.do === "take over") await this.#resume(step.do === "take over");
  }

  async #chat({ replies: script, turnTools, leave, prompts }: Extract<Step, { do: "chat" }>): Promise<void> {
    this.model.replies.splice(0, Number.POSITIVE_INFINITY, ...script);
    const tools = this.#tools.clone();
    tools.register(toolOf("final_answer"));
    const options: ChatOptions = turnTools ? { tools } : {};
    await this.#read(this.#agent.streamChat(`Message of ${"y".repeat(300)}`, options), leave, prompts);
  }

  /** `prompts`: the prompt changes after each reply. */
  async #read(events: AsyncGenerator<AgentEvent, void>, leave = false, prompts = false): Promise<void> {
    try {
      for await (const event of events) {
        if (event.type === "compaction") this.model.answered = undefined;
        if (prompts && event.type === "usage") this.#agent.setSystemPrompt(`P${event.total.outputTokens}`);
        if (leave && event.type === "tool-call") break;
      }
    } catch (error) {
      if (!isAgentError(error)) throw error;
      // A check that has failed comes as the error of a provider.
      if (error.cause instanceof Error && !isAgentError(error.cause)) throw error.cause;
      if (error.code === "bad_reply" && error.message !== "failed") throw error;
      expect(["invalid_request", "not_found", "bad_reply", "ended"]).toContain(error.code);
    }
    assertConversation(this.#agent.sessionContext);
  }

  /** In the journal's own file, or with a new journal. */
  async #resume(anew: boolean): Promise<void> {
    const before = this.#agent;
    const from = this.#journal;
    // Nothing was written yet.
    if (!existsSync(from)) return;
    if (anew) this.#journal = join(this.#folder, `${crypto.randomUUID()}.jsonl`);
    const { systemPrompt } = before;
    this.#agent = await Agent.resume(this.#provider(), from, { ...this.#options(), systemPrompt });
    expect(this.#agent.sessionContext).toEqual(before.sessionContext);
    expect(this.#agent.pending).toEqual(before.pending);
    expect(this.#agent.usage).toEqual(before.usage);
  }
}

test("whatever happens in a conversation, what a model has answered is never sent differently again", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
      const talk = new Talk();
      for (const one of steps) await talk.take(one);
      await talk.take({ do: "resume" });
      await talk.take({ do: "chat", replies: ["look"], turnTools: false, leave: false });
    }),
    { numRuns: 25, seed: 20_261_123 },
  );
}, 60_000);
