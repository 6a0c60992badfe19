export { assertConversation } from "./conversation/checkConversation.ts";
export { testProvider } from "./testing/providerChecks.ts";
export { recordProvider, replayProvider } from "./testing/recordedProvider.ts";
export { ScriptedProvider, type ScriptedReply } from "./testing/scriptedProvider.ts";
