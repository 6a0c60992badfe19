import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI } from "@google/genai";
import { interrupt, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIResponsesModel, run, setTracingDisabled } from "@openai/agents";
import type { Approve, ToolRegistry } from "@toolcrib/core";
import { answerWith, type WireFormat, WireServer } from "@toolcrib/testing";
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

/** The calls of a model's reply. */
export type Step = () => readonly WrittenCall[];

/** Read by a model that makes the calls of one step after the other, then says `end`. */
export interface Told {
  /** The results that it was given, as JSON, oldest first. */
  readonly results: readonly string[];
  /** The rest of its last request, behind the results. */
  readonly behind: string;
  /** The names of the tools of each request. */
  readonly shown: readonly (readonly string[])[];
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
  steps: readonly Step[],
  options: LoopOptions,
) => Promise<Told | undefined>;

const model = "gpt-6-luna";
const prompt = "go";
const key = { apiKey: "none", maxRetries: 0 };

/** Runs a loop against the service that speaks a wire, and reads the requests. */
async function overWire(
  format: WireFormat,
  steps: readonly Step[],
  loop: (url: string, asked: string[]) => PromiseLike<unknown>,
): Promise<Told> {
  const wire = await WireServer.start({ isLenient: true });
  try {
    for (const [number, step] of steps.entries()) {
      wire.script((request) => {
        const calls = step().map((call, at) => ({ ...call, id: `call_${number}_${at}` }));
        // The input of a call of the Messages API is an object, which only the end of a reply cuts.
        const isCut = format === "messages" && !calls.every(isWhole);
        return answerWith({ calls, ...(isCut && { stop: "max_tokens" }) })(request);
      });
    }
    wire.script(answerWith({ text: "end" }));
    const asked: string[] = [];
    await loop(format === "messages" ? wire.url : `${wire.url}/v1`, asked);
    const requests = wire.requests.map(({ body }) => readFrom([body.messages ?? body.input ?? []].flat()));
    const shown = wire.requests.map(({ body }) => [body.tools ?? []].flat().map((tool) => namesOf(tool)));
    // A request may leave out what the service has had.
    const results = new Set(requests.flatMap((request) => request.results));
    return { results: [...results], behind: requests.at(-1)?.behind ?? "", shown, asked };
  } finally {
    wire.takeProblems();
    await wire.close();
  }
}

const namesOf = (tool: unknown): string => Object(tool).name ?? Object(tool).function?.name;

