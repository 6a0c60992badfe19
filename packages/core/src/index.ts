export { validateJson } from "./arguments/validateJson.ts";
export type { RecordedCall, RunStep, StepStart } from "./callStep.ts";
export { type ArgumentsOf, defineTool, type ParametersSchema, type ToolDefinition } from "./defineTool.ts";
export {
  type ApprovalQuestion,
  type DenialDetails,
  invalidArgument,
  isToolError,
  ToolError,
  type ToolErrorCode,
  type ToolErrorDetails,
  type WithinQuestion,
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
  ApprovalAnswer,
  Approve,
  CallLog,
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
  TimeLimit,
  ToolCall,
  ToolCallerKind,
  ToolCallInfo,
  ToolEffect,
  ToolLabels,
  ToolListing,
  ToolOutcome,
  ToolProgress,
  ToolTraits,
} from "./interface.ts";
export { limitOutput } from "./registry/middleware.ts";
export { renderOutcome, type ToolOutput, toolOutput } from "./registry/outcome.ts";
export { ToolRegistry } from "./registry/registry.ts";
export { toolFingerprint } from "./registry/toolFingerprint.ts";
export { createToolSearch } from "./registry/toolSearch.ts";
export type { ToolContext } from "./types.ts";
