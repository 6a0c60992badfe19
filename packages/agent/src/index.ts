export { Agent } from "./agent.ts";
export { chatObject } from "./chatObject.ts";
export type { Answers } from "./conversation/history.ts";
export type { Answer, WaitingCall } from "./conversation/waiting.ts";
export {
  AgentError,
  type AgentErrorCode,
  type AgentErrorOptions,
  isAgentError,
} from "./errors.ts";
export { fallbackProvider } from "./fallback.ts";
export type {
  AdvisedOption,
  AgentEvent,
  AssistantMessage,
  EndReason,
  ImageBlock,
  Message,
  OpaqueData,
  PendingCall,
  ReasoningBlock,
  Remedy,
  StopReason,
  TextBlock,
  ToolCallBlock,
  ToolMessage,
  Usage,
  UserMessage,
} from "./messages.ts";
export { createObjectAnswer, type ObjectAnswer } from "./objectAnswer.ts";
export type { AgentOptions, ApproveOptions, ChatOptions, UserContent } from "./options.ts";
export type { ModelRequest, Provider, ProviderEvent, ToolChoice } from "./provider.ts";
export { defaultModels, type ModelPrice, modelPrices, modelsCheckedOn } from "./providers/shared/models.ts";
export { listSessions, newSessionFile, type SessionSummary } from "./session/listSessions.ts";
export type { JournalLine, Session } from "./session/session.ts";
export { createSaveSessionContextTool, type SessionToolContext } from "./session/sessionContext.ts";
export type { Compacted } from "./turn/compact.ts";
export { type CostLimit, createCostLimit } from "./turn/costLimit.ts";
export type { LoopLimits } from "./turn/loopState.ts";
export type { StepRunner } from "./turn/recordedSteps.ts";
export type { CompactionOptions } from "./turn/shrinkMessages.ts";
export { anyOf, calledTool, type StepState, type StopCondition, usedTokens } from "./turn/stopConditions.ts";
