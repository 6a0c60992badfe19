import { withWords } from "../arguments/mend.ts";
import { mapHeld } from "../arguments/schemaParts.ts";
import type { JsonSchema } from "../interface.ts";
import { clip, isPlainObject, jsonType } from "../json.ts";
import { walkReferences } from "./references.ts";

/** The strict mode that a schema is for: OpenAI's, which wants every property required; Anthropic's; or, where that is not known, both. */
export type StrictMode = "filled" | "closed" | "both";

/** Treatment of each keyword; of any other nothing is left. */
const treatments: Readonly<Record<string, string>> = {
  taken: "type required additionalProperties title description $ref enum const",
  // In words where the mode does not take them.
  limits: "pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf maxItems minItems format",
  told: "minLength maxLength uniqueItems minProperties maxProperties default",
  below: "items properties",
  inPlace: "$defs anyOf oneOf allOf",
  // No words make up for them.
  refused: `prefixItems not if then else contains propertyNames dependentRequired dependentSchemas unevaluatedProperties
    unevaluatedItems`,
};
const treatmentOf: ReadonlyMap<string, string> = new Map(
  Object.entries(treatments).flatMap(([treatment, words]) => words.split(/\s+/).map((word) => [word, treatment])),
);
const formats: ReadonlySet<unknown> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
]);

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
    const treatment = treatmentOf.get(keyword);
    if (treatment === "refused" || (keyword === "allOf" && part.mode !== "closed")) throw new NotStrict();
    const inner = treatment === "below" ? { ...part, level: part.level + 1 } : part;
    if (treatment === "below" || treatment === "inPlace")
      made[keyword === "oneOf" ? "anyOf" : keyword] = mapHeld(keyword, value, (one) => strictPart(one, inner));
    else if (treatment === "taken" || (treatment === "limits" && isTaken(keyword, value, part.mode)))
      made[keyword] = value;
    else if (treatment !== undefined) words[keyword] = value;
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

/** Returns whether a mode holds values to a limit: only OpenAI's does to most. */
function isTaken(keyword: string, value: unknown, mode: StrictMode): boolean {
  if (keyword === "format") return formats.has(value);
  return mode === "filled" || (keyword === "minItems" && Number(value) <= 1);
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
