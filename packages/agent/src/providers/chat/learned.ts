import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import { describeFailure } from "../errors/describeFailure.ts";
import type { Compat } from "./compat.ts";

/** The ways in which a server turned out to differ, for the requests that follow. */
export interface Learned {
  streamUsage: boolean;
  maxTokensField: Compat["maxTokensField"];
  /** True once the other field for that was tried. */
  otherField: boolean;
  /** False if `tool_choice` may only be a word. */
  namedTool: boolean;
}

export function createLearned({ streamUsage, maxTokensField }: Compat): Learned {
  return { streamUsage, maxTokensField, otherField: false, namedTool: true };
}

/** Learns from a refusal that names a field in which servers differ. Returns the body to send instead; undefined where it names none. */
export function learnFrom(
  learned: Learned,
  body: ChatCompletionCreateParams,
  failure: unknown,
): ChatCompletionCreateParams | undefined {
  const { status, message } = describeFailure(failure);
  if (status !== 400 && status !== 422) return undefined;
  if (body.stream_options && /stream_options|include_usage/.test(message)) {
    learned.streamUsage = false;
    const { stream_options: _, ...rest } = body;
    return rest;
  }
  if (typeof body.tool_choice === "object" && /tool[_ ]choice/i.test(message)) {
    learned.namedTool = false;
    return withToolAlone(body);
  }
  const [field, other] = body.max_tokens == null ? newerFirst : [...newerFirst].reverse();
  // Another request, sent at the same time, may have learned it.
  if ((learned.otherField && learned.maxTokensField !== other) || body[field] == null) return undefined;
  if (!message.includes(field) || !unknownField.test(message)) return undefined;
  learned.otherField = true;
  learned.maxTokensField = other;
  const { [field]: most, ...rest } = body;
  return { ...rest, [other]: most } as ChatCompletionCreateParams;
}

const newerFirst = ["max_completion_tokens", "max_tokens"] as const;
const unknownField = /unsupported|not supported|unknown|unrecognized|unexpected|extra (?:inputs|fields)|not permitted/i;

/** Names a tool by offering it alone, for a server that knows only `required`. */
export function withToolAlone(body: ChatCompletionCreateParams): ChatCompletionCreateParams {
  const { tool_choice: choice, tools = [] } = body;
  if (typeof choice !== "object" || choice.type !== "function") return body;
  const named = tools.filter((tool) => tool.type === "function" && tool.function.name === choice.function.name);
  return { ...body, tools: named, tool_choice: "required" };
}
