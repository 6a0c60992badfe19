import type { JsonSchema } from "./interface.ts";
import { isPlainObject } from "./json.ts";

/** The schema that a local `$ref` leads to: `#`, a JSON Pointer (RFC 6901), an `$anchor` or an `$id` in the same document. */
export function resolveReference(root: JsonSchema, reference: string): JsonSchema | boolean | undefined {
  if (!reference.startsWith("#")) return findBy(root, "$id", reference);
  let fragment: string;
  try {
    fragment = decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
  if (fragment !== "" && !fragment.startsWith("/")) {
    return findBy(root, "$anchor", fragment) ?? findBy(root, "$id", reference);
  }
  let place: unknown = root;
  for (const part of fragment.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Record<string, unknown>)[key];
  }
  return isPlainObject(place) || typeof place === "boolean" ? place : undefined;
}

function findBy(place: unknown, keyword: string, wanted: string): JsonSchema | undefined {
  if (typeof place !== "object" || place === null) return undefined;
  if (isPlainObject(place) && place[keyword] === wanted) return place;
  for (const item of Object.values(place)) {
    const found = findBy(item, keyword, wanted);
    if (found) return found;
  }
  return undefined;
}
