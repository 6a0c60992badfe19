import { attempt } from "./callSafely.ts";

/** Returns whether it is any object but an array: what a value read from JSON, or from another program, must be to have fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether it is a key-value object in the sense of JSON: made by a literal, `JSON.parse` or `Object.create(null)`. */
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

/** Levels of objects and lists in what is copied, and in the schemas of tools. */
export const mostLevels = 500;
/** The keys of so many values are copied and checked in about 0.1 s, in which no other work runs. */
const mostValues = 100_000;

/**
 * Returns a copy that shares no array or plain object with the original; properties that are undefined are left out, other
 * values (class instances, functions) are kept. Throws a RangeError past 500 levels, so also on a cycle, and past `most` values.
 */
export function copyJson<T>(value: T, most?: number): T;
export function copyJson(value: unknown, most: number = mostValues): unknown {
  let left = most;
  const copy = (item: unknown, level: number): unknown => {
    left -= 1;
    // The length too: an array may have many holes.
    if (left < 0 || (Array.isArray(item) && item.length > left)) throw new RangeError(`holds more than ${most} values`);
    if (typeof item !== "object" || item === null) return item;
    if (level > mostLevels) throw new RangeError(`nested deeper than ${mostLevels} levels, or in a cycle`);
    if (Array.isArray(item)) return item.map((inner) => copy(inner, level + 1));
    if (!isPlainObject(item)) return item;
    const made: Record<string, unknown> = {};
    const keys = Object.keys(item);
    if (keys.length > left) throw new RangeError(`holds more than ${most} values`);
    for (const key of keys) {
      const inner = item[key];
      if (inner !== undefined) setOwn(made, key, copy(inner, level + 1));
    }
    return made;
  };
  return copy(value, 0);
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}

/** Returns whether two values are equal as JSON has them. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));
  if (!isPlainObject(one) || !isPlainObject(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) if (!Object.hasOwn(other, key) || !isSameJson(one[key], other[key])) return false;
  return true;
}

/** Returns JSON text with the keys of every object in one order, so that equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
    .join(",")}}`;
}

/** Returns the type of a JSON value in JSON Schema's words; anything that JSON cannot hold by its JavaScript type. */
export function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

/** Returns the longest head of `text` within `limit` UTF-16 units that does not split a surrogate pair. */
export function cutHead(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** Returns `text` up to `limit` units, an ellipsis after a cut: for quoting what a caller sent. */
export function clip(text: string, limit = 200): string {
  return text.length <= limit ? text : `${cutHead(text, limit)}…`;
}

/** Returns a value as an error message quotes it: JSON text cut to `limit` characters, or its type. */
export function quote(value: unknown, limit = 80): string {
  const shown = typeof value === "string" && value.length > limit ? clip(value, limit) : value;
  const text = attempt(() => JSON.stringify(shown) ?? String(shown)) ?? typeof value;
  return text.length > limit + 10 ? clip(text, limit) : text;
}
