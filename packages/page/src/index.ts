export type { PageHandler } from "./handle.ts";
export { PageSessions } from "./pageSessions.ts";
export {
  type AgentSession,
  type DurableSession,
  openAgent,
  type PageOptions,
  type PageSession,
  type RememberingPolicy,
  type RunsByShape,
} from "./sessions.ts";
