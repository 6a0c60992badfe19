import { type ToolCall, ToolMessage } from "@langchain/core/messages";
import type { ToolRunnableConfig } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { type ContentBlock, type ExecutableTool, type JsonSchema, toolOutput } from "@toolcrib/core";

/** The members that are used of a LangChain tool; narrower than its own interface, so that no schema type is expanded. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  /** A zod schema or a JSON Schema. */
  readonly schema: unknown;
  invoke(toolCall: ToolCall, config?: ToolRunnableConfig): Promise<unknown>;
}

/**
 * Returns a LangChain tool (`tool(…)`, a StructuredTool) as a tool for a registry. The schema of LangChain checks the arguments after
 * that of the registry. A ToolMessage with status `error` is a failure, and so is a `Command`, which only LangGraph can run.
 * `returnDirect` and artifacts are not carried over.
 */
export function fromLangChainTool(tool: LangChainTool): ExecutableTool {
  const { name, description } = tool;
  const parameters = toJsonSchema(tool.schema as Parameters<typeof toJsonSchema>[0]) as JsonSchema;
  return {
    name,
    origin: "langchain",
    getSchema: () => ({ type: "function", function: { name, description, parameters, strict: false } }),
    execute: async (args, call) => {
      const toolCall = { type: "tool_call" as const, id: call?.callId ?? name, name, args };
      const result = await tool.invoke(toolCall, call?.signal ? { signal: call.signal } : {});
      if (!ToolMessage.isInstance(result))
        throw new Error("the tool answered with a Command, which only LangGraph can run");
      if (result.status === "error") throw new Error(result.text);
      if (typeof result.content === "string") return result.content;
      return toolOutput(result.text, { content: (result.content as readonly Block[]).flatMap(toBlock) });
    },
  };
}

interface Block {
  type?: string;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
  mime_type?: unknown;
  image_url?: string | { url: string };
}

/** Converts text, and images given as base64. Drops other blocks. */
function toBlock(block: Block): ContentBlock[] {
  if (block.type === "text" && typeof block.text === "string") return [{ type: "text", text: block.text }];
  const mimeType = block.mimeType ?? block.mime_type;
  if (block.type === "image" && typeof block.data === "string" && typeof mimeType === "string") {
    return [{ type: "image", data: block.data, mimeType }];
  }
  const url = typeof block.image_url === "object" ? block.image_url.url : block.image_url;
  const [, type, data] = /^data:(image\/[\w.+-]+);base64,(.*)$/s.exec(url ?? "") ?? [];
  return type !== undefined && data !== undefined ? [{ type: "image", data, mimeType: type }] : [];
}
