import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { Agent, type Model, type ModelResponse, RunState, run, setTracingDisabled, Usage } from "@openai/agents";
import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { generateText, isStepCount, type ModelMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createAgent } from "langchain";
import { beforeAll, describe, expect, test } from "vitest";
import { aiSdkToolApproval, toAiSdkTools } from "./aiSdk.ts";
import { toAnthropicTools } from "./anthropic.ts";
import { toLangChainTools } from "./langchain.ts";
import { toOpenAITools } from "./openai.ts";
import { toOpenAIAgentsTools } from "./openaiAgents.ts";

beforeAll(() => setTracingDisabled(true));

/** What ran, over all processes. */
let ran: string[] = [];

/** The registry of a process that has just started. `pay` is asked about, `leak` is denied. */
function start(guard: Guard = asks): ToolRegistry {
  const parameters = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
  const execute = ({ to }: { to: string }): string => {
    ran.push(to);
    return `paid ${to}`;
  };
  return new ToolRegistry([
    defineTool({ name: "pay", description: "Pays.", parameters, execute }),
    defineTool({ name: "leak", description: "Leaks.", parameters, execute }),
  ]).guard(guard);
}

const asks: Guard = ({ name, args }) => (name === "leak" ? "secrets stay here" : { ask: `Pay ${String(args.to)}?` });
const asksOther: Guard = ({ args }) => ({ ask: `Pay ${String(args.to)} twice?` });

type Call = readonly [name: string, to: string];
const toBob: readonly Call[] = [["pay", "Bob"]];

describe("AI SDK", () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };

  /** Runs until the model says `done` or a question ends it. */
  async function generate(registry: ToolRegistry, messages: ModelMessage[], calls: readonly Call[]) {
    let left = calls;
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        const content = left.map(([toolName, to], at) => ({
          type: "tool-call" as const,
          toolCallId: `${at}`,
          toolName,
          input: JSON.stringify({ to }),
        }));
        left = [];
        return {
          content: content.length > 0 ? content : [{ type: "text", text: "done" }],
          finishReason: { unified: content.length > 0 ? "tool-calls" : "stop", raw: undefined },
          usage,
          warnings: [],
        };
      },
    });
    const tools = toAiSdkTools(registry);
    const toolApproval = aiSdkToolApproval(registry);
    const result = await generateText({ model, messages, tools, toolApproval, stopWhen: isStepCount(5) });
    return { result, read: JSON.stringify(model.doGenerateCalls.at(-1)?.prompt) };
  }

  /** Asks in one process, then answers in another, which knows only what was stored. */
  async function answered(
    approved: boolean,
    second: ToolRegistry,
  ): Promise<{ reason: string | undefined; read: string }> {
    ran = [];
    const question: ModelMessage = { role: "user", content: "go" };
    const first = await generate(start(), [question], toBob);
    const request = first.result.content.find((part) => part.type === "tool-approval-request");
    expect(ran).toEqual([]);
    const stored: ModelMessage[] = JSON.parse(JSON.stringify([question, ...first.result.responseMessages]));
    const approvalId = String(request?.approvalId);
    stored.push({ role: "tool", content: [{ type: "tool-approval-response", approvalId, approved }] });
    const { result, read } = await generate(second, stored, []);
    expect(result.text).toBe("done");
    return { reason: request?.reason, read };
  }

  test("a question ends the generation, and a yes in another process runs the call", async () => {
    const { reason, read } = await answered(true, start());
    expect([reason, ran]).toEqual(["Pay Bob?", ["Bob"]]);
    expect(read).toContain("paid Bob");
  });

  test("a no is told to the model, and nothing runs", async () => {
    expect((await answered(false, start())).read).toContain("denied");
    expect(ran).toEqual([]);
  });

  test("a yes does not answer another question about the call", async () => {
    await answered(true, start(asksOther));
    expect(ran).toEqual([]);
  });

  test("what a guard denies is denied without a question, and without toolApproval a question is a refusal", async () => {
    ran = [];
    const { result } = await generate(start(), [{ role: "user", content: "go" }], [["leak", "Eve"]]);
    expect(result.content.some((part) => part.type === "tool-approval-request" && !part.isAutomatic)).toBe(false);
    const refused = toAiSdkTools(start()).pay?.execute?.({ to: "Bob" }, { toolCallId: "1", messages: [], context: {} });
    await expect(refused).rejects.toThrow("Approval required: Pay Bob?");
    expect(ran).toEqual([]);
  });
});

