import { isObject } from "@toolcrib/core/text";

/** The names that a call of `search_tools` has found, from the data of its outcome; none for any other tool. */
export function foundBy(toolName: string, data: unknown): readonly string[] {
  if (toolName !== "search_tools" || !isObject(data) || !Array.isArray(data.tools)) return [];
  return data.tools.filter((name) => typeof name === "string");
}
