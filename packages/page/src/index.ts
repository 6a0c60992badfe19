export { PageError } from "./errors.ts";
export {
  type AgentSession,
  type DurableSession,
  openAgent,
  type PageOptions,
  type PageSession,
  type RememberingPolicy,
  type RunsByShape,
} from "./sessions.ts";
