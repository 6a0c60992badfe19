import type { ChatTool, JsonSchema } from "@toolcrib/core";
import { isPlainObject, walkSchema } from "@toolcrib/core/internal";
import type { Abilities } from "../../provider.ts";
import type { ModelRules } from "./modelRules.ts";

/** Keywords that services hold an answer to. Those of `$defs`, `definitions` and `properties` are names of schemas. */
const held = ["type", "properties", "required", "items", "anyOf", "enum", "const", "$ref", "$defs", "definitions"];
const words = ["title", "description"];
/** Limits that services refuse in a schema. The model reads them in the description, and the answer is checked against them. */
const limits = [
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"],
  ...["format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "default"],
];
const ignored = [
  "$schema",
  "$id",
  "$comment",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "additionalProperties",
];

/** The services' limits for one request. */
const mostOptional = 24;
const mostUnions = 16;
const mostStrictTools = 20;

/** Returns what a model can be asked for by its rules; `isFull`: at an address that takes all that the service takes. */
export function abilitiesOf(rules: ModelRules | undefined, forcedTools: boolean, isFull: boolean): Abilities {
  const isFormatted = isFull && rules?.answerFormat === true;
  return { forcedTools, answersBy: (schema) => isFormatted && toAnswerFormat(schema) !== undefined };
}

/** A schema as the format of an answer. */
export interface AnswerFormat {
  readonly schema: JsonSchema;
  /** True if every property is required, which OpenAI's strict form asks for. */
  readonly strict: boolean;
}

/** Returns the schema in the form that all services take; undefined for one that cannot be put so (recursive, open objects, `not`). */
export function toAnswerFormat(root: JsonSchema): AnswerFormat | undefined {
  const count = { optional: 0, unions: 0 };
  try {
    const schema = closed(root, { root, within: [], count });
    if (count.optional > mostOptional || count.unions > mostUnions) return undefined;
    return { schema, strict: count.optional === 0 };
  } catch (error) {
    if (error instanceof NotTaken) return undefined;
    throw error;
  }
}

/**
 * Returns, of tools in an order that stays, those that may not be strict, since Anthropic's limits are reached by the ones before
 * them. A tool is only strict where it has no optional parameter.
 */
export function beyondStrictLimits(tools: readonly ChatTool[]): ReadonlySet<ChatTool> {
  const beyond = new Set<ChatTool>();
  let [count, unions] = [0, 0];
  for (const tool of tools) {
    if (tool.function.strict !== true) continue;
    const own = unionsIn(tool.function.parameters);
    if (count === mostStrictTools || unions + own > mostUnions) beyond.add(tool);
    else [count, unions] = [count + 1, unions + own];
  }
  return beyond;
}

function unionsIn(schema: JsonSchema): number {
  let count = 0;
  walkSchema(schema, ({ anyOf, oneOf, type }) => {
    if ([anyOf, oneOf, type].some(Array.isArray)) count += 1;
  });
  return count;
}

class NotTaken extends Error {}

interface Place {
  readonly root: JsonSchema;
  /** References that lead here. */
  readonly within: readonly string[];
  readonly count: { optional: number; unions: number };
}

function closed(schema: unknown, place: Place): JsonSchema {
  if (!isPlainObject(schema)) throw new NotTaken();
  const made: Record<string, unknown> = {};
  const said: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (limits.includes(keyword)) said[keyword] = value;
    else if (keyword === "oneOf") made.anyOf = inner("anyOf", value, place);
    else if (held.includes(keyword)) made[keyword] = inner(keyword, value, place);
    else if (words.includes(keyword)) made[keyword] = value;
    else if (!ignored.includes(keyword)) throw new NotTaken();
  }
  if (made.type === "object" || isPlainObject(made.properties)) closeObject(schema, made, place);
  if (made.anyOf !== undefined || Array.isArray(made.type)) place.count.unions += 1;
  if (Object.keys(said).length > 0)
    made.description = [made.description, `Must fit ${JSON.stringify(said)}.`].filter(Boolean).join(" ");
  return made;
}

/** Closes an object, unless it names no properties: then it may have any. */
function closeObject(schema: JsonSchema, made: Record<string, unknown>, { count }: Place): void {
  const { additionalProperties: more, required } = schema;
  const names = Object.keys(isPlainObject(made.properties) ? made.properties : {});
  if (isPlainObject(more) || (names.length === 0 && more !== false)) throw new NotTaken();
  made.additionalProperties = false;
  count.optional += names.filter((name) => !(Array.isArray(required) && required.includes(name))).length;
}

function inner(keyword: string, value: unknown, place: Place): unknown {
  switch (keyword) {
    case "properties":
    case "$defs":
    case "definitions":
      if (!isPlainObject(value)) throw new NotTaken();
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one, place)]));
    case "anyOf":
      if (!Array.isArray(value)) throw new NotTaken();
      return value.map((one) => closed(one, place));
    case "items":
      return closed(value, place);
    case "$ref":
      refuseCircle(value, place);
      return value;
    case "enum":
      if (!Array.isArray(value) || value.some((one) => typeof one === "object" && one !== null)) throw new NotTaken();
      return value;
    default:
      return value;
  }
}

/** Follows a reference, to find one that leads back to itself. */
function refuseCircle(reference: unknown, place: Place): void {
  const [, folder = "", name = ""] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(String(reference)) ?? [];
  const folderOf = place.root[folder];
  const target = isPlainObject(folderOf) ? folderOf[name] : undefined;
  if (!isPlainObject(target) || place.within.includes(name)) throw new NotTaken();
  closed(target, { ...place, within: [...place.within, name], count: { optional: 0, unions: 0 } });
}
