import { withWords } from "../arguments/mend.ts";
import { mapHeld } from "../arguments/schemaParts.ts";
import type { JsonSchema } from "../interface.ts";
import { clip, isPlainObject, jsonType } from "../json.ts";
import { walkReferences } from "./references.ts";

/** The strict mode that a schema is for: OpenAI's, which wants every property required; Anthropic's; or, where that is not known, both. */
export type StrictMode = "filled" | "closed" | "both";

const kept: ReadonlySet<string> = new Set(["type", "required", "additionalProperties", "title", "description"]);
/** Keywords that only OpenAI holds values to. */
const limits: ReadonlySet<string> = new Set([
  ...["pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems"],
]);
const formats: ReadonlySet<unknown> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
]);
/** Keywords that are told in words instead. */
const told: ReadonlySet<string> = new Set([
  ...[...limits, "format", "minItems", "minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"],
  "default",
]);
/** Keywords that no strict mode takes, and no words make up for. */
const refused: ReadonlySet<string> = new Set([
  ...["prefixItems", "not", "if", "then", "else", "contains", "propertyNames", "dependentRequired", "dependentSchemas"],
  ...["unevaluatedProperties", "unevaluatedItems"],
]);

const inPlace: ReadonlySet<string> = new Set(["$defs", "anyOf", "oneOf", "allOf"]);

const mostProperties = 5000;
const mostLevels = 10;
const mostCharacters = 120_000;
const mostValues = 1000;
const mostInLongEnum = 250;
const mostCharactersOfEnum = 15_000;

class NotStrict extends Error {}

/** Returns a schema in the words of strict mode; undefined for one that it does not take. */
export function strictSchema(root: JsonSchema, mode: StrictMode): JsonSchema | undefined {
  try {
    if (mode !== "filled" && walkReferences(root).circles.size > 0) return undefined;
    const count = { properties: 0, characters: 0, values: 0 };
    const schema = strictPart(root, { mode, level: 0, count });
    const isSmall =
      count.properties <= mostProperties && count.characters <= mostCharacters && count.values <= mostValues;
    return isSmall || mode === "closed" ? schema : undefined;
  } catch (error) {
    if (error instanceof NotStrict) return undefined;
    throw error;
  }
}

interface Part {
  readonly mode: StrictMode;
  readonly level: number;
  readonly count: { properties: number; characters: number; values: number };
}

function strictPart(schema: unknown, part: Part): JsonSchema {
  if (!isPlainObject(schema) || part.level > mostLevels) throw new NotStrict();
  const made: Record<string, unknown> = {};
  const words: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (refused.has(keyword)) throw new NotStrict();
    const inner = innerOf(keyword, value, part);
    if (inner !== undefined) made[keyword === "oneOf" ? "anyOf" : keyword] = inner;
    else if (told.has(keyword)) words[keyword] = value;
  }
  checkObject(made, part);
  checkValues(made, part);
  const { $ref, $defs: _, ...beside } = made;
  const alone = $ref === undefined || Object.keys(beside).length === 0;
  if (!alone && Object.keys(beside).some((keyword) => keyword !== "description" && keyword !== "title"))
    throw new NotStrict();
  const own = alone ? made : { ...beside, anyOf: [{ $ref }] };
  if (!["type", "anyOf", "allOf", "$ref"].some((keyword) => keyword in own)) throw new NotStrict();
  return Object.keys(words).length === 0 ? own : withWords(own, `Must fit ${clip(JSON.stringify(words), 300)}.`);
}

/** Returns the value of a keyword that strict mode takes. */
function innerOf(keyword: string, value: unknown, part: Part): unknown {
  const { mode } = part;
  if (kept.has(keyword) || keyword === "$ref") return value;
  if (keyword === "enum" || keyword === "const") return value;
  if (keyword === "format") return formats.has(value) ? value : undefined;
  if (limits.has(keyword)) return mode === "filled" ? value : undefined;
  if (keyword === "minItems") return mode === "filled" || Number(value) <= 1 ? value : undefined;
  if (keyword === "items" || keyword === "properties")
    return mapHeld(keyword, value, (one) => strictPart(one, { ...part, level: part.level + 1 }));
  if (keyword === "allOf" && mode !== "closed") throw new NotStrict();
  return inPlace.has(keyword) ? mapHeld(keyword, value, (one) => strictPart(one, part)) : undefined;
}

/** Only closed objects are taken; OpenAI wants all their properties required. */
function checkObject({ type, properties, required, additionalProperties }: JsonSchema, { mode, count }: Part): void {
  if (additionalProperties !== undefined && additionalProperties !== false) throw new NotStrict();
  if (type !== "object" && !(Array.isArray(type) && type.includes("object")) && properties === undefined) return;
  const names = Object.keys(Object(properties));
  const isFilled = names.every((name) => Array.isArray(required) && required.includes(name));
  if (additionalProperties !== false || (mode !== "closed" && !isFilled)) throw new NotStrict();
  count.properties += names.length;
  count.characters += names.join("").length;
}

/** Only plain values are taken, and a type beside them. */
function checkValues(made: Record<string, unknown>, { mode, count }: Part): void {
  const values: unknown[] = "const" in made ? [made.const] : Array.isArray(made.enum) ? made.enum : [];
  if (values.length === 0) return;
  if (values.some((value) => typeof value === "object" && value !== null)) throw new NotStrict();
  const types = [...new Set(values.map(jsonType))];
  made.type ??= types.length === 1 ? types[0] : types;
  const length = values.join("").length;
  count.values += values.length;
  count.characters += length;
  if (mode !== "closed" && values.length > mostInLongEnum && length > mostCharactersOfEnum) throw new NotStrict();
}
