import { isAgentError } from "../../errors.ts";
import type { StopReason } from "../../messages.ts";
import { describeFailure, type Failure } from "./describeFailure.ts";
import { redact } from "./redact.ts";

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
