// Our messages as a prompt of the AI SDK (its specification versions v3 and v4 differ only in pictures).
import type { ChatTool } from "@toolcrib/core";
import { definitionFor } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { memoize } from "../../memoize.ts";
import type { AssistantMessage, ImageBlock, Message, ToolMessage } from "../../messages.ts";
import type { ModelRequest, ToolChoice } from "../../provider.ts";
import type { ReasoningEffort } from "../models/modelRules.ts";
import { acceptedToolChoice } from "../models/settings.ts";
import { noSupportedChanges, unchangedSince } from "../shared/opening.ts";
import type { ProviderOptions } from "../shared/options.ts";
import { wellFormedJson, wireId, wireName } from "../shared/wireText.ts";

type Json = Record<string, unknown>;

type SharedOption =
  | ("maxTokens" | "headers" | "stream" | "price")
  | ("requestTimeoutMs" | "idleTimeoutMs" | "contentTimeoutMs");

export interface AiSdkModelOptions extends Pick<ProviderOptions<never>, SharedOption> {
  /** The model's reasoning effort; AI SDK 7 alone. With AI SDK 6 use `providerOptions`. */
  readonly reasoning?: ReasoningEffort | undefined;
  /** Options of the vendor for each request, by its name. `openai.store` and `azure.store` are false unless set here. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  /** Keys that no error or event may show: the model holds them where they cannot be found. */
  readonly secrets?: readonly string[] | undefined;
}

export interface AiSdkWire {
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
export function createToCall(
  author: string,
  settings: AiSdkModelOptions,
  wire: AiSdkWire,
): (request: ModelRequest) => Json {
  const { maxTokens, reasoning, headers } = settings;
  const providerOptions = mergedOptions(settings.providerOptions ?? {});
  const toWire = memoize((message: Message) => toPromptMessage(message, author, wire.isV4));
  const toPlain = memoize((message: Message) => toPromptMessage(message, undefined, wire.isV4));
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

function mergedOptions(given: NonNullable<AiSdkModelOptions["providerOptions"]>): Json {
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
      return {
        role: "user",
        content: message.content.map((block) =>
          block.type === "text" ? { type: "text", text: block.text.toWellFormed() } : toPicture(block, "file", isV4),
        ),
      };
    case "assistant":
      return { role: "assistant", content: toAssistantParts(message, message.model === author) };
    case "tool":
      return { role: "tool", content: [toResultPart(message, isV4)] };
    default:
      return message satisfies never;
  }
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
