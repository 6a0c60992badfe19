export { createSaveSessionContextTool, type SessionToolContext } from "./session/sessionContext.ts";
export { isJournal, SessionFolder } from "./session/sessionFolder.ts";
