import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import type { BetaToolResultContentBlockParam } from "@anthropic-ai/sdk/resources/beta";
import { toAnthropicTool } from "@toolcrib/core";
import {
  type AdapterOptions,
  callTool,
  enabledSchemas,
  type ImageBlock,
  type ToolAnswer,
  type ToolSource,
} from "./registryCall.ts";

/**
 * Returns the enabled tools for `client.beta.messages.toolRunner({ tools })`. A failure is a result with `is_error`. The runner keeps
 * the list that it was given; a call to a tool that was disabled since is refused.
 */
export function toAnthropicTools(registry: ToolSource, options: AdapterOptions = {}): BetaRunnableTool<unknown>[] {
  return enabledSchemas(registry).map((schema) => ({
    ...toAnthropicTool(schema),
    parse: (input) => input,
    run: async (input, context) => {
      const signal = context?.signal ?? undefined;
      const callId = context?.toolUse.id;
      const answer = await callTool(registry, schema.function.name, input, { ...options, signal, callId });
      if (answer.error) throw new ToolError(toContent(answer));
      return toContent(answer);
    },
  }));
}

function toContent({ text, images }: ToolAnswer): string | BetaToolResultContentBlockParam[] {
  return images.length === 0 ? text : [{ type: "text", text }, ...images.map(toImage)];
}

function toImage({ data, mimeType }: ImageBlock): BetaToolResultContentBlockParam {
  // The type of the SDK lists four formats. The API itself refuses any other.
  const media_type = mimeType as "image/png";
  return { type: "image", source: { type: "base64", data, media_type } };
}
