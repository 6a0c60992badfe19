// The parts of a JSON Schema: its keywords, and where pointers and references lead.
import type { JsonSchema } from "../interface.ts";
import { isPlainObject, setOwn } from "../json.ts";

/** Keywords whose values have schemas by names of the author's choice, such as a property called `description`. */
const namedSchemas: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);
/** Keywords whose values are data. */
const data: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "dependentRequired"]);

/** Decides whether to keep a keyword; `at` is the JSON Pointer of the schema that has it. */
type Keep = (keyword: string, value: unknown, at: string) => boolean;
/** Returns a schema in place of the one that has the JSON Pointer `at`. */
type Change = (schema: JsonSchema, at: string) => JsonSchema;

/** Returns a copy of a schema with those keywords, of it and of all schemas in it, that `keep` keeps. */
export function filterKeywords(schema: JsonSchema, keep: Keep): JsonSchema {
  return mapSchemas(schema, (own, at) =>
    Object.fromEntries(Object.entries(own).filter(([keyword, value]) => keep(keyword, value, at))),
  );
}

/** Returns a copy of a schema, changed by `change`, and of the schemas in the changed one, changed in the same way. */
export function mapSchemas(schema: JsonSchema, change: Change, at = ""): JsonSchema {
  const made: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(change(schema, at))) {
    const place = `${at}/${keyword}`;
    if (data.has(keyword)) setOwn(made, keyword, value);
    else if (!namedSchemas.has(keyword) || !isPlainObject(value))
      setOwn(made, keyword, mapInside(value, change, place));
    else {
      const named: Record<string, unknown> = {};
      for (const [name, one] of Object.entries(value))
        setOwn(named, name, mapInside(one, change, `${place}/${pointerPart(name)}`));
      setOwn(made, keyword, named);
    }
  }
  return made;
}

function mapInside(value: unknown, change: Change, at: string): unknown {
  if (isPlainObject(value)) return mapSchemas(value, change, at);
  return Array.isArray(value) ? value.map((item, index) => mapInside(item, change, `${at}/${index}`)) : value;
}

/** Returns a name as a part of a JSON Pointer (RFC 6901). */
export function pointerPart(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Returns the name that a part of a JSON Pointer stands for. */
export function pointerName(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Returns the version of JSON Schema by which a whole schema is read. */
export function draftOf({ $schema }: JsonSchema): "4" | "7" | "2019-09" | "2020-12" {
  if (typeof $schema !== "string") return "2020-12";
  if (/draft-0?[467]/.test($schema)) return $schema.includes("4") ? "4" : "7";
  return $schema.includes("2019-09") ? "2019-09" : "2020-12";
}

type Target = JsonSchema | boolean | undefined;

interface Names {
  readonly ids: ReadonlyMap<string, JsonSchema>;
  readonly anchors: ReadonlyMap<string, JsonSchema>;
}

/** Keeps what is known of one document: each reference is followed once, and its names are gathered once. */
interface Known {
  readonly targets: Map<string, Target>;
  names?: Names;
}

const documents = new WeakMap<JsonSchema, Known>();

/**
 * Returns the schema that a local `$ref` leads to: `#`, a JSON Pointer (RFC 6901), an `$anchor` or an `$id` in the same document.
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
