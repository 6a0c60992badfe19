import { setImmediate as nextTick } from "node:timers/promises";
import { ToolRegistry } from "@toolcrib/core";
import { describe, expect, test, vi } from "vitest";
import { anyTool, asking, asksForSummary, type Run, resumedFrom, sessionOf, userText } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { noUsage } from "../conversation/usage.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, Message, ToolCallBlock, Usage } from "../messages.ts";
import type { Provider, ProviderEvent } from "../provider.ts";
import { assertConversation } from "../testing.ts";
import type { StepRunner } from "./steps.ts";

const killed = "the process was killed";

/**
 * The things that outlive a process: the records of its steps, as JSON text, and what its tools did to the world. A process ends at the
 * `cut`th place where it could.
 */
class Machine {
  readonly records: Map<string, string> = new Map();
  /** The runs of each call whose effect took place, in all processes. */
  readonly effects: Map<string, number> = new Map();
  readonly requests: string[] = [];
  readonly places: string[] = [];
  #cut: number;
  #isDead = false;

  constructor(cut = Number.POSITIVE_INFINITY) {
    this.#cut = cut;
  }

  place(name: string): void {
    if (this.#isDead) throw new Error(killed);
    if (this.places.push(name) !== this.#cut) return;
    this.#isDead = true;
    throw new Error(killed);
  }

  restart(): void {
    this.#isDead = false;
    this.#cut = Number.POSITIVE_INFINITY;
  }

  effect(name: string): void {
    this.effects.set(name, (this.effects.get(name) ?? 0) + 1);
  }

  /** Gives `steer` what the user sends, right before the reply that is to read it; the record says that it was read. */
  runner(steer: (text: string) => void = () => {}): StepRunner {
    return {
      run: async <T>(name: string, fn: () => Promise<T>): Promise<T> => {
        this.place(`before ${name}`);
        const recorded = this.records.get(name);
        if (recorded !== undefined) return JSON.parse(recorded) as T;
        if (name === "reply:2") steer("Mind the second file.");
        const value = await fn();
        this.place(`after ${name}`);
        expect(this.records.has(name), `${name} is recorded once`).toBe(false);
        this.records.set(name, JSON.stringify(value));
        this.place(`recorded ${name}`);
        return JSON.parse(JSON.stringify(value)) as T;
      },
    };
  }
}

const call = (id: string, name: string, args: Record<string, unknown> = {}): ToolCallBlock => ({
  type: "tool-call",
  id,
  name,
  args: { id, ...args },
});

const usageOf = (inputTokens: number): Usage => ({ ...noUsage, inputTokens, outputTokens: 7, cost: 0.25 });

const malformed: ToolCallBlock = { ...call("g", "look"), malformed: "cut" };
/** The model's replies, each with what its request took. */
const script: { readonly calls: readonly ToolCallBlock[]; readonly inputTokens: number }[] = [
  { calls: [call("a", "look"), call("b", "look"), call("c", "fail")], inputTokens: 100 },
  { calls: [call("d", "charge"), call("e", "put")], inputTokens: 200 },
  { calls: [call("f", "charge", { ask: "Again?" }), malformed, call("h", "nobody")], inputTokens: 900 },
  { calls: [], inputTokens: 300 },
  { calls: [], inputTokens: 400 },
];

/** Goes by the last of its replies that it is sent; after a compaction by its summary. */
function modelOf(machine: Machine, steer: (text: string) => void): Provider {
  return {
    name: "own",
    model: "m",
    async *send({ messages }): AsyncGenerator<ProviderEvent, void> {
      const isSummary = asksForSummary({ messages });
      machine.place("in a request");
      const last = messages.findLast((message) => message.role === "assistant");
      const summary = /replies so far: (\d+)/.exec(JSON.stringify(messages[0]));
      const number = last?.content[0]?.type === "text" ? Number(last.content[0].text) : Number(summary?.[1] ?? 0);
      machine.requests.push(isSummary ? "summary" : String(number + 1));
      yield { type: "text-delta", text: "…" };
      await nextTick();
      machine.place("in a reply");
      if (isSummary) {
        const message = { role: "assistant", content: [{ type: "text", text: `replies so far: ${number}` }] } as const;
        yield { type: "reply", message, stop: "stop", usage: usageOf(50) };
        return;
      }
      if (number === 3) steer("One more thing.");
      const { calls, inputTokens } = script[number] ?? { calls: [], inputTokens: 0 };
      const content = [
        { type: "text", text: String(number + 1), opaque: { provider: "own", data: { number } } } as const,
        ...calls,
      ];
      const message = { role: "assistant", content } as const;
      yield { type: "reply", message, stop: calls.length > 0 ? "tool-calls" : "stop", usage: usageOf(inputTokens) };
    },
  };
}

function toolsOf(machine: Machine): ToolRegistry {
  const traits = { look: { readOnly: true }, put: { idempotent: true }, charge: {}, fail: {} };
  const of = ([name, trait]: [string, object]) => {
    const execute: Run = async ({ id }) => {
      machine.place(`before the effect of ${id}`);
      machine.effect(String(id));
      await nextTick();
      machine.place(`after the effect of ${id}`);
      if (name === "fail") throw new Error("It cannot be done.");
      return `${id}: ${"x".repeat(500)}`;
    };
    return anyTool(name, execute, trait);
  };
  return new ToolRegistry(Object.entries(traits).map(of)).guard(asking);
}

interface Outcome {
  readonly messages: readonly Message[];
  readonly usage: Usage;
  readonly events: readonly AgentEvent[];
}

/** One process: a new agent that begins the turn and goes by the records. */
async function runProcess(
  machine: Machine,
  parts: { provider?: Provider; tools?: ToolRegistry } = {},
): Promise<Outcome> {
  const steer = (text: string): void => agent.steer(text);
  const agent: Agent = new Agent(parts.provider ?? modelOf(machine, steer), {
    tools: parts.tools ?? toolsOf(machine),
    compaction: { contextWindow: 1000 },
    attempts: 1,
    steps: machine.runner(steer),
  });
  const events: AgentEvent[] = [];
  try {
    const approve = () => {
      machine.place("while the user is asked");
      return true;
    };
    for await (const event of agent.streamChat("Go.", { approve })) events.push(event);
  } finally {
    assertConversation(agent.sessionContext);
  }
  return { messages: agent.sessionContext, usage: agent.usage, events };
}

const steps = [
  ...["reply:1", "call:a", "call:b", "start:c", "call:c", "reply:2", "start:d", "call:d", "call:e"],
  ...[
    "reply:3",
    "start:f",
    "call:f",
    "answers:1",
    "start:f:2",
    "call:f:2",
    "call:h",
    "compact:1",
    "reply:4",
    "reply:5",
  ],
];

describe("a turn with recorded steps", () => {
  test("is the same turn as one without, and its steps are its replies, calls, claims and summaries", async () => {
    const machine = new Machine();
    const { messages, usage, events } = await runProcess(machine);
    expect([...machine.records.keys()]).toEqual(steps);
    expect(machine.requests).toEqual(["1", "2", "3", "summary", "4", "5"]);
    expect(Object.fromEntries(machine.effects)).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 });
    expect(messages.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "5" }] });
    expect(JSON.stringify(messages)).toContain("One more thing.");
    expect(usage).toMatchObject({ inputTokens: 100 + 200 + 900 + 50 + 300 + 400, cost: 1.5 });
    expect(events.filter(({ type }) => type === "text-delta")).toHaveLength(5);
    expect(events.flatMap((event) => (event.type === "steering" ? [event.text] : []))).toEqual([
      "Mind the second file.",
      "One more thing.",
    ]);
    expect(events.filter(({ type }) => type === "compaction")).toHaveLength(1);
  });

  test("is replayed without a request, a tool, a clock, a random number or an id", async () => {
    const machine = new Machine();
    const first = await runProcess(machine);
    const never = (): never => {
      throw new Error("A replay must not do this.");
    };
    const tools = toolsOf(machine);
    for (const name of tools.getToolNames()) Object.assign(tools.get(name) as object, { execute: never });
    vi.spyOn(Date, "now").mockImplementation(never);
    vi.spyOn(Math, "random").mockImplementation(never);
    vi.spyOn(crypto, "randomUUID").mockImplementation(never);
    vi.spyOn(performance, "now").mockImplementation(never);
    const provider = { name: "own", model: "m", send: never };
    const again = await runProcess(machine, { provider, tools }).finally(() => vi.restoreAllMocks());
    expect(JSON.stringify(again.messages)).toBe(JSON.stringify(first.messages));
    expect(again.usage).toEqual(first.usage);
    expect(again.events).toEqual(first.events.filter(({ type }) => type !== "text-delta"));
  });

  test("killed anywhere goes on in a new process: nothing finished runs again, nothing that must not runs twice", async () => {
    const whole = await runProcess(new Machine());
    let cuts = 0;
    for (let cut = 1; ; cut += 1) {
      const machine = new Machine(cut);
      const ended = await runProcess(machine).then(
        () => true,
        () => false,
      );
      if (ended) break;
      const where = `killed ${machine.places[cut - 1]}`;
      cuts += 1;
      const records = new Map(machine.records);
      const effects = new Map(machine.effects);
      machine.restart();
      const { messages, usage, events } = await runProcess(machine);
      expect(usage, where).toEqual(whole.usage);
      for (const id of ["a", "b", "c", "d", "e", "f"]) {
        if (records.has(id === "f" ? "call:f:2" : `call:${id}`))
          expect(machine.effects.get(id), `${id}, ${where}`).toBe(effects.get(id));
        if ("cdf".includes(id)) expect(machine.effects.get(id) ?? 0, `${id}, ${where}`).toBeLessThanOrEqual(1);
      }
      // The call that was asked about starts once more after its answer.
      const claimed = ["c", "d", "f", "f:2"].filter((id) => records.has(`start:${id}`) && !records.has(`call:${id}`));
      const mayHaveRun = claimed.map((id) => id.slice(0, 1));
      const mayBe = <R extends { readonly name: string }>(id: string, result: R): R =>
        mayHaveRun.includes(id) ? { ...result, ...interrupted(result.name) } : result;
      const expected = whole.messages.map((message) =>
        message.role === "tool" ? mayBe(message.callId, message) : message,
      );
      expect(messages, where).toEqual(expected);
      const results = whole.events.flatMap((event) => (event.type === "tool-result" ? [mayBe(event.id, event)] : []));
      expect(
        events.filter(({ type }) => type === "tool-result"),
        where,
      ).toEqual(results);
    }
    // Before, after and in each of the steps, and while the user is asked.
    expect(cuts).toBeGreaterThan(3 * steps.length);
  });
});

function interrupted(name: string) {
  return { output: `Error executing ${name}: Interrupted; may have run`, isError: true };
}

test("a refusal that is recorded leads to the same shorter request, also where the prompt makes the request long", async () => {
  const refusal = new AgentError({ code: "invalid_request", message: "Bad Request", status: 400 });
  const records = new Map<string, Promise<unknown>>();
  const run = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (!records.has(name)) records.set(name, work());
    return records.get(name) as Promise<T>;
  };
  const options = { systemPrompt: "p".repeat(4000), compaction: { contextWindow: 2000, startAt: 1 }, steps: { run } };
  const look = call("c", "look");
  const result = { role: "tool", callId: "c", name: "look", output: "line\n".repeat(1000), isError: false } as const;
  const messages = [userText("go"), { role: "assistant", content: [look] }, result] as const;
  for (const replies of [[refusal, "seen"], []]) {
    const { agent } = await resumedFrom(sessionOf(messages, { systemPrompt: options.systemPrompt }), replies, options);
    expect(await agent.chat("and?")).toBe("seen");
  }
});
