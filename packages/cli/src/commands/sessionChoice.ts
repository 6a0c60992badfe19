import type { SessionSummary } from "@toolcrib/agent";
import { describeSession, isRun } from "../state/sessionFile.ts";
import type { Choice } from "../terminal/ask.ts";

/** Makes a session one of several to choose from. */
export function sessionChoice(session: SessionSummary, text: string = describeSession(session)): Choice {
  return { text, group: isRun(session.name) ? "Begun by toolcrib run" : undefined };
}
