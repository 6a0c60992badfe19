import { inspect } from "node:util";
import { isAgentError } from "@toolcrib/agent";
import { isToolError } from "@toolcrib/core";
import { withoutControls } from "@toolcrib/core/text";
import { CliError, type Ending } from "./endings.ts";
import { inFlags } from "./inFlags.ts";
import { waysToConnect } from "./model/waysToConnect.ts";

/** What to tell of an error, and how the program ends by it. */
export interface Explanation {
  readonly ending: Ending;
  readonly message: string;
}

/** Never a stack trace: that is for `TOOLCRIB_DEBUG=1`. */
export function explain(error: unknown): Explanation {
  const plain = withoutControls(messageOf(error));
  if (error instanceof CliError) return { ending: error.ending, message: plain };
  if (isAgentError(error)) {
    const message = inFlags(plain);
    switch (error.code) {
      case "aborted":
        return { ending: "interrupted", message: "Interrupted." };
      case "bad_session":
      case "invalid_option":
        return { ending: "usage", message };
      case "busy":
        return { ending: "failed", message };
      case "ended":
        return { ending: "limit", message };
      case "not_understood":
        return { ending: "provider", message: `${message}\n${threeWaysOn}` };
      default:
        return { ending: "provider", message };
    }
  }
  if (isToolError(error)) return { ending: error.code === "permission_denied" ? "denied" : "failed", message: plain };
  return { ending: "failed", message: plain };
}

/** The whole error with its stack. */
export function traceOf(error: unknown): string {
  return withoutControls(inspect(error));
}

/** By its shape: an error of another realm (a worker's, a test runner's) is no `instanceof Error` here. */
export function messageOf(error: unknown): string {
  const { message, name } = Object(error) as { message?: unknown; name?: unknown };
  for (const text of [message, name]) if (typeof text === "string" && text !== "") return text;
  return String(error);
}

const threeWaysOn =
  `Three ways on:\n${waysToConnect.map((way, index) => `  ${index + 1}. ${way}\n`).join("")}`.trimEnd();
