import { toOpenAIChatTool, toOpenAIResponsesTool } from "@toolcrib/core";
import type { RunnableToolFunctionWithoutParse } from "openai/lib/RunnableFunction";
import type { FunctionTool, ResponseInputItem, ResponseOutputItem } from "openai/resources/responses/responses";
import {
  type AdapterOptions,
  callTool,
  parseArguments,
  type RunOptions,
  type ToolAnswer,
  type ToolSource,
} from "./registryCall.ts";

/**
 * Returns the enabled tools for `client.chat.completions.runTools({ tools })`. A failure is its text, because tool messages of chat
 * completions cannot be marked as errors. The runner keeps the list that it was given; a call to a tool that was disabled since
 * is refused.
 */
export function toOpenAITools(registry: ToolSource, options: AdapterOptions = {}): RunnableToolFunctionWithoutParse[] {
  return registry.getEnabledSchemas().map((schema) => {
    const tool = toOpenAIChatTool(schema);
    const run = async (args: string, runner: { controller: AbortController }): Promise<string> => {
      const { signal } = runner.controller;
      return (await callTool(registry, tool.function.name, parseArguments(args), { ...options, signal })).text;
    };
    return { ...tool, function: { ...tool.function, function: run } };
  });
}

/**
 * Returns the enabled tools for `client.responses.create({ tools })`. Call it before each request, so that the list follows the
 * registry.
 */
export function toOpenAIResponsesTools(registry: ToolSource): FunctionTool[] {
  return registry.getEnabledSchemas().map(toOpenAIResponsesTool);
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
  return [
    { type: "input_text", text },
    ...images.map(({ data, mimeType }) => ({
      type: "input_image" as const,
      image_url: `data:${mimeType};base64,${data}`,
    })),
  ];
}
