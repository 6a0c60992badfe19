import type { ChatTool } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
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

/** What a model's own form of a call was, as its provider keeps it beside the call in the registry's form. */
export function nativeForm(call: ToolCallBlock, provider: string): Record<string, unknown> | undefined {
  return call.opaque?.provider === provider && isObject(call.opaque.data) ? call.opaque.data : undefined;
}
