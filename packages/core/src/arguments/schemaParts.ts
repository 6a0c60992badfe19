// The parts of a JSON Schema: its keywords, and where pointers and references lead.
import type { JsonSchema } from "../interface.ts";
import { isPlainObject, setOwn } from "../json.ts";

export type Holding = "one" | "list" | "either" | "named";

/** Keywords that hold schemas: one, a list of them, either of both, or some by names of the author's choice. */
const holders: Readonly<Record<string, Holding>> = {
  not: "one",
  if: "one",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: "one",
  else: "one",
  contains: "one",
  contentSchema: "one",
  propertyNames: "one",
  additionalItems: "one",
  additionalProperties: "one",
  unevaluatedItems: "one",
  unevaluatedProperties: "one",
  items: "either",
  prefixItems: "list",
  allOf: "list",
  anyOf: "list",
  oneOf: "list",
  properties: "named",
  patternProperties: "named",
  dependentSchemas: "named",
  dependencies: "named",
  $defs: "named",
  definitions: "named",
};
/** Keywords whose values are data. */
const data: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "dependentRequired"]);

/** Returns the form in which a keyword holds schemas; undefined for one that holds none. */
export function holdingOf(keyword: string): Holding | undefined {
  return Object.hasOwn(holders, keyword) ? holders[keyword] : undefined;
}

/** Returns the value of a keyword with each schema that it holds changed; `place` is the end of the JSON Pointer, from the keyword on. */
export function mapHeld(keyword: string, value: unknown, change: (one: unknown, place: string) => unknown): unknown {
  if (data.has(keyword)) return value;
  const each = (one: unknown, place: string): unknown =>
    Array.isArray(one) ? one.map((item, index) => each(item, `${place}/${index}`)) : change(one, place);
  if (holdingOf(keyword) !== "named" || !isPlainObject(value)) return each(value, `/${keyword}`);
  const named: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) setOwn(named, name, each(one, `/${keyword}/${pointerPart(name)}`));
  return named;
}

/**
 * Calls `visit` for a schema and each one in it, with the JSON Pointer of each. Objects of unknown keywords count too, with `isKnown` false, as
 * references may lead there.
 */
export function walkSchema(
  schema: JsonSchema,
  visit: (schema: JsonSchema, at: string, isKnown: boolean) => void,
  at = "",
  isKnown = true,
): void {
  visit(schema, at, isKnown);
  for (const [keyword, value] of Object.entries(schema))
    mapHeld(keyword, value, (one, place) => {
      if (isPlainObject(one)) walkSchema(one, visit, at + place, isKnown && holdingOf(keyword) !== undefined);
    });
}

/** Returns a copy of a schema, changed by `change`, and of the schemas in the changed one, changed in the same way. */
export function mapSchemas(
  schema: JsonSchema,
  change: (schema: JsonSchema, at: string) => JsonSchema,
  at = "",
): JsonSchema {
  const made: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(change(schema, at))) {
    const inner = (one: unknown, place: string): unknown =>
      isPlainObject(one) ? mapSchemas(one, change, at + place) : one;
    setOwn(made, keyword, mapHeld(keyword, value, inner));
  }
  return made;
}

/** Returns a copy of a schema with those keywords, of it and of all schemas in it, that `keep` keeps. */
export function filterKeywords(
  schema: JsonSchema,
  keep: (keyword: string, value: unknown, at: string) => boolean,
): JsonSchema {
  return mapSchemas(schema, (own, at) =>
    Object.fromEntries(Object.entries(own).filter(([keyword, value]) => keep(keyword, value, at))),
  );
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
