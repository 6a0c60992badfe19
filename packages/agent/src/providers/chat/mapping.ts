import { type ChatTool, toOpenAIChatTool } from "@toolcrib/core";
import { tooManyTools } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
  ChatCompletionToolChoiceOption,
} from "openai/resources/chat/completions";
import { textOf } from "../../conversation/conversation.ts";
import { AgentError } from "../../errors.ts";
import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolMessage } from "../../messages.ts";
import type { ToolChoice } from "../../provider.ts";
import { beyondStrictLimits } from "../models/answerFormat.ts";
import { argumentsText, wellFormedJson, wireId, wireName } from "../shared/wireText.ts";
import { carriedIn } from "./carried.ts";
import type { Compat } from "./compat.ts";

/** The author whose messages a mapping replays: the provider's name, and `provider/model`. */
export interface ChatAuthor {
  readonly name: string;
  readonly model: string;
}

/** Converts tools. Sends `strict` only if it is asked for and the server takes it. Throws an AgentError for too many. */
export function toChatTools(tools: readonly ChatTool[], compat: Compat): ChatCompletionFunctionTool[] {
  const problem = tooManyTools(tools.length, compat.mostTools);
  if (problem !== undefined) throw new AgentError({ code: "invalid_request", message: `${problem}.` });
  const loose = compat.strictTools ? beyondStrictLimits(tools) : new Set(tools);
  return tools.map((tool) => {
    const { type, function: shape } = toOpenAIChatTool(tool);
    const { strict, ...plain } = shape;
    return { type, function: { ...plain, ...(strict && !loose.has(tool) && { strict }) } };
  });
}

export function toChatToolChoice(choice: ToolChoice): ChatCompletionToolChoiceOption {
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
}

export function toChatSystem(systemPrompt: string): ChatCompletionMessageParam {
  return { role: "system", content: systemPrompt.toWellFormed() };
}

export function toChatMessage(message: Message, author: ChatAuthor, compat: Compat): ChatCompletionMessageParam {
  switch (message.role) {
    case "user":
      return { role: "user", content: toUserContent(message.content) };
    case "assistant":
      return toAssistant(message, message.model === author.model ? author.name : undefined, compat);
    case "tool":
      return { role: "tool", tool_call_id: wireId(message.callId), content: toToolText(message) };
    default:
      return message satisfies never;
  }
}

export function joinUserMessages(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const joined: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role !== "user" || last?.role !== "user") joined.push(message);
    else joined.splice(-1, 1, { role: "user", content: joinContent(last.content, message.content) });
  }
  return joined;
}

type UserParts = string | ChatCompletionContentPart[];

function joinContent(first: UserParts, second: UserParts): UserParts {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  const parts = (content: UserParts): ChatCompletionContentPart[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return [...parts(first), ...parts(second)];
}

function toUserContent(content: readonly (TextBlock | ImageBlock)[]): string | ChatCompletionContentPart[] {
  // Some servers accept only a string.
  if (content.every((block) => block.type === "text"))
    return content
      .map((block) => block.text)
      .join("\n")
      .toWellFormed();
  return content.map((block) =>
    block.type === "text"
      ? { type: "text", text: block.text.toWellFormed() }
      : { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } },
  );
}

/** Converts a result to text: tool messages hold nothing else, so a note replaces a picture. */
function toToolText({ output, content }: ToolMessage): string {
  const images = (content ?? []).filter((block) => block.type === "image").length;
  const note = images === 0 ? "" : `\n[${images} picture${images === 1 ? "" : "s"} not shown: results are text here]`;
  return (output + note).toWellFormed();
}

/** `author`: of a message of the same model, which gets back what it carried. */
function toAssistant(
  message: AssistantMessage,
  author: string | undefined,
  { replayReasoning, carriedFields }: Compat,
): ChatCompletionAssistantMessageParam {
  const carried: Record<string, unknown> = {};
  const toolCalls: NonNullable<ChatCompletionAssistantMessageParam["tool_calls"]> = [];
  const text = textOf(message);
  let thinking = "";
  for (const block of message.content) {
    const data =
      block.opaque?.provider === author && isObject(block.opaque?.data) ? wellFormedJson(block.opaque.data) : undefined;
    switch (block.type) {
      case "text":
        break;
      case "reasoning":
        if (Array.isArray(data?.inContent)) {
          const [open, close] = data.inContent;
          if (replayReasoning) thinking += `${open}\n${block.text.toWellFormed()}\n${close}\n\n`;
        } else Object.assign(carried, replayReasoning ? data : carriedIn(data, carriedFields));
        break;
      case "tool-call": {
        const call = { name: wireName(block.name), arguments: argumentsText(block.args) };
        toolCalls.push({ ...carriedIn(data, carriedFields), type: "function", id: wireId(block.id), function: call });
        break;
      }
      default:
        block satisfies never;
    }
  }
  const content = thinking + text.toWellFormed() || (toolCalls.length > 0 ? null : "");
  return { role: "assistant", content, ...carried, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
}
