export { type JsonIssue, validateJson } from "./arguments/validateJson.ts";
export {
  type ArgumentsOf,
  defineTool,
  type ObjectSchema,
  type ParametersSchema,
  type ToolDefinition,
} from "./defineTool.ts";
export {
  type AnyToolError,
  type ApprovalQuestion,
  type InvalidArgumentOptions,
  invalidArgument,
  isToolError,
  ToolError,
  type ToolErrorCode,
  type ToolErrorDetails,
  type ToolErrorOptions,
} from "./errors.ts";
export {
  type AnthropicTool,
  fromMcpHints,
  type McpTool,
  type OpenAIResponsesTool,
  toAnthropicTool,
  toMcpTool,
  toOpenAIChatTool,
  toOpenAIResponsesTool,
} from "./formats.ts";
export type {
  AnyToolRegistry,
  Approve,
  ChatTool,
  CheckResult,
  ContentBlock,
  ExecutableTool,
  ExecuteOptions,
  Guard,
  GuardDecision,
  GuardedCall,
  JsonSchema,
  Middleware,
  ParseResult,
  TimeLimit,
  ToolCall,
  ToolCallInfo,
  ToolEffect,
  ToolLabels,
  ToolListing,
  ToolOutcome,
  ToolProgress,
  ToolTraits,
} from "./interface.ts";
export { canonicalJson, isPlainObject } from "./json.ts";
export {
  freeName,
  isLegalName,
  nearestName,
  originIn,
  originWithin,
  serverPrefix,
  withLegalCharacters,
} from "./names.ts";
export { checkOptions, type KnownOptions } from "./options.ts";
export { longestDelayMs } from "./registry/deadline.ts";
export { limitOutput } from "./registry/middleware.ts";
export { renderOutcome, type ToolOutput, toolOutput } from "./registry/outcome.ts";
export { ToolRegistry } from "./registry/registry.ts";
export { toolFingerprint } from "./registry/toolFingerprint.ts";
export { createToolSearch } from "./registry/toolSearch.ts";
export type { ToolContext } from "./types.ts";