describe("OpenAI Agents", () => {
  function agent(registry: ToolRegistry, calls: readonly Call[], answers: unknown[] = []) {
    let left = calls;
    const model: Model = {
      async getResponse({ input }): Promise<ModelResponse> {
        if (Array.isArray(input)) {
          answers.push(...input.flatMap((item) => (item.type === "function_call_result" ? [item.output] : [])));
        }
        const output: ModelResponse["output"] = left.map(([name, to], at) => ({
          type: "function_call",
          callId: `${at}`,
          name,
          arguments: JSON.stringify({ to }),
        }));
        left = [];
        if (output.length === 0) {
          const content = [{ type: "output_text" as const, text: "done" }];
          output.push({ type: "message", role: "assistant", status: "completed", content });
        }
        return { usage: new Usage(), output };
      },
      getStreamedResponse(): AsyncIterable<never> {
        throw new Error("not streamed");
      },
    };
    return new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry, { interrupt: true }) });
  }

  test.each([true, false])("a question interrupts the run, and another process answers it with %s", async (yes) => {
    ran = [];
    const first = await run(agent(start(), toBob), "go");
    expect(first.interruptions).toHaveLength(1);
    expect(ran).toEqual([]);
    const stored = first.state.toString();
    const answers: unknown[] = [];
    const resumed = agent(start(), [], answers);
    const state = await RunState.fromString(resumed, stored);
    for (const each of state.getInterruptions())
      if (yes) state.approve(each);
      else state.reject(each);
    const { finalOutput } = await run(resumed, state);
    expect([finalOutput, ran]).toEqual(["done", yes ? ["Bob"] : []]);
    expect(JSON.stringify(answers)).toContain(yes ? "paid Bob" : "not approved");
  });

  test("what a guard denies is answered without an interruption", async () => {
    ran = [];
    const answers: unknown[] = [];
    const { finalOutput } = await run(agent(start(), [["leak", "Eve"]], answers), "go");
    expect([finalOutput, ran]).toEqual(["done", []]);
    expect(JSON.stringify(answers)).toContain("Permission denied: secrets stay here");
  });
});

describe("LangGraph", () => {
  const thread = { configurable: { thread_id: "1" } };

  function agent(registry: ToolRegistry, checkpointer: MemorySaver, calls: readonly Call[]) {
    const model = fakeModel();
    const tool_calls = calls.map(([name, to], at) => ({ name, args: { to }, id: `${at}` }));
    if (calls.length > 0) model.respond(new AIMessage({ content: "", tool_calls }));
    model.respond(new AIMessage("done"));
    return createAgent({ model, tools: toLangChainTools(registry, { interrupt }), checkpointer });
  }

  /** Returns what a new process finds in the store. */
  function reopened({ storage, writes }: MemorySaver): MemorySaver {
    return Object.assign(new MemorySaver(), structuredClone({ storage, writes }));
  }

  test.each([
    [{ type: "approve" }, ["Bob"], "paid Bob"],
    [{ type: "reject", message: "not Bob" }, [], "Permission denied: not Bob"],
    [{ type: "edit" }, [], "Permission denied"],
  ])("a question interrupts the graph, and another process answers %j", async (decision, expected, result) => {
    ran = [];
    const saver = new MemorySaver();
    const first = await agent(start(), saver, toBob).invoke({ messages: "go" }, thread);
    expect(first.__interrupt__?.[0]?.value).toMatchObject({
      actionRequests: [{ name: "pay", args: { to: "Bob" }, description: "Pay Bob?" }],
    });
    expect(ran).toEqual([]);
    const resumed = agent(start(), reopened(saver), []);
    const { messages } = await resumed.invoke(new Command({ resume: { decisions: [decision] } }), thread);
    expect(ran).toEqual(expected);
    expect(messages.map(({ text }) => text).join("\n")).toContain(result);
    expect(messages.at(-1)?.text).toBe("done");
  });

  test("a yes does not answer another question about the call", async () => {
    ran = [];
    const saver = new MemorySaver();
    await agent(start(), saver, toBob).invoke({ messages: "go" }, thread);
    let asked = 0;
    // Another question when the tool would start than when the graph was interrupted.
    const changing: Guard = () => ({ ask: `Question ${++asked}?` });
    const resumed = agent(start(changing), reopened(saver), []);
    await resumed.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread);
    expect(ran).toEqual([]);
  });
});

describe("the tool runners of Anthropic and OpenAI", () => {
  test.each([
    [true, "paid Bob"],
    ["not Bob", "Error executing pay: Permission denied: not Bob"],
  ] as const)("approve answers the question in place with %s", async (answer, text) => {
    const questions: string[] = [];
    const approve = (_call: unknown, question: { text: string }): typeof answer => {
      questions.push(question.text);
      return answer;
    };
    const [anthropic] = toAnthropicTools(start(), { approve });
    const given = await Promise.resolve(anthropic?.run({ to: "Bob" })).catch((error: Error) => error.message);
    expect(given).toBe(text);
    const [openai] = toOpenAITools(start(), { approve });
    const runner = { controller: new AbortController() };
    expect(await openai?.function.function('{"to":"Bob"}', runner as never, {} as never)).toBe(text);
    expect(questions).toEqual(["Pay Bob?", "Pay Bob?"]);
  });
});