/** Splits the items of a request into the results of calls and what stands behind them. */
function readFrom(items: readonly unknown[]): Pick<Told, "results" | "behind"> {
  const all = items.flatMap((item) => (Array.isArray(Object(item).content) ? [item, ...Object(item).content] : [item]));
  const isResult = (item: unknown): boolean =>
    Object(item).role === "tool" || /^(function_call_output|tool_result)$/.test(Object(item).type);
  const last = all.findLastIndex(isResult);
  return {
    results: all.filter(isResult).map((item) => JSON.stringify(item)),
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

const aiSdk: Loop = async (registries, steps, { signal, asks }) => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const mock = new MockLanguageModelV4({
    doGenerate: async () => {
      const number = mock.doGenerateCalls.length - 1;
      const calls = steps[number]?.().map(({ name, args }, at) => ({
        type: "tool-call" as const,
        toolCallId: `call_${number}_${at}`,
        toolName: name,
        input: args,
      }));
      const content = calls ?? [{ type: "text" as const, text: "end" }];
      return {
        content,
        finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  const tools = Object.assign({}, ...registries.map((registry) => toAiSdkTools(registry)));
  const { content } = await generateText({
    model: mock,
    prompt,
    tools: registries.length > 1 ? tools : toAiSdkTools(onlyOne(registries)),
    stopWhen: isStepCount(5),
    ...(registries[0] && asks && { toolApproval: aiSdkToolApproval(registries[0]) }),
    ...(signal && { abortSignal: signal }),
  });
  const asked = content.flatMap(({ type }) => (type === "tool-approval-request" ? [`\`${type}\``] : []));
  const requests = mock.doGenerateCalls;
  const results = (requests.length > 1 ? (requests.at(-1)?.prompt ?? []) : []).flatMap(({ role, content }) =>
    role === "tool" ? content.map((part) => JSON.stringify(part)) : [],
  );
  const shown = requests.map((request) => request.tools?.map(({ name }) => name) ?? []);
  return { results, behind: "", shown, asked };
};

const langChain =
  (isMiddleware: boolean): Loop =>
  (registries, steps, options) =>
    overWire("responses", steps, async (baseURL, asked) => {
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

const openAIAgents: Loop = (registries, steps, options) =>
  overWire("responses", steps, async (url, asked) => {
    setTracingDisabled(true);
    const tools = registries.flatMap((each) => toOpenAIAgentsTools(each, { interrupt: options.asks ?? false }));
    const agent = new Agent({ name: "clerk", model: new OpenAIResponsesModel(openai(url) as never, model), tools });
    const [first] = registries;
    const ours = first && openAIAgentsRunOptions(first);
    const { interruptions } = await run(agent, prompt, { ...ours, ...withSignal(options) });
    asked.push(...interruptions.map(() => "interruption"));
  });

const anthropic: Loop = (registries, steps, options) =>
  overWire("messages", steps, (baseURL, asked) => {
    const tools = registries.flatMap((each) => toAnthropicTools(each, inPlace(options, asked)));
    const messages = [{ role: "user" as const, content: prompt }];
    return new Anthropic({ ...key, baseURL }).beta.messages
      .toolRunner({ model: "claude-haiku-5-5", max_tokens: 100, messages, tools }, withSignal(options))
      .runUntilDone();
  });

const runTools: Loop = (registries, steps, options) =>
  overWire("chat", steps, (url, asked) => {
    const tools = registries.flatMap((each) => toOpenAITools(each, inPlace(options, asked)));
    const messages = [{ role: "user" as const, content: prompt }];
    const params = { model, reasoning_effort: "none" as const, messages, tools };
    return openai(url).chat.completions.runTools(params, withSignal(options)).finalContent();
  });

const responsesRunner: Loop = (registries, steps, options) =>
  overWire("responses", steps, (url, asked) => {
    const functions = registries.flatMap((each) => toOpenAIRunnerFunctions(each, inPlace(options, asked)));
    return new ResponsesToolRunner({ functions }).run(openai(url), { model, input: prompt }, withSignal(options));
  });

const responses: Loop = (registries, steps, options) =>
  overWire("responses", steps, async (url, asked) => {
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

const gemini: Loop = async (registries, steps, options) => {
  const registry = onlyOne(registries);
  let isCarried = true;
  const reply = (parts: unknown[]) => ({ candidates: [{ content: { role: "model", parts } }] });
  const replies = steps.map((step, number) => () => {
    const calls = step();
    isCarried &&= calls.every(isWhole);
    return reply(
      calls.map(({ name, args }, at) => {
        const id = `call_${number}_${at}`;
        return { functionCall: isCarried && args ? { id, name, args: JSON.parse(args) } : { id, name } };
      }),
    );
  });
  await using server = await serveScript<{ contents: { parts: unknown[] }[]; tools: FunctionDeclarations[] }>([
    ...replies,
    () => reply([{ text: "end" }]),
  ]);
  const ai = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: server.url } });
  const { signal } = options;
  const asked: string[] = [];
  const ours = { ...inPlace(options, asked), ...withSignal(options) };
  const contents: Content[] = [{ role: "user", parts: [{ text: prompt }] }];
  for (;;) {
    const config = { tools: [toGeminiTool(registry)], ...(signal && { abortSignal: signal }) };
    const { candidates, functionCalls } = await ai.models.generateContent({ model: "gemini", contents, config });
    const parts = await runGeminiFunctionCalls(registry, functionCalls, ours);
    if (!isCarried) return undefined;
    if (parts.length === 0) break;
    contents.push(candidates?.[0]?.content ?? {}, { role: "user", parts });
  }
  const parts = server.requests.at(-1)?.contents.flatMap((content) => content.parts) ?? [];
  const results = parts.filter((part) => "functionResponse" in Object(part)).map((part) => JSON.stringify(part));
  const shown = server.requests.map(({ tools }) =>
    tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
  );
  return { results, behind: "", shown, asked };
};

interface FunctionDeclarations {
  functionDeclarations: { name: string }[];
}

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
