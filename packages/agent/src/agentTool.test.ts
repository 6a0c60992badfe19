import { type ExecutableTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test, vi } from "vitest";
import { outputs, read, registryOf } from "../testing/turns.ts";
import { Agent } from "./agent.ts";
import { type AgentToolOptions, createAgentTool } from "./agentTool.ts";
import type { AgentEvent } from "./messages.ts";
import type { AgentOptions } from "./options.ts";
import { ScriptedProvider, type ScriptedReply } from "./testing.ts";
import { createCostLimit } from "./turn/costLimit.ts";
import { anyOf } from "./turn/stopConditions.ts";

const usage = { inputTokens: 10, outputTokens: 5, cost: 0.25 };

/** An agent whose tool `helper` is an agent with the tool `write`. */
function nested(inner: readonly ScriptedReply[], options: Partial<AgentToolOptions> = {}, innerGuards: Guard[] = []) {
  const ran: unknown[] = [];
  const made: Agent[] = [];
  const helper = createAgentTool({
    name: "helper",
    description: "Helps.",
    agent() {
      const tools = registryOf({ write: (_args, { labels }) => `${ran.push(labels)}` });
      for (const guard of innerGuards) tools.guard(guard);
      const agent = new Agent(new ScriptedProvider(inner), { tools });
      made.push(agent);
      return agent;
    },
    ...options,
  });
  const outer = (guards: Guard[] = [], given: AgentOptions = {}) => {
    const tools = new ToolRegistry([helper]);
    for (const guard of guards) tools.guard(guard);
    const call = { calls: [{ id: "h", name: "helper", args: { task: "Write it." } }], usage: { ...usage, cost: 1 } };
    return new Agent(new ScriptedProvider([call, { text: "done", usage: { ...usage, cost: 1 } }]), { tools, ...given });
  };
  return { helper, ran, made, outer };
}

const writes = { calls: [{ name: "write", args: {} }], usage };
const told = { text: "Written.", usage };

const eventsOf = (agent: Agent): Promise<AgentEvent[]> => read(agent.streamChat("go"));

const outputOf = (agent: Agent): unknown => outputs(agent)[0] ?? "";

