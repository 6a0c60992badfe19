export { Agent } from "./agent.ts";
export { type AgentToolOptions, createAgentTool } from "./agentTool.ts";
export { createAskUserTool } from "./askUser.ts";
export { chatObject, createObjectAnswer, type ObjectAnswer } from "./chatObject.ts";
export type { Answers } from "./conversation/state.ts";
export { type Answer, isAnswer } from "./conversation/waiting.ts";
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
  PendingCall,
  ReasoningBlock,
  StopReason,
  TextBlock,
  ToolCallBlock,
  ToolMessage,
  Usage,
  UserMessage,
} from "./messages.ts";
export type { AgentOptions, ChatOptions, UserContent } from "./options.ts";
export type { ModelRequest, Provider, ProviderEvent, ToolChoice } from "./provider.ts";
export type { ModelPrice } from "./providers/models/modelRules.ts";
export { defaultModels } from "./providers/models/models.ts";
export { listSessions, newSessionFile, type SessionSummary } from "./session/listSessions.ts";
export type { Session } from "./session/session.ts";
export { createSaveSessionContextTool, type SessionToolContext } from "./session/sessionContext.ts";
export type { Compacted } from "./turn/compact.ts";
export { type CostLimit, createCostLimit } from "./turn/costLimit.ts";
export type { StepRunner } from "./turn/steps.ts";
export { anyOf, calledTool, type StopCondition, usedTokens } from "./turn/stopConditions.ts";
