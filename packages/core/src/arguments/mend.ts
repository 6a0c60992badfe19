import type { JsonSchema } from "../interface.ts";
import { clip, isPlainObject, setOwn } from "../json.ts";
import { keywordProblem } from "./schema.ts";
import { holdingOf, mapSchemas } from "./schemaParts.ts";

const flags: ReadonlySet<string> = new Set(["deprecated", "readOnly", "writeOnly"]);
const texts: ReadonlySet<string> = new Set(["$schema", "contentEncoding", "contentMediaType"]);
/** Keywords whose loss changes nothing. */
const annotations: ReadonlySet<string> = new Set([
  ...["title", "description", "examples", "$comment", "$id", "$anchor", "$schema", "required"],
  ...["deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"],
]);

/** Returns a schema whose description goes on with `words`. */
export function withWords(schema: JsonSchema, words: string): JsonSchema {
  const { description } = schema;
  if (words === "") return schema;
  const before = typeof description === "string" ? description.trim() : "";
  if (before === "") return { ...schema, description: words };
  return { ...schema, description: `${before}${/[.!?:;)]$/.test(before) ? "" : "."} ${words}` };
}

/**
 * Returns a stranger's schema without what no registry takes and its own program can judge: malformed rules and references that lead nowhere
 * are told in the description. What is no schema stays as it is.
 */
export function mendSchema(given: unknown): JsonSchema {
  const root = isPlainObject(given) ? given : {};
  const formed = mapSchemas(root, (own) => requireNamed(own, mendKeywords(own, mended)));
  const { type } = formed;
  if (type === undefined || (Array.isArray(type) && type.includes("object"))) formed.type = "object";
  const leads = (keyword: string, value: unknown): unknown =>
    keyword === "$ref" && keywordProblem(keyword, value, formed) !== undefined ? undefined : value;
  return mapSchemas(formed, (own) => mendKeywords(own, leads));
}

/** Returns a schema with its keywords as `mend` makes them; those for which it returns undefined are told in the description. */
function mendKeywords(own: JsonSchema, mend: (keyword: string, value: unknown) => unknown): JsonSchema {
  const made: Record<string, unknown> = {};
  const lost: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(own)) {
    const kept = mend(keyword, value);
    if (kept !== undefined) setOwn(made, keyword, kept);
    else if (!annotations.has(keyword)) setOwn(lost, keyword, value);
  }
  if (Object.keys(lost).length === 0) return made;
  const lead = "$ref" in lost ? ", which leads nowhere" : "";
  return withWords(made, `Its author states ${clip(JSON.stringify(lost), 300)}${lead}.`);
}

/** Requires the properties that say so themselves, as they did in draft-03. */
function requireNamed({ properties }: JsonSchema, made: JsonSchema): JsonSchema {
  if (!isPlainObject(properties)) return made;
  const names = Object.keys(properties).filter((name) => Object(properties[name]).required === true);
  if (names.length === 0) return made;
  return { ...made, required: [...new Set([...(Array.isArray(made.required) ? made.required : []), ...names])] };
}

/** Returns the value of a keyword as JSON Schema has it; undefined where its meaning is lost. Schemas that are none stay as they are. */
function mended(keyword: string, value: unknown): unknown {
  if (keyword === "type") return knownTypes(value);
  if (keyword === "patternProperties" && isPlainObject(value))
    return Object.keys(value).some((name) => keywordProblem("pattern", name, {})) ? undefined : value;
  if (keyword === "$ref" || holdingOf(keyword) !== undefined) return value;
  if (keyword === "required") return Array.isArray(value) ? [...new Set(value.filter(isText))] : undefined;
  if (keyword === "examples") return Array.isArray(value) ? value : undefined;
  if (flags.has(keyword)) return typeof value === "boolean" ? value : undefined;
  if (texts.has(keyword)) return isText(value) ? value : undefined;
  return keywordProblem(keyword, value, {}) === undefined ? value : undefined;
}

const isText = (value: unknown): boolean => typeof value === "string";

/** Returns types in their spelling. */
function knownTypes(value: unknown): unknown {
  const words = [...new Set([value].flat().map((word) => (isText(word) ? String(word).toLowerCase() : word)))];
  const isKnown = words.length > 0 && words.every((word) => keywordProblem("type", word, {}) === undefined);
  if (!isKnown) return value;
  return words.length === 1 ? words[0] : words;
}
