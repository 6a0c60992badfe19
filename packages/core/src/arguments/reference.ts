import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { pointerName } from "./schemaKeywords.ts";

type Target = JsonSchema | boolean | undefined;

interface Names {
  readonly ids: ReadonlyMap<string, JsonSchema>;
  readonly anchors: ReadonlyMap<string, JsonSchema>;
}

/** What is known of one document: each reference is followed once, and its names are gathered once. */
interface Known {
  readonly targets: Map<string, Target>;
  names?: Names;
}

const documents = new WeakMap<JsonSchema, Known>();

/**
 * The schema that a local `$ref` leads to: `#`, a JSON Pointer (RFC 6901), an `$anchor` or an `$id` in the same document.
 * Answers are kept: `root` must not change after the first call.
 */
export function resolveReference(root: JsonSchema, reference: string): Target {
  let known = documents.get(root);
  if (!known) {
    known = { targets: new Map() };
    documents.set(root, known);
  }
  if (known.targets.has(reference)) return known.targets.get(reference);
  const target = follow(root, reference, known);
  known.targets.set(reference, target);
  return target;
}

function follow(root: JsonSchema, reference: string, known: Known): Target {
  const names = (): Names => {
    known.names ??= gatherNames(root);
    return known.names;
  };
  if (!reference.startsWith("#")) return names().ids.get(reference);
  let fragment: string;
  try {
    fragment = decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
  if (fragment !== "" && !fragment.startsWith("/")) {
    return names().anchors.get(fragment) ?? names().ids.get(reference);
  }
  let place: unknown = root;
  for (const part of fragment.split("/").slice(1)) {
    const key = pointerName(part);
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined;
    place = Reflect.get(place, key);
  }
  return isPlainObject(place) || typeof place === "boolean" ? place : undefined;
}

/** Gathers names; of two equal ones, the first in the document. */
function gatherNames(root: JsonSchema): Names {
  const ids = new Map<string, JsonSchema>();
  const anchors = new Map<string, JsonSchema>();
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const place = waiting.pop();
    if (typeof place !== "object" || place === null) continue;
    if (isPlainObject(place)) {
      const { $id, $anchor } = place;
      if (typeof $id === "string" && !ids.has($id)) ids.set($id, place);
      if (typeof $anchor === "string" && !anchors.has($anchor)) anchors.set($anchor, place);
    }
    for (const item of Object.values(place).reverse()) waiting.push(item);
  }
  return { ids, anchors };
}
