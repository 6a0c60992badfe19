import { type ContentBlock, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import type { ChatTool, JsonSchema } from "@toolcrib/core";
import type { AgentMiddleware } from "langchain";
import { type AdapterOptions, callTool, everySchema, type ToolAnswer, type ToolSource } from "./registryCall.ts";

export { fromLangChainTool } from "./fromLangChainTool.ts";

type Arguments = Record<string, unknown>;

/** A tool of a registry as LangChain sees it; `schema` is a JSON Schema. */
export type LangChainRegistryTool = DynamicStructuredTool<JsonSchema, Arguments, Arguments>;

/**
 * The enabled tools for `createAgent({ tools })`, `model.bindTools` or a `ToolNode`. A failure is a ToolMessage with status
 * `error`, or an error thrown when the tool is invoked without a tool call. The list does not change later; a call to a tool
 * that was disabled since is refused.
 */
export function toLangChainTools(registry: ToolSource, options: AdapterOptions = {}): LangChainRegistryTool[] {
  return registry.getEnabledSchemas().map((schema) => toLangChainTool(registry, schema, options));
}

/**
 * Middleware for `createAgent({ middleware })` with the tools of a registry. Before each request it shows the model those that
 * are enabled. Use it instead of `toLangChainTools`.
 */
export function registryMiddleware(registry: ToolSource, options: AdapterOptions = {}): AgentMiddleware {
  const tools = everySchema(registry).map((schema) => toLangChainTool(registry, schema, options));
  const disabled = (): Set<unknown> => new Set(tools.filter((tool) => !registry.isToolEnabled(tool.name)));
  return {
    name: "toolcrib",
    tools,
    wrapModelCall: (request, handler) => {
      const hidden = disabled();
      return handler({ ...request, tools: request.tools.filter((tool) => !hidden.has(tool)) });
    },
  };
}

function toLangChainTool(
  registry: ToolSource,
  { function: { name, description, parameters } }: ChatTool,
  options: AdapterOptions,
): LangChainRegistryTool {
  const func = async (args: Arguments, _manager: unknown, config: ToolRunnableConfig = {}): Promise<unknown> => {
    const { signal, toolCall } = config;
    const answer = await callTool(registry, name, args, { ...options, signal, callId: toolCall?.id });
    if (!answer.error) return toContent(answer);
    if (toolCall?.id === undefined) throw new Error(answer.text, { cause: answer.error });
    return new ToolMessage({ status: "error", content: toContent(answer), tool_call_id: toolCall.id, name });
  };
  // LangChain would check arguments against the schema that it shows, and so refuse what the registry would repair.
  const unchecked = new DynamicStructuredTool({ name, description, schema: { type: "object" }, func });
  const shown: LangChainRegistryTool = new DynamicStructuredTool({ name, description, schema: parameters, func });
  shown.call = unchecked.call.bind(unchecked) as typeof shown.call;
  return shown;
}

function toContent({ text, images }: ToolAnswer): string | ContentBlock[] {
  if (images.length === 0) return text;
  const pictures = images.map(({ data, mimeType }) => ({
    type: "image_url",
    image_url: { url: `data:${mimeType};base64,${data}` },
  }));
  return [{ type: "text", text }, ...pictures];
}
