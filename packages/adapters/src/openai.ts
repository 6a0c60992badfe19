import { toOpenAIChatTool, toOpenAIResponsesTool } from "@toolcrib/core";
import { tooManyTools } from "@toolcrib/core/internal";
import type { RunnerFunction } from "openai/helpers/responses-tool-runner";
import type { RunnableToolFunctionWithoutParse } from "openai/lib/RunnableFunction";
import type { ChatCompletionContentPart, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { FunctionTool, ResponseInputItem, ResponseOutputItem } from "openai/resources/responses/responses";
import {
  type AdapterOptions,
  callTool,
  dataUrl,
  enabledSchemas,
  imagesHeading,
  parseArguments,
  type RunOptions,
  type ToolAnswer,
  type ToolSource,
} from "./registryCall.ts";

/**
 * Returns the enabled tools for `client.chat.completions.runTools({ tools })`. Tool messages of chat completions are only text: a failure
 * is its text, and images stand in a user message behind the results. The runner keeps the list that it was given; a call to a
 * tool that was disabled since is refused.
 */
export function toOpenAITools(registry: ToolSource, options: AdapterOptions = {}): RunnableToolFunctionWithoutParse[] {
  const schemas = enabledSchemas(registry);
  const problem = tooManyTools(schemas.length);
  if (problem !== undefined) throw new RangeError(problem);
  return schemas.map((schema) => {
    const tool = toOpenAIChatTool(schema);
    const { name } = tool.function;
    const run = async (args: string, runner: Runner): Promise<string> => {
      const { signal } = runner.controller;
      const answer = await callTool(registry, name, parseArguments(args), { ...options, signal });
      if (answer.images.length > 0) showImages(runner, name, answer);
      return answer.text;
    };
    return { ...tool, function: { ...tool.function, function: run } };
  });
}

/** The members that are used of the SDK's two runners. */
interface Runner {
  readonly controller: AbortController;
  readonly messages: ChatCompletionMessageParam[];
  on(event: "message", listener: () => void): unknown;
  off(event: "message", listener: () => void): unknown;
}

/** The images that a runner shows once it has the results of all calls of the reply. */
const waiting = new WeakMap<Runner, ChatCompletionContentPart[]>();

function showImages(runner: Runner, name: string, { images }: ToolAnswer): void {
  const parts: ChatCompletionContentPart[] = [
    { type: "text", text: imagesHeading(name) },
    ...images.map((image) => ({ type: "image_url" as const, image_url: { url: dataUrl(image) } })),
  ];
  const earlier = waiting.get(runner);
  if (earlier) return void earlier.push(...parts);
  waiting.set(runner, parts);
  const { messages } = runner;
  const show = (): void => {
    const reply = messages.findLastIndex(({ role }) => role === "assistant");
    const calls = messages[reply]?.role === "assistant" ? messages[reply].tool_calls : [];
    const results = messages.slice(reply + 1).filter(({ role }) => role === "tool");
    if (results.length < (calls ?? []).filter(({ type }) => type === "function").length) return;
    runner.off("message", show);
    waiting.delete(runner);
    messages.push({ role: "user", content: parts });
  };
  runner.on("message", show);
}

/**
 * Returns the enabled tools for `new ResponsesToolRunner({ functions })`. That runner ends the run where a call has an unknown name or
 * broken arguments; a loop with `runOpenAIResponsesCalls` answers those too.
 */
export function toOpenAIRunnerFunctions(registry: ToolSource, options: AdapterOptions = {}): RunnerFunction[] {
  return enabledSchemas(registry).map((schema) => ({
    tool: toOpenAIResponsesTool(schema),
    execute: async (args, { signal } = { signal: undefined }) =>
      toOutput(await callTool(registry, schema.function.name, args, { ...options, signal })),
  }));
}

/**
 * Returns the enabled tools for `client.responses.create({ tools })`. Call it before each request, so that the list follows the
 * registry.
 */
export function toOpenAIResponsesTools(registry: ToolSource): FunctionTool[] {
  return enabledSchemas(registry).map(toOpenAIResponsesTool);
}

/**
 * Runs the function calls in the output of a response one after the other and returns the items to send next; `[]` when there
 * are no calls. Other items are skipped.
 */
export async function runOpenAIResponsesCalls(
  registry: ToolSource,
  output: readonly ResponseOutputItem[],
  options: RunOptions = {},
): Promise<ResponseInputItem.FunctionCallOutput[]> {
  const results: ResponseInputItem.FunctionCallOutput[] = [];
  for (const item of output) {
    if (item.type !== "function_call") continue;
    const callId = item.call_id;
    const answer = await callTool(registry, item.name, parseArguments(item.arguments), { ...options, callId });
    results.push({ type: "function_call_output", call_id: callId, output: toOutput(answer) });
  }
  return results;
}

function toOutput({ text, images }: ToolAnswer): ResponseInputItem.FunctionCallOutput["output"] {
  if (images.length === 0) return text;
  const pictures = images.map((image) => ({ type: "input_image" as const, image_url: dataUrl(image) }));
  return [{ type: "input_text", text }, ...pictures];
}
