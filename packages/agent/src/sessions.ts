export { isJournal, type PrunedSessions, SessionFolder, type SessionLimits } from "./session/sessionFolder.ts";
