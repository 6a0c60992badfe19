import { definitionFor } from "./definitions/definition.ts";
import type { ChatTool, JsonSchema, ToolTraits } from "./interface.ts";

/** The tool shape of OpenAI's Responses API. */
export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: JsonSchema;
  strict: boolean;
}

/** The tool shape of Anthropic's Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [keyword: string]: unknown };
  strict?: boolean;
}

/** The names of the traits in the Model Context Protocol. */
const hintNames = {
  readOnly: "readOnlyHint",
  destructive: "destructiveHint",
  idempotent: "idempotentHint",
  openWorld: "openWorldHint",
} as const;

export const traitNames: readonly (keyof typeof hintNames)[] = ["readOnly", "destructive", "idempotent", "openWorld"];

/** The tool shape of the Model Context Protocol, with its annotations. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: { type: "object"; [keyword: string]: unknown };
  annotations?: { [Hint in (typeof hintNames)[keyof typeof hintNames]]?: boolean };
}

/** Converts a tool for chat completions (OpenAI, OpenRouter, compatible servers), with `strict` always present. */
export function toOpenAIChatTool(tool: ChatTool): ChatTool {
  return { type: "function", function: { ...definitionFor(tool, "chat") } };
}

export function toOpenAIResponsesTool(tool: ChatTool): OpenAIResponsesTool {
  return { type: "function", ...definitionFor(tool, "responses") };
}

/** Converts a tool for Anthropic. `strict` is sent only if it is asked for, and if the schema is one that strict mode takes. */
export function toAnthropicTool(tool: ChatTool): AnthropicTool {
  const { name, description, parameters, strict } = definitionFor(tool, "messages");
  return { name, description, input_schema: { ...parameters, type: "object" }, ...(strict ? { strict } : {}) };
}

/** Traits travel as hints; one that the tool does not state is left out. `schemas.map(toMcpTool)` works too. */
export function toMcpTool(tool: ChatTool): McpTool;
export function toMcpTool(tool: ChatTool, traits: ToolTraits | undefined): McpTool;
export function toMcpTool({ function: { name, description, parameters } }: ChatTool, traits: ToolTraits = {}): McpTool {
  const stated = traitNames.flatMap((trait) =>
    traits[trait] === undefined ? [] : [[hintNames[trait], traits[trait]]],
  );
  const tool: McpTool = { name, description, inputSchema: { ...parameters, type: "object" } };
  return stated.length === 0 ? tool : { ...tool, annotations: Object.fromEntries(stated) };
}

/** Returns the hints of MCP as traits. A hint that is absent stays absent. */
export function fromMcpHints(annotations: Readonly<Record<string, unknown>>): ToolTraits {
  const hints = traitNames.map((trait) => [trait, annotations[hintNames[trait]]] as const);
  return Object.fromEntries(hints.filter(([, value]) => typeof value === "boolean"));
}
