// Our messages as a prompt of the AI SDK (its specification versions v3 and v4 differ only in pictures).
import type { ChatTool } from "@toolcrib/core";
import { definitionFor } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import type { AssistantMessage, ImageBlock, Message, ToolMessage, UserMessage } from "../../messages.ts";
import type { ModelRequest, ToolChoice } from "../../provider.ts";
import type { ReasoningEffort } from "../models/modelRules.ts";
import { acceptedToolChoice } from "../models/settings.ts";
import { memoize } from "../shared/memoize.ts";
import { noSupportedChanges, unchangedSince } from "../shared/opening.ts";
import { wellFormedJson, wireId, wireName } from "../shared/wireText.ts";

type Json = Record<string, unknown>;

interface CallSettings {
  readonly maxTokens?: number | undefined;
  readonly reasoning?: ReasoningEffort | undefined;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface AiSdkWire {
  readonly isV4: boolean;
  readonly bindsThinking: boolean;
  readonly forcedTools: boolean;
}

/** The options that each vendor's service gets unless the caller says otherwise: no conversation is kept there, and prompts are cached. */
const vendorDefaults: Readonly<Record<string, Json>> = {
  openai: { store: false },
  azure: { store: false },
  anthropic: { cacheControl: { type: "ephemeral" } },
};

/** Makes the mapping of requests to call options. `author` is `provider/model`: its own replies go back with what they carried. */
export function createToCall(author: string, settings: CallSettings, wire: AiSdkWire): (request: ModelRequest) => Json {
  const { maxTokens, reasoning, headers } = settings;
  const providerOptions = mergedOptions(settings.providerOptions ?? {});
  const toWire = memoize((message) => toPromptMessage(message, author, wire.isV4));
  const toPlain = memoize((message) => toPromptMessage(message, undefined, wire.isV4));
  return (request) => {
    const { systemPrompt, messages, tools, toolChoice } = request;
    const since = wire.bindsThinking ? unchangedSince(request, noSupportedChanges) : 0;
    return {
      prompt: [
        ...(systemPrompt === "" ? [] : [{ role: "system", content: systemPrompt.toWellFormed() }]),
        ...messages.map((message, index) => (index < since ? toPlain(message) : toWire(message))),
      ],
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      ...(reasoning !== undefined && { reasoning }),
      ...(tools.length > 0 && { tools: tools.map(toFunctionTool) }),
      ...(tools.length > 0 &&
        toolChoice !== undefined && { toolChoice: toAiSdkChoice(acceptedToolChoice(toolChoice, wire.forcedTools)) }),
      ...(headers !== undefined && { headers }),
      providerOptions,
    };
  };
}

function mergedOptions(given: NonNullable<CallSettings["providerOptions"]>): Json {
  const vendors = new Set([...Object.keys(vendorDefaults), ...Object.keys(given)]);
  return Object.fromEntries([...vendors].map((vendor) => [vendor, { ...vendorDefaults[vendor], ...given[vendor] }]));
}

function toFunctionTool(tool: ChatTool): Json {
  const { name, description, parameters, strict } = definitionFor(tool, "any");
  return { type: "function", name, description, inputSchema: parameters, ...(strict && { strict }) };
}

function toAiSdkChoice(choice: ToolChoice): Json {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name };
}

/** Returns a message of the prompt. Without `author` nothing goes back of what only its service can read. */
function toPromptMessage(message: Message, author: string | undefined, isV4: boolean): Json {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.content.map((block) => toUserPart(block, isV4)) };
    case "assistant":
      return { role: "assistant", content: toAssistantParts(message, message.model === author) };
    case "tool":
      return { role: "tool", content: [toResultPart(message, isV4)] };
    default:
      return message satisfies never;
  }
}

function toUserPart(block: UserMessage["content"][number], isV4: boolean): Json {
  return block.type === "text" ? { type: "text", text: block.text.toWellFormed() } : toPicture(block, "file", isV4);
}

function toPicture({ data, mimeType }: Omit<ImageBlock, "type">, type: "file" | "image-data", isV4: boolean): Json {
  return isV4
    ? { type: "file", data: { type: "data", data }, mediaType: mimeType }
    : { type, data, mediaType: mimeType };
}

function toAssistantParts({ content }: AssistantMessage, isOwn: boolean): Json[] {
  return content.flatMap((block): Json[] => {
    const carried = isOwn && isObject(block.opaque?.data) ? wellFormedJson(block.opaque.data) : undefined;
    switch (block.type) {
      case "text":
        return [{ type: "text", text: block.text.toWellFormed(), ...carried }];
      case "reasoning":
        // Reasoning without its signature, or of another model, is refused by some services.
        return carried ? [{ type: "reasoning", text: block.text.toWellFormed(), ...carried }] : [];
      case "tool-call": {
        const input = wellFormedJson(block.args);
        return [{ type: "tool-call", toolCallId: wireId(block.id), toolName: wireName(block.name), input, ...carried }];
      }
      default:
        return block satisfies never;
    }
  });
}

function toResultPart({ callId, name, output, isError, content = [] }: ToolMessage, isV4: boolean): Json {
  const pictures = content.flatMap((block) => (block.type === "image" ? [toPicture(block, "image-data", isV4)] : []));
  const text = output.toWellFormed();
  return {
    type: "tool-result",
    toolCallId: wireId(callId),
    toolName: wireName(name),
    output:
      pictures.length > 0
        ? { type: "content", value: [{ type: "text", text }, ...pictures] }
        : { type: isError ? "error-text" : "text", value: text },
  };
}
