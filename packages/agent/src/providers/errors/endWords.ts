import type { StopReason } from "../../messages.ts";
import { badReply, type Service, serviceFault } from "./wireErrors.ts";

/** Words of services for the end of a reply, in small letters. `fault`: the service could not finish the reply. */
const meanings: Readonly<Record<string, StopReason | "fault">> = {
  ...meaning("stop", "stop end_turn eos eos_token stop_sequence complete completed"),
  ...meaning("token-limit", "length max_tokens max_output_tokens model_length"),
  ...meaning("context-limit", "model_context_window_exceeded"),
  ...meaning(
    "content-filter",
    "content_filter content-filter sensitive safety recitation blocklist prohibited_content spii",
  ),
  ...meaning("refusal", "refusal"),
  ...meaning("tool-calls", "tool_calls tool_call tool-calls tool_use function_call"),
  ...meaning("pause", "pause_turn"),
  ...meaning("fault", "error network_error insufficient_system_resource abort malformed_function_call"),
};

function meaning<Meaning extends StopReason | "fault">(of: Meaning, words: string): Record<string, Meaning> {
  return Object.fromEntries(words.split(" ").map((word) => [word, of]));
}

/** Returns what a service's word for the end of a reply means, in which a detail may follow a colon; undefined for one that is not known. */
export function endMeaning(word: unknown): StopReason | "fault" | undefined {
  const known = typeof word === "string" ? word.toLowerCase().split(":", 1).join().trim() : "";
  return Object.hasOwn(meanings, known) ? meanings[known] : undefined;
}

/** Returns the reason for the end of a reply. Throws for a fault, and for a word that is not known: nothing says that the reply is whole. */
export function endReason(word: unknown, service: Service): StopReason {
  const reason = endMeaning(word);
  if (reason === undefined) throw badReply(service, `ended with ${quoted(word)}, which says nothing of a whole reply.`);
  if (reason === "fault")
    throw serviceFault({ message: `The service ended the reply with ${quoted(word)}.`, code: "server_error" });
  return reason;
}

/** Returns the error of an end that promises calls where there are none. */
export function missingCalls(word: unknown, service: Service): Error {
  return badReply(service, `ended with ${quoted(word)}, but holds no call.`);
}

function quoted(word: unknown): string {
  return JSON.stringify(String(word).slice(0, 100).toWellFormed());
}
