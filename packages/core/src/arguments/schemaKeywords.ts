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

/** Whether to keep a keyword; `at` is the JSON Pointer of the schema that has it. */
type Keep = (keyword: string, value: unknown, at: string) => boolean;

/** A copy of a schema with those keywords, of it and of all schemas in it, that `keep` keeps. */
export function filterKeywords(schema: JsonSchema, keep: Keep, at = ""): JsonSchema {
  return mapValues(schema, (value, keyword) => {
    if (!keep(keyword, value, at)) return undefined;
    if (data.has(keyword)) return value;
    const inner = `${at}/${keyword}`;
    if (!namedSchemas.has(keyword) || !isPlainObject(value)) return filterInside(value, keep, inner);
    return mapValues(value, (one, name) => filterInside(one, keep, `${inner}/${pointerPart(name)}`));
  });
}

/** A name as a part of a JSON Pointer (RFC 6901). */
export function pointerPart(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The name that a part of a JSON Pointer stands for. */
export function pointerName(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function filterInside(value: unknown, keep: Keep, at: string): unknown {
  if (Array.isArray(value)) return value.map((item, index) => filterInside(item, keep, `${at}/${index}`));
  return isPlainObject(value) ? filterKeywords(value, keep, at) : value;
}

function mapValues(
  object: Record<string, unknown>,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) setOwn(made, key, map(value, key));
  return made;
}

/** The version of JSON Schema by which a whole schema is read. */
export function draftOf({ $schema }: JsonSchema): "4" | "7" | "2019-09" | "2020-12" {
  if (typeof $schema !== "string") return "2020-12";
  if (/draft-0?[467]/.test($schema)) return $schema.includes("4") ? "4" : "7";
  return $schema.includes("2019-09") ? "2019-09" : "2020-12";
}
