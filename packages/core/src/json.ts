/** A key-value object in the sense of JSON: made by a literal, `JSON.parse` or `Object.create(null)`. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Sets an own property whatever its name: a plain assignment to `__proto__` would change the prototype. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

const deepest = 500;

/**
 * A copy that shares no array or plain object with the original; properties that are undefined are left out, other
 * values (class instances, functions) are kept. Throws a RangeError past 500 levels, so also on a cycle.
 */
export function copyJson(value: unknown, level = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (level > deepest) throw new RangeError(`nested deeper than ${deepest} levels, or in a cycle`);
  if (Array.isArray(value)) return value.map((item) => copyJson(item, level + 1));
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item !== undefined) setOwn(copy, key, copyJson(item, level + 1));
  }
  return copy;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}

/** The type of a JSON value in JSON Schema's words; anything that JSON cannot hold by its JavaScript type. */
export function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

/** A value as an error message quotes it: JSON text cut to `limit` characters, or its type. */
export function quote(value: unknown, limit = 80): string {
  try {
    // Cut before writing: a long string need not be escaped whole.
    const short = typeof value === "string" && value.length > limit ? `${value.slice(0, limit)}…` : value;
    const text = JSON.stringify(short) ?? String(value);
    return text.length > limit + 10 ? `${text.slice(0, limit)}…` : text;
  } catch {
    return typeof value;
  }
}
