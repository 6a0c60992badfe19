import type { ChatTool } from "@toolcrib/core";
import { definitionFor } from "@toolcrib/core/internal";
import { jsonSchema, type ModelMessage, type ToolApprovalStatus, type ToolSet } from "ai";
import type { ModelOutput } from "./fromAiSdkTool.ts";
import {
  type AdapterOptions,
  callTool,
  decisionOn,
  enabledSchemas,
  everySchema,
  type ImageBlock,
  type ToolSource,
} from "./registryCall.ts";

export { fromAiSdkTool } from "./fromAiSdkTool.ts";

/** The result of a tool in the AI SDK: the text, with its images and its data if there are any. The model reads text and images. */
type AiSdkOutput = string | { text: string; images?: readonly ImageBlock[]; data?: unknown };

/**
 * Returns the tools of a registry for `generateText`, `streamText` and agents. The object is live: before each step it lists the tools
 * that are enabled then, and a call to a disabled tool is still answered. A copy (`{ ...tools }`) keeps the list as it was. A
 * failure is a `tool-error` part.
 */
export function toAiSdkTools(registry: ToolSource, options: AdapterOptions = {}): ToolSet {
  const find = (name: string | symbol): ToolSet[string] | undefined => {
    const isNamed = (tool: ChatTool): boolean => tool.function.name === name;
    const schema = registry.getEnabledSchemas().find(isNamed) ?? everySchema(registry).find(isNamed);
    return schema && toAiSdkTool(registry, schema, options);
  };
  return new Proxy<ToolSet>(
    {},
    {
      ownKeys: () => enabledSchemas(registry).map((tool) => tool.function.name),
      has: (_target, name) => registry.hasTool(String(name)),
      get: (_target, name) => find(name),
      getOwnPropertyDescriptor: (_target, name) => {
        const value = find(name);
        return value && { value, enumerable: true, configurable: true };
      },
      defineProperty: () => false,
    },
  );
}

/** Fits `toolApproval` whatever the types of the tools and contexts are: it reads only the call. */
type ApprovalFunction = (options: {
  toolCall: { toolName: string; toolCallId: string; input: unknown };
}) => Promise<ToolApprovalStatus>;

/**
 * Returns the `toolApproval` of `generateText`, `streamText` and agents: the question of a guard becomes a `tool-approval-request` with its
 * text as `reason`, and ends the generation; a denial is a denied call. Messages with the user's answer continue it, also in another process. A
 * yes holds for the same call and the same question. Where messages come back from a browser, give the SDK a secret
 * (`experimental_toolApprovalSecret`), so that it recognises its own requests.
 */
export function aiSdkToolApproval(
  registry: ToolSource,
  { labels }: Pick<AdapterOptions, "labels"> = {},
): ApprovalFunction {
  return async ({ toolCall }): Promise<ToolApprovalStatus> => {
    const { toolName, input, toolCallId: callId } = toolCall;
    const decision = await decisionOn(registry, toolName, input, { labels, callId });
    if (!decision) return "not-applicable";
    if ("denied" in decision) return { type: "denied", reason: decision.denied };
    return { type: "user-approval", reason: decision.question.text };
  };
}

const notThisQuestion = "the user answered a different question about this call; call it again to ask again";

type Part = Exclude<ModelMessage["content"], string>[number];

/** Returns the texts of the questions about a call that were answered with yes. */
function approvedQuestions(messages: readonly ModelMessage[], callId: string): string[] {
  const parts = messages.flatMap(({ content }): readonly Part[] => (typeof content === "string" ? [] : content));
  const yes = new Set(
    parts.flatMap((part) => (part.type === "tool-approval-response" && part.approved ? [part.approvalId] : [])),
  );
  return parts.flatMap((part) =>
    part.type === "tool-approval-request" && part.toolCallId === callId && yes.has(part.approvalId)
      ? [part.reason ?? ""]
      : [],
  );
}

/** The model reads `toString()` of an error: here only the line of the registry. `cause` is the ToolError. */
class FailedCall extends Error {
  override toString(): string {
    return this.message;
  }
}

function toAiSdkTool(registry: ToolSource, schema: ChatTool, options: AdapterOptions): ToolSet[string] {
  const { name, description, parameters, strict } = definitionFor(schema, "any");
  return {
    type: "dynamic",
    description,
    inputSchema: jsonSchema(parameters),
    ...(strict ? { strict } : {}),
    execute: async (input: unknown, call): Promise<AiSdkOutput> => {
      const { abortSignal: signal, toolCallId: callId, messages } = call;
      const approved = approvedQuestions(messages, callId);
      const approve: AdapterOptions["approve"] =
        approved.length === 0 ? options.approve : (_call, { text }) => approved.includes(text) || notThisQuestion;
      const { text, images, data, error } = await callTool(registry, name, input, {
        ...options,
        approve,
        signal,
        callId,
      });
      if (error) throw new FailedCall(text, { cause: error });
      if (images.length === 0 && data === undefined) return text;
      return { text, ...(images.length > 0 && { images }), ...(data !== undefined && { data }) };
    },
    toModelOutput: ({ output }: { output: AiSdkOutput }) => toModelOutput(output),
  };
}

function toModelOutput(output: AiSdkOutput): ModelOutput {
  if (typeof output === "string") return { type: "text", value: output };
  if (!output.images) return { type: "text", value: output.text };
  const images = output.images.map(({ data, mimeType }) => ({
    type: "file" as const,
    data: { type: "data" as const, data },
    mediaType: mimeType,
  }));
  return { type: "content", value: [{ type: "text", text: output.text }, ...images] };
}
