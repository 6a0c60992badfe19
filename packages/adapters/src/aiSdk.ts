import type { ChatTool } from "@toolcrib/core";
import { jsonSchema, type ToolSet } from "ai";
import type { ModelOutput } from "./fromAiSdkTool.ts";
import { type AdapterOptions, callTool, everySchema, type ImageBlock, type ToolSource } from "./registryCall.ts";

export { fromAiSdkTool } from "./fromAiSdkTool.ts";

/** The result of a tool in the AI SDK: the text, with its images if there are any. */
export type AiSdkOutput = string | { text: string; images: readonly ImageBlock[] };

/**
 * The tools of a registry for `generateText`, `streamText` and agents. The object is live: before each step it lists the tools
 * that are enabled then, and a call to a disabled tool is still answered. A copy (`{ ...tools }`) keeps the list as it was. A
 * failure is a `tool-error` part.
 */
export function toAiSdkTools(registry: ToolSource, options: AdapterOptions = {}): ToolSet {
  const find = (name: string | symbol): ToolSet[string] | undefined => {
    const isNamed = (tool: ChatTool): boolean => tool.function.name === name;
    const schema = registry.getEnabledSchemas().find(isNamed) ?? everySchema(registry).find(isNamed);
    return schema && toAiSdkTool(registry, schema, options);
  };
  return new Proxy<ToolSet>(
    {},
    {
      ownKeys: () => registry.getEnabledSchemas().map((tool) => tool.function.name),
      has: (_target, name) => registry.hasTool(String(name)),
      get: (_target, name) => find(name),
      getOwnPropertyDescriptor: (_target, name) => {
        const value = find(name);
        return value && { value, enumerable: true, configurable: true };
      },
      defineProperty: () => false,
    },
  );
}

/** The model reads `toString()` of an error: here only the line of the registry. `cause` is the ToolError. */
class FailedCall extends Error {
  override toString(): string {
    return this.message;
  }
}

function toAiSdkTool(
  registry: ToolSource,
  { function: { name, description, parameters, strict } }: ChatTool,
  options: AdapterOptions,
): ToolSet[string] {
  return {
    type: "dynamic",
    description,
    inputSchema: jsonSchema(parameters),
    ...(strict ? { strict } : {}),
    execute: async (input: unknown, call): Promise<AiSdkOutput> => {
      const { abortSignal: signal, toolCallId: callId } = call;
      const { text, images, error } = await callTool(registry, name, input, { ...options, signal, callId });
      if (error) throw new FailedCall(text, { cause: error });
      return images.length === 0 ? text : { text, images };
    },
    toModelOutput: ({ output }: { output: AiSdkOutput }) => toModelOutput(output),
  };
}

function toModelOutput(output: AiSdkOutput): ModelOutput {
  if (typeof output === "string") return { type: "text", value: output };
  const images = output.images.map(({ data, mimeType }) => ({
    type: "file" as const,
    data: { type: "data" as const, data },
    mediaType: mimeType,
  }));
  return { type: "content", value: [{ type: "text", text: output.text }, ...images] };
}
