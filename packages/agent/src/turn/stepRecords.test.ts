import { setImmediate as nextTick } from "node:timers/promises";
import { type Approve, createToolSearch, ToolRegistry, toolOutput } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import * as turns from "../../testing/turns.ts";
import { anyTool, outputs, registryOf, resumedFrom } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { chatObject } from "../chatObject.ts";
import { AgentError, isAgentError } from "../errors.ts";
import type { AgentOptions } from "../options.ts";
import type { ModelRequest } from "../provider.ts";
import { createSession } from "../session/session.ts";
import type { SessionToolContext } from "../session/sessionContext.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";
import type { StepRunner } from "./steps.ts";

type Recorded = { readonly value: unknown } | { readonly error: Record<string, unknown> };

/** Records values and errors as JSON text, as an engine does; what was aborted is not recorded. */
class Records implements StepRunner {
  readonly texts: Map<string, string> = new Map();
  readonly names: string[] = [];

  async run<T>(name: string, fn: () => Promise<T>): Promise<T> {
    this.names.push(name);
    if (!this.texts.has(name)) await this.#record(name, fn);
    const recorded = JSON.parse(this.texts.get(name) ?? "") as Recorded;
    if ("value" in recorded) return recorded.value as T;
    throw new AgentError(recorded.error as unknown as ConstructorParameters<typeof AgentError>[0]);
  }

  async #record(name: string, fn: () => Promise<unknown>): Promise<void> {
    let recorded: object;
    try {
      recorded = { value: await fn() };
    } catch (error) {
      if (isAgentError(error) && error.code === "aborted") throw error;
      recorded = { error };
    }
    // The first record wins.
    if (!this.texts.has(name)) this.texts.set(name, JSON.stringify(recorded));
  }

  set(name: string, value: unknown): void {
    this.texts.set(name, JSON.stringify({ value }));
  }

  value(name: string): unknown {
    return JSON.parse(this.texts.get(name) ?? "{}").value;
  }
}

const agentOf = (replies: readonly ScriptedReply[], steps: StepRunner, options: AgentOptions = {}) =>
  turns.agentOf(replies, { attempts: 1, ...options, steps });
const callOf = (id: string, name: string, args = {}) => ({ calls: [{ id, name, args }] });

const texts = ({ messages }: Pick<ModelRequest, "messages">): string[] =>
  messages.flatMap((message) =>
    message.role === "tool" ? [] : message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );

test("steps that run side by side start in the order of the calls, whichever ends first", async () => {
  const records = new Records();
  const tools = registryOf({ look: ({ ticks }) => waitTicks(Number(ticks)) }, ["look"]);
  const calls = [3, 2, 1].map((ticks) => ({ id: `c${ticks}`, name: "look", args: { ticks } }));
  await agentOf([{ calls }, "done"], records, { tools }).agent.chat("go");
  expect(records.names).toEqual(["reply:1", "call:c3", "call:c2", "call:c1", "reply:2"]);
  expect([...records.texts.keys()]).toEqual(["reply:1", "call:c1", "call:c2", "call:c3", "reply:2"]);
});

async function waitTicks(count: number): Promise<string> {
  for (let tick = 0; tick < count; tick += 1) await nextTick();
  return "looked";
}

describe("a record that another process has written meanwhile", () => {
  test("of a reply is the reply, with what was steered there; what was steered here waits again", async () => {
    const records = new Records();
    const { agent, provider } = agentOf(
      [
        () => {
          const message = { role: "assistant", content: [{ type: "text", text: "theirs" }] };
          const reply = { type: "reply", message, stop: "stop" };
          records.set("reply:1", { reply, steered: ["from them"], waiting: ["later"] });
          return "ours";
        },
        "end",
      ],
      records,
    );
    agent.steer("from us");
    expect(await agent.chat("go")).toBe("end");
    expect(texts({ messages: agent.sessionContext })).toEqual(["go", "from them", "theirs", "from us", "later", "end"]);
    expect(texts(provider.requests[1] ?? { messages: [] })).toEqual(["go", "from them", "theirs", "from us", "later"]);
    assertConversation(agent.sessionContext);
  });

  test("of a claim ends the call as interrupted, whether it was there before or wins the race", async () => {
    const ran: string[] = [];
    const tools = registryOf({ pay: () => String(ran.push("pay")) });
    const script = [callOf("a", "pay"), "end"];
    const before = new Records();
    before.set("start:a", "of another process");
    const racing = new Records();
    const run: StepRunner["run"] = (name, fn) =>
      racing.run(name, async () => {
        if (name === "start:a") racing.set(name, "of another process");
        return await fn();
      });
    for (const [steps, records] of [[before, before] as const, [{ run }, racing] as const]) {
      const { agent } = agentOf(script, steps, { tools });
      expect(await agent.chat("go")).toBe("end");
      expect(outputs(agent)).toEqual(["Error executing pay: Interrupted; may have run"]);
      expect(records.value("call:a")).toMatchObject({ result: { isError: true } });
    }
    expect(ran).toEqual([]);
  });

  test("of a call is its result", async () => {
    const records = new Records();
    const theirs = { role: "tool", callId: "a", name: "pay", output: "theirs", isError: false };
    const tools = registryOf({
      pay: () => {
        records.set("call:a", { result: theirs });
        return "ours";
      },
    });
    const { agent } = agentOf([callOf("a", "pay"), "end"], records, { tools });
    await agent.chat("go");
    expect(outputs(agent)).toEqual(["theirs"]);
  });
});

