import { setOwn } from "@toolcrib/core/internal";

const deepest = 200;

/**
 * Returns a deep, frozen copy of JSON data without lone surrogates; values that JSON cannot hold become null. Throws a RangeError
 * for data nested deeper than 200 levels, and so for a cycle.
 */
export function frozenJson<T>(value: T, depth?: number): T;
export function frozenJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return isPlainScalar(value) ? value : null;
  if (depth >= deepest) throw new RangeError(`nested deeper than ${deepest} levels`);
  if (Array.isArray(value)) return Object.freeze(value.map((item) => frozenJson(item, depth + 1)));
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) setOwn(copy, key.toWellFormed(), frozenJson(item, depth + 1));
  }
  return Object.freeze(copy);
}

function isPlainScalar(value: unknown): boolean {
  return value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}
