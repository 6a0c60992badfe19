import { inspect } from "node:util";
import { type AdvisedOption, isAgentError } from "@toolcrib/agent";
import { isToolError } from "@toolcrib/core";
import { messageOf as messageOfAny, withoutControls } from "@toolcrib/core/text";
import { isMcpError } from "@toolcrib/mcp/config";
import { CliError, type ExitReason } from "./exitReasons.ts";
import { linesToConnect } from "./model/waysToConnect.ts";

/** What the user is told about an error, and how the program ends. */
interface Explanation {
  readonly exitReason: ExitReason;
  readonly message: string;
}

/** Never a stack trace: that is for `TOOLCRIB_DEBUG=1`. */
export function explain(error: unknown): Explanation {
  const message = withoutControls(messageOf(error));
  if (error instanceof CliError) return { exitReason: error.exitReason, message };
  if (isAgentError(error)) {
    switch (error.code) {
      case "aborted":
        return { exitReason: "interrupted", message: "Interrupted." };
      case "bad_session":
      case "invalid_option":
        return { exitReason: "usage", message };
      case "busy":
        return { exitReason: "failed", message };
      case "ended":
        return { exitReason: "limit", message };
      case "not_understood":
        return {
          exitReason: "provider",
          message: `The offline stand-in is no language model and does not understand this. To connect a model:\n${linesToConnect}`,
        };
      default:
        return { exitReason: "provider", message };
    }
  }
  if (isMcpError(error)) {
    const isUsage = ["bad_config_file", "invalid_config", "unknown_server"].includes(error.code);
    return { exitReason: isUsage ? "usage" : "failed", message };
  }
  if (isToolError(error)) return { exitReason: error.code === "permission_denied" ? "denied" : "failed", message };
  return { exitReason: "failed", message };
}

/** Returns the whole error with its stack. */
export function traceOf(error: unknown): string {
  return withoutControls(inspect(error));
}

/** Returns the message of an error, with flags in place of options; its name where it has none. */
export function messageOf(error: unknown): string {
  if (isAgentError(error) && error.remedy) {
    const { problem, advice } = error.remedy;
    const words = advice.map((part) => (typeof part === "string" ? part : flagFor(part))).join("");
    return [problem, words].filter(Boolean).join(" ");
  }
  return messageOfAny(error) || String(error);
}

function flagFor({ option, variable = "the key" }: AdvisedOption): string {
  return { apiKey: variable, baseURL: "--base-url", model: "-m", reasoning: "--reasoning" }[option];
}