test("a call that must not run twice does not, where a runner calls its step again", async () => {
  let ran = 0;
  const tools = registryOf({ pay: () => String(++ran) });
  const twice: StepRunner = { run: (_name, fn) => fn().then(fn) };
  const { agent } = agentOf([callOf("a", "pay"), callOf("a", "pay"), "lost", "end", "end"], twice, { tools });
  await agent.chat("go");
  expect(ran).toBe(1);
});

describe("a step that fails", () => {
  test("fails the same way when it is replayed, and what was steered waits for the next turn", async () => {
    const failure = new AgentError({ code: "rate_limit", message: "Slow down.", status: 429, retryAfterMs: 5 });
    const records = new Records();
    for (const replies of [[failure, "end"], []]) {
      const { agent, provider } = agentOf(replies, records);
      agent.steer("mind the step");
      const error: unknown = await agent.chat("go").catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "rate_limit", message: "Slow down.", status: 429, retryAfterMs: 5 });
      expect(texts({ messages: agent.sessionContext })).toEqual(["go"]);
      expect(await agent.chat("again")).toBe("end");
      expect(texts({ messages: agent.sessionContext })).toEqual(["go", "again", "mind the step", "end"]);
      if (replies.length === 0) expect(provider.requests).toEqual([]);
    }
  });

  test("in its runner rejects with the error of the runner; a call that has run is in the conversation", async () => {
    const ran: string[] = [];
    const gone = new Error("The database is gone.");
    const tools = registryOf(
      {
        quick: () => String(ran.push("quick")),
        slow: async (_args, { signal }) => {
          while (!signal?.aborted) await nextTick();
          ran.push("slow ended");
          throw signal.reason;
        },
        next: () => String(ran.push("next")),
      },
      ["quick", "slow"],
    );
    let broken = false;
    const steps: StepRunner = {
      run: async (name, fn) => {
        if (broken) throw gone;
        const value = await fn();
        if (name !== "call:q") return value;
        broken = true;
        throw gone;
      },
    };
    const calls = ["quick", "slow", "next"].map((name) => ({ id: name.slice(0, 1), name }));
    const { agent } = agentOf([{ calls }, "end"], steps, { tools });
    await expect(agent.chat("go")).rejects.toBe(gone);
    await nextTick();
    expect(ran).toEqual(["quick", "slow ended"]);
    expect(outputs(agent)).toEqual([
      "1",
      expect.stringContaining("slow: Aborted"),
      expect.stringContaining("Not run: aborted"),
    ]);
    assertConversation(agent.sessionContext);
  });

  test("in a runner that resolves to nothing says so", async () => {
    const { agent } = agentOf(["end"], { run: () => Promise.resolve(undefined as never) });
    await expect(agent.chat("go")).rejects.toThrow(
      "resolved reply:1 to undefined: run must resolve to what fn resolves to",
    );
  });
});

