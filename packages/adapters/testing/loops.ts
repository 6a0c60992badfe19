import Anthropic from "@anthropic-ai/sdk";
import { type FunctionCall, GoogleGenAI } from "@google/genai";
import { interrupt, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIResponsesModel, run, setTracingDisabled } from "@openai/agents";
import type { Approve, ToolRegistry } from "@toolcrib/core";
import { answerWith, type WireFormat, type WireReply, WireServer } from "@toolcrib/testing";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createAgent } from "langchain";
import OpenAI from "openai";
import { ResponsesToolRunner } from "openai/helpers/responses-tool-runner";
import { aiSdkToolApproval, toAiSdkTools } from "../src/aiSdk.ts";
import { toAnthropicTools } from "../src/anthropic.ts";
import { runGeminiFunctionCalls, toGeminiTool } from "../src/gemini.ts";
import { registryMiddleware, toLangChainTools } from "../src/langchain.ts";
import {
  runOpenAIResponsesCalls,
  toOpenAIResponsesTools,
  toOpenAIRunnerFunctions,
  toOpenAITools,
} from "../src/openai.ts";
import { openAIAgentsRunOptions, toOpenAIAgentsTools } from "../src/openaiAgents.ts";
import { serveScript } from "./scenario.ts";

/** A call as a model wrote it. */
export interface WrittenCall {
  readonly name: string;
  readonly args: string;
}

/** Read by a model that makes some calls in one reply, then says `end`. */
export interface Told {
  /** The results that its second request holds, as JSON; none if there was no second request. */
  readonly results: readonly string[];
  /** The rest of that request, behind the results. */
  readonly behind: string;
  /** The forms that the questions of guards took. */
  readonly asked?: readonly string[];
}

interface LoopOptions {
  readonly signal?: AbortSignal;
  /** Lets the loop ask in its own way. */
  readonly asks?: boolean;
}

/**
 * Runs such a conversation with the tools of these registries. Rejects where the loop does; undefined where the API cannot carry
 * such a call.
 */
type Loop = (
  registries: readonly ToolRegistry[],
  calls: readonly WrittenCall[],
  options: LoopOptions,
) => Promise<Told | undefined>;

const model = "gpt-6-luna";
const prompt = "go";
const key = { apiKey: "none", maxRetries: 0 };

/** Runs a loop against the service that speaks a wire, and reads the second request. */
async function overWire(
  format: WireFormat,
  calls: readonly WrittenCall[],
  loop: (url: string, asked: string[]) => PromiseLike<unknown>,
  rest: WireReply = {},
): Promise<Told> {
  const wire = await WireServer.start({ isLenient: true });
  try {
    const made: WireReply = { calls: calls.map((call, at) => ({ ...call, id: `call_${at}` })), ...rest };
    wire.script(answerWith(made), answerWith({ text: "end" }));
    const asked: string[] = [];
    await loop(format === "messages" ? wire.url : `${wire.url}/v1`, asked);
    const { body = {} } = wire.requests[1] ?? {};
    return { ...readFrom([body.messages ?? body.input ?? []].flat()), asked };
  } finally {
    wire.takeProblems();
    await wire.close();
  }
}

/** Splits the items of a request into the results of calls and what stands behind them. */
function readFrom(items: readonly unknown[]): Told {
  const all = items.flatMap((item) => (Array.isArray(Object(item).content) ? [item, ...Object(item).content] : [item]));
  const isResult = (item: unknown): boolean =>
    Object(item).role === "tool" || /^(function_call_output|tool_result)$/.test(Object(item).type);
  const last = all.findLastIndex(isResult);
  return {
    results: all.filter(isResult).map((item) => JSON.stringify(Object(item).output ?? Object(item).content)),
    behind: last < 0 ? "" : JSON.stringify(all.slice(last + 1)),
  };
}

const openai = (baseURL: string): OpenAI => new OpenAI({ ...key, baseURL });
const withSignal = ({ signal }: LoopOptions): { signal?: AbortSignal } => (signal ? { signal } : {});
/** One's own loop asks one registry, which refuses a second tool of a name. */
function onlyOne([registry, ...others]: readonly ToolRegistry[]): ToolRegistry {
  if (!registry || others.length > 0) throw new Error("Tool already exists");
  return registry;
}

function isWhole({ args }: WrittenCall): boolean {
  try {
    return args === "" || Boolean(JSON.parse(args));
  } catch {
    return false;
  }
}

/** For loops that cannot stop for an answer. */
const inPlace = ({ asks }: LoopOptions, asked: string[]): { approve?: Approve } =>
  asks ? { approve: () => asked.push("`approve`") > 0 } : {};

const aiSdk: Loop = async (registries, calls, { signal, asks }) => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const written = calls.map(({ name, args }, at) => ({
    type: "tool-call" as const,
    toolCallId: `call_${at}`,
    toolName: name,
    input: args,
  }));
  const rest = { usage, warnings: [] };
  const made = { content: written, finishReason: { unified: "tool-calls" as const, raw: undefined }, ...rest };
  const end = { type: "text" as const, text: "end" };
  const said = { content: [end], finishReason: { unified: "stop" as const, raw: undefined }, ...rest };
  const mock = new MockLanguageModelV4({ doGenerate: [made, said] });
  const tools = Object.assign({}, ...registries.map((registry) => toAiSdkTools(registry)));
  const { content } = await generateText({
    model: mock,
    prompt,
    tools,
    stopWhen: isStepCount(3),
    ...(registries[0] && asks && { toolApproval: aiSdkToolApproval(registries[0]) }),
    ...(signal && { abortSignal: signal }),
  });
  const asked = content.flatMap(({ type }) => (type === "tool-approval-request" ? [`\`${type}\``] : []));
  const last = mock.doGenerateCalls[1]?.prompt.at(-1);
  const parts = last?.role === "tool" ? last.content : [];
  return { results: parts.map((part) => JSON.stringify("output" in part ? part.output : part)), behind: "", asked };
};

