import { setOwn } from "@toolcrib/core/internal";

const deepest = 200;

/** Returns a frozen, well-formed copy of JSON data; what JSON cannot hold is null. Throws a RangeError beyond 200 levels, so for a cycle. */
export function frozenJson<T>(value: T, depth?: number): T;
export function frozenJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null)
    return typeof value === "boolean" || Number.isFinite(value) ? value : null;
  if (depth >= deepest) throw new RangeError(`nested deeper than ${deepest} levels`);
  if (Array.isArray(value)) return Object.freeze(value.map((item) => frozenJson(item, depth + 1)));
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) setOwn(copy, key.toWellFormed(), frozenJson(item, depth + 1));
  }
  return Object.freeze(copy);
}