describe("an abort", () => {
  test("rejects the step of a reply, which is not recorded, and ends its request", async () => {
    const records = new Records();
    const controller = new AbortController();
    const { agent, provider } = agentOf(
      [
        async (request) => {
          controller.abort(new Error("enough"));
          while (!request.signal.aborted) await nextTick();
          return "late";
        },
      ],
      records,
    );
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(provider.requests).toHaveLength(1);
    expect([...records.texts.keys()]).toEqual([]);
  });

  test("rejects the step of a call; the conversation keeps what the call came to, and a replay may not run it again", async () => {
    const records = new Records();
    const controller = new AbortController();
    let ran = 0;
    const tools = registryOf({
      pay: async (_args, { signal }) => {
        ran += 1;
        controller.abort();
        while (!signal?.aborted) await nextTick();
        throw signal.reason;
      },
    });
    const script = [{ text: "Paying.", calls: [{ id: "a", name: "pay" }] }, "end"];
    const { agent } = agentOf(script, records, { tools });
    const aborted = { code: "aborted", text: "Paying." };
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject(aborted);
    expect(outputs(agent)).toEqual([expect.stringContaining("pay: Aborted")]);
    expect([...records.texts.keys()]).toEqual(["reply:1", "start:a"]);
    const again = agentOf(script.slice(1), records, { tools }).agent;
    expect(await again.chat("go")).toBe("end");
    expect(outputs(again)).toEqual(["Error executing pay: Interrupted; may have run"]);
    expect(ran).toBe(1);
  });

  test.each(["text-delta", "tool-progress"] as const)("is what leaving the stream at a %s does", async (type) => {
    const records = new Records();
    let ended = 0;
    const until = async (signal: AbortSignal | undefined): Promise<void> => {
      while (!signal?.aborted) await nextTick();
      ended += 1;
    };
    const tools = registryOf(
      {
        look: async (_args, { signal, onProgress }) => {
          onProgress?.({ message: "looking" });
          await until(signal);
        },
      },
      ["look"],
    );
    const slow = async function* (request: ModelRequest) {
      yield { type: "text-delta", text: "Well" } as const;
      await until(request.signal);
    };
    const { agent } = agentOf(type === "text-delta" ? [slow] : [callOf("a", "look")], records, { tools });
    for await (const event of agent.streamChat("go")) if (event.type === type) break;
    await nextTick();
    expect(ended).toBe(1);
    expect([...records.texts.keys()]).toEqual(type === "text-delta" ? [] : ["reply:1"]);
    assertConversation(agent.sessionContext);
  });
});

describe("a question", () => {
  const asking = (ran: string[]): ToolRegistry =>
    registryOf({ pay: ({ id }) => `paid ${ran.push(String(id))}` }).guard(({ args }) => ({
      ask: `Pay ${String(args.id)}?`,
    }));
  const script: ScriptedReply[] = [callOf("a", "pay", { id: "a" }), "end"];

  test("that ends the turn is recorded; after the answer the call runs under its next name", async () => {
    const ran: string[] = [];
    const records = new Records();
    for (const replies of [script, []]) {
      const { agent } = agentOf(replies, records, { tools: asking(ran) });
      await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
      expect(agent.pending).toMatchObject([{ callId: "a", question: { text: "Pay a?" } }]);
      expect(await agent.approve({ a: true })).toBe("end");
      expect(outputs(agent)).toEqual(["paid 1"]);
    }
    const expected = ["reply:1", "start:a", "call:a", "start:a:2", "call:a:2", "reply:2"];
    expect(records.names).toEqual([...expected, ...expected]);
    expect(ran).toEqual(["a"]);
  });

  test("that is answered while the turn runs is not asked again: the answers are a step", async () => {
    const ran: string[] = [];
    const records = new Records();
    const asked: string[] = [];
    for (const [replies, answer] of [[script, true] as const, [[], false] as const]) {
      const { agent } = agentOf(replies, records, { tools: asking(ran) });
      const approve: Approve = (_, { text }) => {
        asked.push(text);
        return answer;
      };
      expect(await agent.chat("go", { approve })).toBe("end");
      expect(outputs(agent)).toEqual(["paid 1"]);
    }
    expect([ran, asked]).toEqual([["a"], ["Pay a?"]]);
    expect([...records.texts.keys()]).toContain("answers:1");
  });

  test("is answered after a resume, with a runner for the rest of the turn", async () => {
    const ran: string[] = [];
    let context: SessionToolContext | undefined;
    const tools = (given: SessionToolContext): ToolRegistry => {
      context = given;
      return asking(ran);
    };
    const { agent } = agentOf(script, new Records(), { tools });
    await expect(agent.chat("go")).rejects.toMatchObject({ reason: "approval" });
    const { systemPrompt, sessionContext: messages } = agent;
    const session = JSON.stringify(createSession({ systemPrompt, messages, pending: context?.kept?.pending ?? [] }));
    const records = new Records();
    for (const replies of [["end"], []]) {
      const { agent: resumed } = await resumedFrom(JSON.parse(session), replies, {
        tools: asking(ran),
        steps: records,
      });
      expect(await resumed.approve({ a: true })).toBe("end");
      expect(outputs(resumed)).toEqual(["paid 1"]);
    }
    expect([...records.texts.keys()]).toEqual(["start:a", "call:a", "reply:1"]);
  });
});

test("an answer as an object, and the deferred tools that were found, come from the records too", async () => {
  const records = new Records();
  const schema = { type: "array", items: { type: "number" } } as const;
  const seen: string[][] = [];
  const found = (request: ModelRequest): ScriptedReply => {
    seen.push(request.tools.map((tool) => tool.function.name));
    return { calls: [{ id: "f", name: "final_answer", args: { value: ["1", 2] } }] };
  };
  const replies = [{ calls: [{ id: "s", name: "search_tools", args: { query: "rare" } }] }, found];
  for (const script of [replies, []]) {
    const tools = new ToolRegistry([anyTool("rare", undefined, { deferred: true })]);
    tools.register(createToolSearch(tools));
    const { agent } = agentOf(script, records, { tools });
    expect(await chatObject(agent, "go", schema)).toEqual([1, 2]);
    expect(agent.sessionContext).toHaveLength(5);
  }
  expect(seen).toEqual([["search_tools", "final_answer", "rare"]]);
});

