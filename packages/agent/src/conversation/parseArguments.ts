import type { ToolCallBlock } from "../messages.ts";
import { isObject } from "./frozenJson.ts";

const longestQuote = 200;

/**
 * The arguments of a call from the text (or, from lenient servers, the object) a model sent. No text means `{}`;
 * anything else than a JSON object gives `{}` and what was wrong.
 */
export function parseArguments(sent: unknown): Pick<ToolCallBlock, "args" | "malformed"> {
  if (sent === undefined || sent === null) return { args: {} };
  if (typeof sent !== "string") return isObject(sent) ? { args: sent } : malformed(JSON.stringify(sent));
  if (sent.trim() === "" || sent.trim() === "null") return { args: {} };
  try {
    const value: unknown = JSON.parse(sent);
    // What is nested too deep to be written again cannot be replayed.
    JSON.stringify(value);
    return isObject(value) ? { args: value } : malformed(sent);
  } catch (error) {
    return malformed(sent, (error as Error).message.replace(/^(.*?)(?:, "| in JSON ).*$/s, "$1"));
  }
}

function malformed(sent: string, reason?: string): Pick<ToolCallBlock, "args" | "malformed"> {
  const quote = sent.length > longestQuote ? `${sent.slice(0, longestQuote).toWellFormed()}…` : sent;
  return { args: {}, malformed: `expected a JSON object${reason ? ` (${reason})` : ""}, received ${quote}` };
}
