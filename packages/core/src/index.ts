export { type ArgumentsOf, defineTool, type ObjectSchema, type ToolDefinition } from "./defineTool.ts";
export { type AnyToolError, isToolError, ToolError, type ToolErrorCode, type ToolErrorDetails } from "./errors.ts";
export type {
  ChatTool,
  ContentBlock,
  ExecutableTool,
  ExecuteOptions,
  JsonSchema,
  Middleware,
  ParseResult,
  TimeLimit,
  ToolCall,
  ToolCallInfo,
  ToolLabels,
  ToolListing,
  ToolOutcome,
  ToolProgress,
  ToolTraits,
} from "./interface.ts";
export type { ToolContext } from "./types.ts";
