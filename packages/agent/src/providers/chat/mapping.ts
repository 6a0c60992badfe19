import { type ChatTool, toOpenAIChatTool } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
  ChatCompletionToolChoiceOption,
} from "openai/resources/chat/completions";
import type { AssistantMessage, ImageBlock, Message, TextBlock, ToolMessage } from "../../messages.ts";
import type { ToolChoice } from "../../provider.ts";
import { beyondStrictLimits } from "../models/answerFormat.ts";
import { argumentsText, wellFormed, wellFormedJson, wireId, wireName } from "../shared/wireText.ts";
import type { Compat } from "./compat.ts";

/** The author whose messages a mapping replays: the provider's name, and `provider/model`. */
export interface ChatAuthor {
  readonly name: string;
  readonly model: string;
}

/** Converts tools. Sends `strict` only if it is asked for and the server takes it. */
export function toChatTools(tools: readonly ChatTool[], compat: Compat): ChatCompletionFunctionTool[] {
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
  return { role: "system", content: wellFormed(systemPrompt) };
}

/** Returns a message as chat completions takes it. */
export function toChatMessage(message: Message, author: ChatAuthor, compat: Compat): ChatCompletionMessageParam {
  switch (message.role) {
    case "user":
      return { role: "user", content: toUserContent(message.content) };
    case "assistant":
      return toAssistant(message, compat.replayReasoning && message.model === author.model ? author.name : undefined);
    case "tool":
      return { role: "tool", tool_call_id: wireId(message.callId), content: toToolText(message) };
    default:
      return message satisfies never;
  }
}

function toUserContent(content: readonly (TextBlock | ImageBlock)[]): string | ChatCompletionContentPart[] {
  // Some servers accept only a string.
  if (content.every((block) => block.type === "text")) return wellFormed(content.map((block) => block.text).join("\n"));
  return content.map((block) =>
    block.type === "text"
      ? { type: "text", text: wellFormed(block.text) }
      : { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } },
  );
}

/** Converts a result to text: tool messages hold nothing else, so a note replaces a picture. */
function toToolText({ output, content }: ToolMessage): string {
  const images = (content ?? []).filter((block) => block.type === "image").length;
  const note = images === 0 ? "" : `\n[${images} picture${images === 1 ? "" : "s"} not shown: results are text here]`;
  return wellFormed(output + note);
}

function toAssistant(message: AssistantMessage, author: string | undefined): ChatCompletionAssistantMessageParam {
  const reasoning: Record<string, unknown> = {};
  const toolCalls: NonNullable<ChatCompletionAssistantMessageParam["tool_calls"]> = [];
  let text = "";
  for (const block of message.content) {
    switch (block.type) {
      case "text":
        text += block.text;
        break;
      case "reasoning":
        if (block.opaque?.provider === author && isObject(block.opaque?.data)) {
          Object.assign(reasoning, wellFormedJson(block.opaque.data));
        }
        break;
      case "tool-call": {
        const call = { name: wireName(block.name), arguments: argumentsText(block.args) };
        toolCalls.push({ type: "function", id: wireId(block.id), function: call });
        break;
      }
      default:
        block satisfies never;
    }
  }
  const content = text === "" && toolCalls.length > 0 ? null : wellFormed(text);
  return { role: "assistant", content, ...reasoning, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
}
