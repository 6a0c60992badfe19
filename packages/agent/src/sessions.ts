export { sessionId } from "./session/listSessions.ts";
export { createSaveSessionContextTool } from "./session/sessionContext.ts";
export { isJournal, SessionFolder } from "./session/sessionFolder.ts";
