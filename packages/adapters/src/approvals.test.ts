import { Agent, type Model, type ModelResponse, RunState, run, setTracingDisabled, Usage } from "@openai/agents";
import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { generateText, isStepCount, type ModelMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { beforeAll, describe, expect, test } from "vitest";
import { aiSdkToolApproval, toAiSdkTools } from "./aiSdk.ts";
import { toAnthropicTools } from "./anthropic.ts";
import { toOpenAITools } from "./openai.ts";
import { toOpenAIAgentsTools } from "./openaiAgents.ts";

beforeAll(() => setTracingDisabled(true));

/** The calls that ran, over all processes. */
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
const toBoth: readonly Call[] = [...toBob, ["pay", "Ann"]];

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

  test("each of two questions has its own answer", async () => {
    ran = [];
    const question: ModelMessage = { role: "user", content: "go" };
    const { result } = await generate(start(), [question], toBoth);
    const asked = result.content.flatMap((part) => (part.type === "tool-approval-request" ? [part] : []));
    const content = asked.map(({ approvalId, reason }) => ({
      type: "tool-approval-response" as const,
      approvalId,
      approved: reason === "Pay Ann?",
    }));
    const messages: ModelMessage[] = [question, ...result.responseMessages, { role: "tool", content }];
    await generate(start(), messages, []);
    expect(ran).toEqual(["Ann"]);
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
  function agent(registry: ToolRegistry, calls: readonly Call[], answers: unknown[] = [], next: readonly Call[] = []) {
    let [left, later] = [calls, next];
    const model: Model = {
      async getResponse({ input }): Promise<ModelResponse> {
        if (Array.isArray(input)) {
          answers.push(...input.flatMap((item) => (item.type === "function_call_result" ? [item.output] : [])));
        }
        const output: ModelResponse["output"] = left.map(([name, to], at) => ({
          type: "function_call",
          callId: `${at}`,
          name,
          arguments: to === "cut" ? '{"to":' : JSON.stringify({ to }),
        }));
        [left, later] = [later, []];
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

  test("each of two questions has its own answer", async () => {
    ran = [];
    const resumed = agent(start(), toBoth);
    const { state } = await run(resumed, "go");
    const [bob, ann] = state.getInterruptions();
    if (!bob || !ann) throw new Error("two interruptions are expected");
    state.reject(bob);
    state.approve(ann);
    await run(resumed, state);
    expect(ran).toEqual(["Ann"]);
  });

  test("a yes does not answer a later call of the same id", async () => {
    ran = [];
    const resumed = agent(start(), toBob, [], [["pay", "Ann"]]);
    const { state } = await run(resumed, "go");
    for (const each of state.getInterruptions()) state.approve(each);
    await expect(run(resumed, state)).rejects.toThrow("was reused");
    expect(ran).toEqual(["Bob"]);
  });

  test("a call of cut JSON is an interruption too, and does not run when it is approved", async () => {
    ran = [];
    const registry = start();
    const resumed = agent(registry, [["pay", "cut"], ...toBob]);
    const { state } = await run(resumed, "go");
    const raw = state.getInterruptions().map(({ rawItem }) => rawItem as { name: string; arguments: string });
    const checked = await Promise.all(raw.map((call) => registry.check(call.name, call.arguments)));
    expect(checked).toMatchObject([{ error: { code: "invalid_arguments" } }, { error: { code: "approval_required" } }]);
    for (const each of state.getInterruptions()) state.approve(each);
    expect([(await run(resumed, state)).finalOutput, ran]).toEqual(["done", ["Bob"]]);
  });

  test("what a guard denies is answered without an interruption", async () => {
    ran = [];
    const answers: unknown[] = [];
    const { finalOutput } = await run(agent(start(), [["leak", "Eve"]], answers), "go");
    expect([finalOutput, ran]).toEqual(["done", []]);
    expect(JSON.stringify(answers)).toContain("Permission denied: secrets stay here");
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
