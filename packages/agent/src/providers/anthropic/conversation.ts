import type { ToolUnion } from "@anthropic-ai/sdk/resources/messages";
import { memoize } from "../../memoize.ts";
import type { AssistantMessage, Message, ToolMessage } from "../../messages.ts";
import type { ConversationChange, ModelRequest } from "../../provider.ts";
import type { PictureLimits } from "../models/modelRules.ts";
import { acceptedPictures, picturesOf } from "../models/pictures.ts";
import { openingOf, promptChange, type SupportedChanges, unchangedSince } from "../shared/opening.ts";
import { wireId } from "../shared/wireText.ts";
import { type AnthropicTurn, joinTurns, toAnthropicTurn, type WireMessage } from "./mapping.ts";
import { OfferedTools, type ToolChange } from "./offeredTools.ts";
import { thinkingToDrop } from "./thinkingBinding.ts";

export interface ConversationRules {
  readonly supported: SupportedChanges;
  readonly bindsThinking: boolean;
  readonly pictures: PictureLimits | undefined;
  /** Returns whether a reply goes back as it came; those of other models go back as plain text and calls. */
  isOwn(reply: AssistantMessage): boolean;
}

interface WireConversation {
  readonly systemPrompt: string;
  readonly tools: ToolUnion[];
  readonly messages: WireMessage[];
}

/**
 * Makes the function that maps a request. It reads nothing but the request, so that each one begins with the whole of the one before,
 * byte for byte. Changes are told where they were made, before the next reply.
 */
export function createToConversation(rules: ConversationRules): (request: ModelRequest) => WireConversation {
  const { supported, bindsThinking, pictures, isOwn } = rules;
  const isRaw = (message: Message): boolean => message.role === "assistant" && isOwn(message);
  const toTurn = memoize((message: Message) => toAnthropicTurn(message, isRaw(message)));
  return (given) => {
    const request = { ...given, messages: withTakenPictures(given.messages, pictures) };
    const opened = openingOf(request, supported);
    const tools = new OfferedTools(opened);
    const toResult = (result: ToolMessage): AnthropicTurn => {
      const found = tools.find(result);
      return found.length > 0 ? referenceTurn(result, found) : toTurn(result);
    };
    const foreign = request.messages.findLastIndex(
      (message) => message.role === "assistant" && thinkingToDrop(message) === "before",
    );
    const since = Math.max(foreign, bindsThinking ? unchangedSince(request, supported) : 0);
    const turns: AnthropicTurn[] = [];
    const later = [...opened.changes];
    const tell = (position: number): void => {
      const after = later.findIndex((change) => change.position > position);
      // Without a message of the user or a result before it a change waits.
      if (turns.at(-1)?.role !== "user") return;
      const due = later.splice(0, after < 0 ? later.length : after);
      turns.push(...changeTurn(due, tools.change(due)));
    };
    for (const [index, message] of request.messages.entries()) {
      const whole = message.role === "tool" ? toResult(message) : toTurn(message);
      if (message.role === "assistant" && whole.content.length > 0) tell(index);
      const turn = index < since ? withoutThinking(whole) : whole;
      if (turn.content.length > 0) turns.push(turn);
    }
    tell(request.messages.length);
    return { systemPrompt: opened.systemPrompt, tools: tools.declared, messages: joinTurns(turns) };
  };
}

/** Returns the messages without pictures that another model was given and this one would refuse. The same ones in each request. */
function withTakenPictures(messages: readonly Message[], limits: PictureLimits | undefined): readonly Message[] {
  if (!limits) return messages;
  const taken = new Set(acceptedPictures(messages, limits));
  return messages.map((message) => {
    if (message.role === "assistant" || picturesOf(message).every((one) => taken.has(one))) return message;
    const content = message.content?.map((block) => (block.type === "image" && !taken.has(block) ? leftOut : block));
    return { ...message, content } as Message;
  });
}

const leftOut = { type: "text", text: "[a picture that this model does not accept]" } as const;

function withoutThinking(turn: AnthropicTurn): AnthropicTurn {
  if (turn.role !== "assistant") return turn;
  return { ...turn, content: turn.content.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking") };
}

/** Returns the message that tells of changes at one place. Empty where they come to nothing. */
function changeTurn(changes: readonly ConversationChange[], blocks: readonly ToolChange[]): AnthropicTurn[] {
  const prompt = changes.findLast((change) => change.systemPrompt !== undefined)?.systemPrompt;
  const text = prompt === undefined ? [] : [{ type: "text" as const, text: promptChange(prompt).toWellFormed() }];
  const content = [...text, ...blocks];
  return content.length === 0 ? [] : [{ role: "system", content, results: false }];
}

/** Returns the betas of the changes that a conversation tells of. That of definitions covers references. */
export function changeBetas(messages: readonly WireMessage[]): readonly string[] {
  const blocks = messages.flatMap(({ role, content }) => (role === "system" && Array.isArray(content) ? content : []));
  const tools = blocks.flatMap((block) => ("tool" in block ? [block.tool.type] : []));
  if (tools.length === 0) return [];
  return [tools.includes("tool_definition") ? "inline-tools-2026-09-15" : "mid-conversation-tool-changes-2026-07-01"];
}

function referenceTurn({ callId }: ToolMessage, names: readonly string[]): AnthropicTurn {
  const content = names.map((tool_name) => ({ type: "tool_reference", tool_name }) as const);
  return { role: "user", content: [{ type: "tool_result", tool_use_id: wireId(callId), content }], results: true };
}
