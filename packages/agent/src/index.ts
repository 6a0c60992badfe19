export { Agent } from "./agent.ts";
export { chatObject } from "./chatObject.ts";
export type { CompactionOptions } from "./compaction.ts";
export { AgentError, type AgentErrorCode, type AgentErrorOptions, isAgentError } from "./errors.ts";
export { fallbackProvider } from "./fallback.ts";
export type { ChatOptions, UserContent } from "./loop.ts";
export type { LoopLimits } from "./loopState.ts";
export type { Compacted } from "./makeRoom.ts";
export type {
  AgentEvent,
  AssistantMessage,
  EndReason,
  ImageBlock,
  Message,
  OpaqueData,
  ReasoningBlock,
  StopReason,
  TextBlock,
  ToolCallBlock,
  ToolMessage,
  Usage,
  UserMessage,
} from "./messages.ts";
export type { AgentOptions } from "./options.ts";
export type { ModelRequest, Provider, ProviderEvent, ToolChoice } from "./provider.ts";
export { defaultModels, type ModelPrice, modelPrices, modelsCheckedOn } from "./providers/models.ts";
export type { JournalLine, Session } from "./session.ts";
export { createSaveSessionContextTool, type SessionToolContext } from "./sessionContext.ts";
export { listSessions, newSessionFile, type SessionSummary } from "./sessions.ts";
export { anyOf, calledTool, type StepState, type StopCondition, usedTokens } from "./stopConditions.ts";
