export { assertConversation, conversationProblems } from "./checkConversation.ts";
export { type DeclareTest, type ProviderUnderTest, providerChecks, testProvider } from "./providerChecks.ts";
export { recordProvider, replayProvider } from "./recordedProvider.ts";
export { type ScriptedParts, ScriptedProvider, type ScriptedReply } from "./scriptedProvider.ts";
