export { createSaveSessionContextTool, type SessionToolContext } from "./session/sessionContext.ts";
export { isJournal, type PrunedSessions, SessionFolder, type SessionLimits } from "./session/sessionFolder.ts";
