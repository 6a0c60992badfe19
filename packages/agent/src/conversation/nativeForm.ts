import { isObject, messageOf } from "@toolcrib/core/text";
import type { ToolCallBlock } from "../messages.ts";
import { frozenJson } from "./frozenJson.ts";

/**
 * Returns a call of a tool that the service itself defines, as the call of a registry's tool that runs it; `data` is what the model made. What is too
 * deep for history makes the call malformed.
 */
export function withNativeForm(call: ToolCallBlock, provider: string, data: object): ToolCallBlock {
  try {
    return { ...call, opaque: { provider, data: frozenJson(data) } };
  } catch (error) {
    return { ...call, args: {}, malformed: messageOf(error) };
  }
}

/** Returns the model's own form of a call, as its provider keeps it beside the call. */
export function nativeForm(call: ToolCallBlock, provider: string): Record<string, unknown> | undefined {
  return call.opaque?.provider === provider && isObject(call.opaque.data) ? call.opaque.data : undefined;
}
