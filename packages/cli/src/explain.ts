import { inspect } from "node:util";
import { type AdvisedOption, type AgentErrorCode, isAgentError } from "@toolcrib/agent";
import { isToolError } from "@toolcrib/core";
import { isMarked } from "@toolcrib/core/internal";
import { messageOf as messageOfAny, withoutControls } from "@toolcrib/core/text";
import type { AnyMcpError } from "@toolcrib/mcp";
import { CliError, type ExitReason } from "./exitReasons.ts";
import { shortConnectionAdvice } from "./sharedFlags.ts";

const agentReasons: Partial<Record<AgentErrorCode, ExitReason>> = {
  aborted: "interrupted",
  bad_session: "usage",
  invalid_option: "usage",
  busy: "failed",
  ended: "limit",
};

const agentWords: Partial<Record<AgentErrorCode, string>> = {
  aborted: "Interrupted.",
  not_understood: `The offline stand-in is not a language model and does not understand this request. toolcrib run help, or help in a chat, lists what it does. To connect a model:\n${shortConnectionAdvice}`,
};

/** Explains an error without its stack trace, which is for `TOOLCRIB_DEBUG=1`. */
export function explain(error: unknown): { readonly exitReason: ExitReason; readonly message: string } {
  const message = withoutControls(messageOf(error));
  if (error instanceof CliError) return { exitReason: error.exitReason, message };
  if (isAgentError(error))
    return { exitReason: agentReasons[error.code] ?? "provider", message: agentWords[error.code] ?? message };
  // By its mark: a run without servers need not load their package.
  if (isMarked(error, "McpError")) {
    const isUsage = ["bad_config_file", "invalid_config", "unknown_server"].includes((error as AnyMcpError).code);
    return { exitReason: isUsage ? "usage" : "failed", message };
  }
  if (isToolError(error)) return { exitReason: error.code === "permission_denied" ? "denied" : "failed", message };
  return { exitReason: "failed", message };
}

export function traceOf(error: unknown): string {
  return withoutControls(inspect(error));
}

/** Returns the message of an error, with flags in place of options; its name where it has none. */
export function messageOf(error: unknown): string {
  if (isAgentError(error) && error.remedy) {
    const { problem, advice } = error.remedy;
    const flagFor = ({ option, variable = "the key" }: AdvisedOption): string =>
      ({ apiKey: variable, baseURL: "--base-url", model: "-m", reasoning: "--reasoning" })[option];
    const words = advice.map((part) => (typeof part === "string" ? part : flagFor(part))).join("");
    return [problem, words].filter(Boolean).join(" ");
  }
  return messageOfAny(error) || String(error);
}

/** The version of what `events.schema.json` describes. */
export const formatVersion = 1;

const printed = new WeakSet<object>();

/** Writes an error as the last line of output in JSON. After that it counts as printed. */
export function jsonError(error: unknown, about: object = {}): string {
  if (typeof error === "object" && error !== null) printed.add(error);
  const code = isAgentError(error) && error.code !== "invalid_option" ? error.code : explain(error).exitReason;
  const shown = { code, message: withoutControls(messageOf(error)) };
  return `${JSON.stringify({ type: "error", formatVersion, ok: false, error: shown, ...about })}\n`;
}

/**
 * Returns whether an error that ends the command has yet to be printed as JSON. Read from the words of the command line: an error may come
 * before any flag is known.
 */
export function lacksJson(error: unknown, args: readonly string[]): boolean {
  if (printed.has(Object(error))) return false;
  const flags = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  return flags.some((flag, index) => {
    if (flag === "--json") return true;
    const [name, value = flags[index + 1] ?? ""] = flag.split("=");
    return name === "--output-format" && /^(?:stream-)?json$/.test(value);
  });
}
