export { sessionId } from "./session/listSessions.ts";
export { createSaveSessionContextTool, type SessionToolContext } from "./session/sessionContext.ts";
export { isJournal, SessionFolder } from "./session/sessionFolder.ts";
