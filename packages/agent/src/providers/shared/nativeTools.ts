import type { ChatTool } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import { frozenJson } from "../../conversation/frozenJson.ts";
import { messageOf } from "../../errors.ts";
import type { ToolCallBlock } from "../../messages.ts";

/** The tool of that name, if it takes all these arguments: another tool may have the same name. */
export function toolWith(
  tools: readonly ChatTool[],
  name: string,
  ...argumentNames: readonly string[]
): ChatTool | undefined {
  const tool = tools.find((one) => one.function.name === name);
  const properties = tool?.function.parameters.properties;
  return isObject(properties) && argumentNames.every((one) => Object.hasOwn(properties, one)) ? tool : undefined;
}

/**
 * A native call that is run by a tool of the registry, beside what it was: what history holds is well formed, so what is too
 * deep for it makes the call malformed.
 */
export function withNativeForm(call: ToolCallBlock, provider: string, data: object): ToolCallBlock {
  try {
    return { ...call, opaque: { provider, data: frozenJson(data) } };
  } catch (error) {
    return { ...call, args: {}, malformed: messageOf(error) };
  }
}

/** What a model's own form of a call was, as its provider keeps it beside the call in the registry's form. */
export function nativeForm(call: ToolCallBlock, provider: string): Record<string, unknown> | undefined {
  return call.opaque?.provider === provider && isObject(call.opaque.data) ? call.opaque.data : undefined;
}
