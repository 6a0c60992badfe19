import type { ChatTool } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";

/** Returns the tool of that name, if it takes all these arguments: another tool may have the same name. */
export function toolWith(
  tools: readonly ChatTool[],
  name: string,
  ...argumentNames: readonly string[]
): ChatTool | undefined {
  const tool = tools.find((one) => one.function.name === name);
  const properties = tool?.function.parameters.properties;
  return isObject(properties) && argumentNames.every((one) => Object.hasOwn(properties, one)) ? tool : undefined;
}