describe("a tool that is an agent", () => {
  test("answers with the agent's answer, from a conversation of its own at each call", async () => {
    const { outer, made, ran } = nested([writes, told]);
    const agent = outer();
    expect(await agent.chat("go", { labels: { user: 7 } })).toBe("done");
    expect([outputOf(agent), ran]).toEqual(["Written.", [{ user: 7 }]]);
    const [inner] = made;
    expect(inner?.sessionContext[0]).toMatchObject({ content: [{ text: "Write it." }] });
    await outer().chat("go");
    expect(made).toHaveLength(2);
  });

  test("counts what it uses in the turn, with its cost, and reaches a limit of costs", async () => {
    const { outer } = nested([writes, told]);
    const agent = outer();
    const events = await eventsOf(agent);
    expect(events.filter((event) => event.type === "usage")).toMatchObject([
      { usage: { cost: 1 } },
      { callId: "h", usage: { inputTokens: 20, outputTokens: 10, cost: 0.5 }, total: { cost: 1.5 } },
      { usage: { cost: 1 } },
    ]);
    expect(agent.usage).toMatchObject({ inputTokens: 40, cost: 2.5 });
    const limited = outer();
    const limit = createCostLimit(1.4, limited.provider);
    for await (const _ of limited.streamChat("go", { stopWhen: limit }));
    expect([limit.reached, limited.usage.cost]).toEqual(["cost-limit", 1.5]);
  });

  test("ends where what it has used reaches the caller's limit, also in an agent within it", async () => {
    const long = [writes, writes, writes, writes, writes, told];
    const { helper } = nested(long);
    const within = () =>
      new Agent(new ScriptedProvider([{ calls: [{ name: "helper", args: { task: "x" } }] }, told]), {
        tools: new ToolRegistry([helper]),
      });
    for (const { outer } of [nested(long), nested([], { agent: within })]) {
      const agent = outer();
      const limit = createCostLimit(1.5, agent.provider);
      for await (const _ of agent.streamChat("go", { stopWhen: anyOf(limit, () => false) }));
      expect([limit.reached, agent.usage.cost]).toEqual(["cost-limit", 1.5]);
      expect(outputOf(agent)).toContain("The agent ended without an answer: the caller's limit is reached.");
    }
  });

  test("whose cost is unknown makes the cost of the turn unknown, not that of another model", async () => {
    const { outer } = nested([{ text: "Done.", usage: { inputTokens: 10 } }]);
    const agent = outer();
    const limit = createCostLimit(100, { name: "anthropic", model: "claude-opus-4-8" });
    for await (const _ of agent.streamChat("go", { stopWhen: limit }));
    expect(limit.reached).toBe("cost-unknown");
  });

  test("does not run where the reply that asks for it has reached the limit of costs", async () => {
    const { outer, made } = nested([writes, told]);
    const agent = outer();
    const limit = createCostLimit(1, agent.provider);
    const tools = agent.toolRegistry.clone().guard(limit.guard);
    for await (const _ of agent.streamChat("go", { tools, stopWhen: limit }));
    expect([made, limit.reached, agent.usage.cost]).toEqual([[], "cost-limit", 1]);
    expect(outputOf(agent)).toBe("Error executing helper: Permission denied: the limit of costs is reached");
  });

  test("may start an agent that starts one more, and no further", async () => {
    let made = 0;
    const again = { calls: [{ name: "again", args: { task: "Again." } }] };
    const tool: ExecutableTool = createAgentTool({
      name: "again",
      description: "Works on it.",
      agent() {
        made += 1;
        const tools = new ToolRegistry([tool]);
        return new Agent(
          new ScriptedProvider([again, ({ messages }) => outputs({ sessionContext: messages })[0] ?? ""]),
          { tools },
        );
      },
    });
    const deep =
      "Error executing again: This agent is within 2 others, and may not start one more: do the task without this tool";
    for (const _call of [1, 2]) {
      made = 0;
      expect(await new ToolRegistry([tool]).execute("again", { task: "x" })).toBe(deep);
      expect(made).toBe(3);
    }
  });

  test("passes on what its agent does as progress", async () => {
    const { outer } = nested([writes, told]);
    const events = await eventsOf(outer());
    expect(events.flatMap((event) => (event.type === "tool-progress" ? [event.progress.message] : []))).toEqual([
      "write {}",
    ]);
  });

  test("is bound by the guards of the caller, and by those of its own tools", async () => {
    const seen: string[] = [];
    const watch: Guard = ({ name }) => {
      seen.push(name);
      return name === "write" ? "no writing" : true;
    };
    const { outer, ran, made } = nested([writes, told]);
    await outer([watch]).chat("go");
    expect([seen, ran]).toEqual([["helper", "write"], []]);
    expect(made[0] && outputOf(made[0])).toBe("Error executing write: Permission denied: no writing");
    const own = nested([writes, told], {}, [() => "never"]);
    await own.outer().chat("go");
    expect(own.ran).toEqual([]);
  });

  test("has its questions answered by approve of the caller; without it they deny", async () => {
    const asks: Guard = ({ name }) => (name === "write" ? { ask: "Write?" } : true);
    const asked: string[] = [];
    const approve = (_call: unknown, { text }: { text: string }) => asked.push(text) > 0;
    for (const [guards, inner] of [
      [[asks], []],
      [[], [asks]],
    ] as const) {
      const { outer, ran } = nested([writes, told], {}, [...inner]);
      await outer([...guards]).chat("go", { approve });
      expect(ran).toHaveLength(1);
      const denied = nested([writes, told], {}, [...inner]);
      const agent = denied.outer([...guards]);
      expect(await agent.chat("go")).toBe("done");
      expect([denied.ran, agent.pending]).toEqual([[], []]);
    }
    expect(asked).toEqual(["Write?", "Write?"]);
  });

  test("called by a registry alone is bound by its guards and approve, too", async () => {
    const { helper, ran } = nested([writes, told]);
    const registry = new ToolRegistry([helper]).guard(({ name }) => (name === "write" ? { ask: "Write?" } : true));
    expect(await registry.execute("helper", { task: "x" }, { approve: () => true })).toBe("Written.");
    expect(await registry.execute("helper", { task: "x" })).toBe("Written.");
    expect(ran).toHaveLength(1);
  });

  test("ends with the signal and the time limit of its call", async () => {
    const waits = (): Promise<never> => new Promise(() => {});
    const { helper, made } = nested([waits as never], { timeoutMs: 50 });
    const registry = new ToolRegistry([helper]);
    expect(await registry.execute("helper", { task: "x" })).toBe("Error executing helper: Timed out after 50 ms");
    const controller = new AbortController();
    const running = registry.execute("helper", { task: "x" }, { signal: controller.signal, timeoutMs: 60_000 });
    controller.abort();
    expect(await running).toBe("Error executing helper: Aborted");
    // An agent whose turn still runs throws here.
    await vi.waitFor(() => made.map((agent) => agent.clearContext()), { timeout: 60_000 });
    expect(made).toHaveLength(2);
  });

  test("that ends without an answer is an error with its reason, and one that makes no agent, too", async () => {
    const { helper } = nested([{ text: "Half", stop: "token-limit" }]);
    expect(await new ToolRegistry([helper]).execute("helper", { task: "x" })).toBe(
      "Error executing helper: The agent ended without an answer: token-limit. Its text so far: Half",
    );
    const broken = createAgentTool({ name: "a", description: "a", agent: () => undefined as never });
    expect(await new ToolRegistry([broken]).execute("a", { task: "x" })).toContain("must return an Agent");
    expect(() => createAgentTool({ name: "a", description: "a" } as never)).toThrow("agent");
    expect(() => createAgentTool({ name: "a", description: "a", agent: () => 1 as never, limit: 1 } as never)).toThrow(
      "limit",
    );
  });
});
