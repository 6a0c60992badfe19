/** Returns whether it is any object but an array. A copy of the one in core, so that these helpers need no package of ours. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
