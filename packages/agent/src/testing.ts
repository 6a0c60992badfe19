export { assertConversation, conversationProblems } from "./conversation/checkConversation.ts";
export { type ProviderUnderTest, providerChecks, testProvider } from "./testing/providerChecks.ts";
export { recordProvider, replayProvider } from "./testing/recordedProvider.ts";
export { ScriptedProvider, type ScriptedReply } from "./testing/scriptedProvider.ts";