const langChain =
  (isMiddleware: boolean): Loop =>
  (registries, calls, options) =>
    overWire("responses", calls, async (baseURL, asked) => {
      const chat = new ChatOpenAI({ model, useResponsesApi: true, ...key, configuration: { baseURL } });
      const settings = { model: chat, checkpointer: new MemorySaver() };
      const ours = options.asks ? { interrupt } : {};
      const agent = isMiddleware
        ? createAgent({ ...settings, middleware: registries.map((each) => registryMiddleware(each, ours)) })
        : createAgent({ ...settings, tools: registries.flatMap((each) => toLangChainTools(each, ours)) });
      const config = { configurable: { thread_id: "1" }, ...withSignal(options) };
      const { __interrupt__ = [] }: { __interrupt__?: unknown[] } = await agent.invoke({ messages: prompt }, config);
      asked.push(...__interrupt__.map(() => "interrupt"));
    });

const openAIAgents: Loop = (registries, calls, options) =>
  overWire("responses", calls, async (url, asked) => {
    setTracingDisabled(true);
    const tools = registries.flatMap((each) => toOpenAIAgentsTools(each, { interrupt: options.asks ?? false }));
    const agent = new Agent({ name: "clerk", model: new OpenAIResponsesModel(openai(url) as never, model), tools });
    const [first] = registries;
    const ours = first && openAIAgentsRunOptions(first);
    const { interruptions } = await run(agent, prompt, { ...ours, ...withSignal(options) });
    asked.push(...interruptions.map(() => "interruption"));
  });

const anthropic: Loop = (registries, calls, options) => {
  const loop = (baseURL: string, asked: string[]): Promise<unknown> => {
    const tools = registries.flatMap((each) => toAnthropicTools(each, inPlace(options, asked)));
    const messages = [{ role: "user" as const, content: prompt }];
    return new Anthropic({ ...key, baseURL }).beta.messages
      .toolRunner({ model: "claude-haiku-5-5", max_tokens: 100, messages, tools }, withSignal(options))
      .runUntilDone();
  };
  // The input of a call is an object, which only the end of a reply cuts.
  return overWire("messages", calls, loop, calls.every(isWhole) ? {} : { stop: "max_tokens" });
};

const runTools: Loop = (registries, calls, options) =>
  overWire("chat", calls, (url, asked) => {
    const tools = registries.flatMap((each) => toOpenAITools(each, inPlace(options, asked)));
    const messages = [{ role: "user" as const, content: prompt }];
    const params = { model, reasoning_effort: "none" as const, messages, tools };
    return openai(url).chat.completions.runTools(params, withSignal(options)).finalContent();
  });

const responsesRunner: Loop = (registries, calls, options) =>
  overWire("responses", calls, (url, asked) => {
    const functions = registries.flatMap((each) => toOpenAIRunnerFunctions(each, inPlace(options, asked)));
    return new ResponsesToolRunner({ functions }).run(openai(url), { model, input: prompt }, withSignal(options));
  });

const responses: Loop = (registries, calls, options) =>
  overWire("responses", calls, async (url, asked) => {
    const registry = onlyOne(registries);
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: prompt }];
    for (;;) {
      const tools = toOpenAIResponsesTools(registry);
      const { output } = await openai(url).responses.create({ model, input, tools }, withSignal(options));
      const results = await runOpenAIResponsesCalls(registry, output, {
        ...inPlace(options, asked),
        ...withSignal(options),
      });
      if (results.length === 0) return;
      input.push(...(output as OpenAI.Responses.ResponseInputItem[]), ...results);
    }
  });

const gemini: Loop = async (registries, calls, options) => {
  const registry = onlyOne(registries);
  if (!calls.every(isWhole)) return undefined;
  const functionCalls = calls.map(
    ({ name, args }): FunctionCall => (args ? { name, args: JSON.parse(args) } : { name }),
  );
  const reply = (parts: unknown[]) => () => ({ candidates: [{ content: { role: "model", parts } }] });
  const made = functionCalls.map((functionCall) => ({ functionCall }));
  await using server = await serveScript<{ contents: { parts: unknown[] }[] }>([reply(made), reply([{ text: "end" }])]);
  const ai = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: server.url } });
  const { signal } = options;
  const config = { tools: [toGeminiTool(registry)], ...(signal && { abortSignal: signal }) };
  const chat = ai.chats.create({ model: "gemini", config });
  const first = await chat.sendMessage({ message: prompt });
  const asked: string[] = [];
  const ours = { ...inPlace(options, asked), ...withSignal(options) };
  await chat.sendMessage({ message: await runGeminiFunctionCalls(registry, first.functionCalls, ours) });
  const parts = server.requests[1]?.contents.at(-1)?.parts ?? [];
  return { results: parts.map((part) => JSON.stringify(part)), behind: "", asked };
};

/** The loops, by the heading of their column on the page. */
export const loops: Readonly<Record<string, Loop>> = {
  "AI SDK": aiSdk,
  "LangChain, middleware": langChain(true),
  "LangChain, tools": langChain(false),
  "OpenAI Agents": openAIAgents,
  "Anthropic runner": anthropic,
  "OpenAI `runTools`": runTools,
  "OpenAI `ResponsesToolRunner`": responsesRunner,
  "Responses, own loop": responses,
  "Gemini, own loop": gemini,
};
