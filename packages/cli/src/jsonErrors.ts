import { isAgentError } from "@toolcrib/agent";
import { withoutControls } from "@toolcrib/core/text";
import { explain, messageOf } from "./explain.ts";

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
