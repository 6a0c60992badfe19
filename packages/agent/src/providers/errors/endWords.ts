import { isAgentError } from "../../errors.ts";
import type { StopReason } from "../../messages.ts";
import { describeFailure, type Failure } from "./describeFailure.ts";
import { redact } from "./redact.ts";
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

/** The reason for a turn's end by the service's refusal of a request, and what it said. */
interface RefusedTurn {
  readonly stop: StopReason;
  readonly detail: string;
}

/** Services report a full context or a content filter as an error; here it ends the turn. Undefined for other failures. */
export function endOfTurn(error: unknown, secrets: readonly string[]): RefusedTurn | undefined {
  if (isAgentError(error)) return undefined;
  const failure = describeFailure(error);
  const stop = stopOf(failure);
  if (stop === undefined) return undefined;
  return { stop, detail: redact(failure.message, secrets) || `HTTP status ${failure.status}` };
}

function stopOf({ status, code, message }: Failure): StopReason | undefined {
  if (status === 413) return "context-limit";
  // Some local servers answer 500 to a conversation that does not fit.
  if (status !== 400 && status !== 422 && status !== 500) return undefined;
  if (contextCodes.test(code) || contextMessage.test(message)) return "context-limit";
  return status !== 500 && (contentCodes.test(code) || contentMessage.test(message)) ? "content-filter" : undefined;
}

const contextCodes =
  /^(?:context_length_exceeded|exceed_context_size_error|string_above_max_length|model_max_prompt_tokens_exceeded|1261|ContextWindowExceededError)$/;

/**
 * The words of OpenAI, Anthropic, Bedrock, Gemini, xAI, Mistral, vLLM, llama.cpp, Ollama and LM Studio; of Kimi, GLM, DashScope, TGI, Together,
 * Groq, Cerebras, LiteLLM and Cohere.
 */
const contextMessage = new RegExp(
  [
    "context[ _](?:length|window|size)",
    "context limit",
    "maximum (?:context|prompt) length",
    "(?:prompt|input) is too long",
    "request too large",
    "input token count",
    "exceeds? the (?:available |maximum )?(?:context|number of tokens)",
    "exceeded model token limit",
    "prompt exceeds max length",
    "range of input length should be",
    "`?inputs`? (?:must have less than|tokens \\+ `?max_new_tokens`? must be)",
    "reduce the length of the messages",
    "ContextWindowExceeded",
    "too many tokens",
  ].join("|"),
  "i",
);

const contentCodes = /^(?:content_filter|content_policy_violation|responsible_ai_policy_violation)$/i;
const contentMessage = /content (?:filtering|management) policy|blocked by (?:the )?content/i;
