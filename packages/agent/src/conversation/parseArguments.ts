import { isObject, messageOf } from "@toolcrib/core/text";
import type { ToolCallBlock } from "../messages.ts";

const longestQuote = 200;

/** The text in `malformed` for a call whose arguments the end of the reply cut off. */
export const cutOff = "cut off";

/** Returns the arguments in the text, or object, that a model sent; `{}` for none. `malformed`: why it is no JSON object. */
export function parseArguments(sent: unknown): Pick<ToolCallBlock, "args" | "malformed"> {
  if (sent === undefined || sent === null) return { args: {} };
  if (typeof sent !== "string") return isObject(sent) ? { args: sent } : malformed(JSON.stringify(sent));
  if (sent.trim() === "" || sent.trim() === "null") return { args: {} };
  try {
    const value: unknown = JSON.parse(sent);
    // Throws where the value is nested too deep to be sent back.
    JSON.stringify(value);
    return isObject(value) ? { args: value } : malformed(sent);
  } catch (error) {
    return malformed(sent, messageOf(error).replace(/^(.*?)(?:, "| in JSON ).*$/s, "$1"));
  }
}

function malformed(sent: string, reason?: string): Pick<ToolCallBlock, "args" | "malformed"> {
  const quote = sent.length > longestQuote ? `${sent.slice(0, longestQuote).toWellFormed()}…` : sent;
  return { args: {}, malformed: `expected a JSON object${reason ? ` (${reason})` : ""}, received ${quote}` };
}
