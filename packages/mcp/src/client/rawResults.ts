import type { Transport } from "@modelcontextprotocol/client";
import { record } from "../mapping.ts";

const rawKey = "toolcrib/raw";
/** Fits every result of the revision 2026-07-28. */
const empty = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  content: [],
  contents: [],
  messages: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  tools: [],
};

/**
 * Keeps the results of the newer revision from the SDK, which refuses a whole list or result for one odd part: it gets an empty one that
 * carries what came. Called before the client connects, as a handler that is there is called first.
 */
export function keepRawResults(transport: Transport, isModern: () => boolean): void {
  transport.onmessage = (message) => {
    if (!("result" in message) || !isModern()) return;
    const { resultType = "complete" } = record(message.result);
    if (resultType === "complete") message.result = { ...empty, [rawKey]: message.result };
  };
}

/** Returns a result as the server sent it. */
export function rawResult(result: unknown): unknown {
  const kept = record(result);
  return rawKey in kept ? kept[rawKey] : result;
}