test("what comes from records is as frozen as ever, and its ids are taken", async () => {
  const records = new Records();
  const tools = registryOf({ look: () => toolOutput("seen", { data: { deep: [1] } }) }, ["look"]);
  const calls = [{ id: "same", name: "look", args: { deep: [1] } }];
  await agentOf([{ calls }, "lost"], records, { tools }).agent.chat("go");
  records.texts.delete("reply:2");
  const { agent } = agentOf([{ calls }, "end"], records, { tools });
  await agent.chat("go");
  const ids = agent.sessionContext.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
  expect(new Set(ids).size).toBe(2);
  assertConversation(agent.sessionContext);
  for (const message of agent.sessionContext) expect(isFrozenDeep(message)).toBe(true);
});

function isFrozenDeep(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenDeep);
}

describe("a message that is steered", () => {
  test("again by whoever replays joins the conversation once", async () => {
    const records = new Records();
    for (const replies of [["end"], ["new"]]) {
      const { agent } = agentOf(replies, records);
      agent.steer("mind the step");
      await agent.chat("go");
      expect(texts({ messages: agent.sessionContext })).toEqual(["go", "mind the step", "end"]);
      if (replies[0] === "end") continue;
      await agent.chat("on");
      expect(texts({ messages: agent.sessionContext })).toEqual(["go", "mind the step", "end", "on", "new"]);
    }
  });

  test("after the record of a reply was written waits for the next turn, as no replay would know of it", async () => {
    const records = new Records();
    const steps: StepRunner = {
      run: async (name, fn) => {
        const value = await records.run(name, fn);
        agent.steer("late");
        return value;
      },
    };
    const { agent, provider } = agentOf(["end"], steps);
    expect(await agent.chat("go")).toBe("end");
    expect(provider.requests).toHaveLength(1);
  });
});

test("leaving the stream waits for the runner", async () => {
  const log: string[] = [];
  const steps: StepRunner = {
    run: async (_name, fn) => {
      try {
        return await fn();
      } finally {
        await nextTick();
        log.push("the runner has ended");
      }
    },
  };
  const { agent } = agentOf(["Well, yes."], steps);
  for await (const event of agent.streamChat("go")) if (event.type === "text-delta") break;
  log.push("left");
  expect(log).toEqual(["the runner has ended", "left"]);
});

test("the next turn goes on counting, and a summary that is asked for is a step", async () => {
  const records = new Records();
  const long = "word ".repeat(400);
  for (const replies of [[long, long, "What was said.", "end"], []]) {
    const { agent } = agentOf(replies, records);
    await agent.chat("one");
    await agent.chat("two");
    expect(await agent.compact()).toMatchObject({ type: "compaction" });
    expect(await agent.chat("three")).toBe("end");
    expect(JSON.stringify(agent.sessionContext)).toContain("What was said.");
  }
  expect([...records.texts.keys()]).toEqual(["reply:1", "reply:2", "compact:1", "reply:3"]);
});

test("a runner without run is refused", () => {
  for (const steps of [{}, null, () => {}] as unknown[])
    expect(() => new Agent(new ScriptedProvider([]), { steps: steps as StepRunner })).toThrow(
      "steps must be an object with run(name, fn)",
    );
});

test("a process with another prompt and other tools goes on with what the first request has told the model", async () => {
  const records = new Records();
  const run = (names: string[], systemPrompt: string, replies: ScriptedReply[]) => {
    const provider = new ScriptedProvider(replies);
    const tools = registryOf(Object.fromEntries(names.map((name) => [name, () => "done"])));
    return { provider, agent: new Agent(provider, { tools, systemPrompt, steps: records }) };
  };
  const first = run(["look"], "P", [callOf("a", "look"), new AgentError({ code: "aborted", message: "" })]);
  await expect(first.agent.chat("go")).rejects.toMatchObject({ code: "aborted" });
  const second = run(["look", "more"], "Q", ["ok"]);
  expect(await second.agent.chat("go")).toBe("ok");
  const [request] = second.provider.requests;
  expect(request?.opening).toEqual(first.provider.requests[0]?.opening);
  expect(request?.changes).toEqual([
    { position: 3, systemPrompt: "Q", addedTools: [expect.objectContaining({ function: expect.anything() })] },
  ]);
});
