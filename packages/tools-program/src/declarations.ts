import type { ExecutableTool, JsonSchema } from "@toolcrib/core";
import { attempt, isPlainObject } from "@toolcrib/core/internal";
import { clip, isObject } from "@toolcrib/core/text";

/** Levels of a type; what lies deeper, or in a circle, is `unknown`. */
const mostLevels = 6;
/** Members of a union or of an object that are written out. */
const mostMembers = 40;
/** Schemas that are read for one type: references may double at each level. */
const mostSchemas = 500;
/** Characters of a description in a list of declarations: its first sentence, or as much. */
const shortDescription = 160;
const longDescription = 4000;

/** Returns the declaration of a tool as a method of `tools`. `isWhole`: with all that its schema says of arguments. */
export function declarationOf(tool: ExecutableTool, { isWhole = false }: { readonly isWhole?: boolean } = {}): string {
  const { description, parameters } = tool.getSchema().function;
  const words = isWhole ? description.slice(0, longDescription) : firstSentence(description);
  const whole = (root: JsonSchema): string => typeOf(root, { root, level: 0, isWhole, left: { schemas: mostSchemas } });
  const isOptional = requiredOf(parameters).size === 0;
  const result = tool.outputSchema ? whole(tool.outputSchema) : "string";
  return `${comment(words)}\n${keyOf(tool.name)}(args${isOptional ? "?" : ""}: ${whole(parameters)}): Promise<${result}>;`;
}

/** Returns the first sentence of a description, on one line. */
export function firstSentence(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const end = /[.!?](?= |$)/.exec(line)?.index;
  const sentence = end === undefined ? line : line.slice(0, end + 1);
  return sentence.length <= shortDescription ? sentence : clip(sentence, shortDescription);
}

function comment(text: string): string {
  return `/** ${text.replaceAll("*/", "* /").replace(/\s+/g, " ").trim()} */`;
}

interface Place {
  readonly root: JsonSchema;
  readonly level: number;
  readonly isWhole: boolean;
  readonly left: { schemas: number };
}

/** Returns the TypeScript type of what a schema allows; `unknown` where there is none. Always the same text for the same schema. */
function typeOf(schema: unknown, place: Place): string {
  if (schema === false) return "never";
  place.left.schemas -= 1;
  if (!isPlainObject(schema) || place.level > mostLevels || place.left.schemas < 0) return "unknown";
  const inner = { ...place, level: place.level + 1 };
  const { $ref, const: only, enum: values, anyOf, oneOf, allOf, type } = schema;
  if (typeof $ref === "string") return typeOf(resolve($ref, place.root), inner);
  if ("const" in schema) return literal(only);
  if (Array.isArray(values)) return union(values.map(literal));
  const either = anyOf ?? oneOf;
  if (Array.isArray(either) && type === undefined && schema.properties === undefined)
    return union(either.map((one) => typeOf(one, inner)));
  if (Array.isArray(allOf) && type === undefined)
    return unique(allOf.map((one) => inBrackets(typeOf(one, inner)))).join(" & ") || "unknown";
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, place)));
  if (type === "object" || (type === undefined && isPlainObject(schema.properties))) return ofObject(schema, inner);
  return type === "array" ? ofArray(schema, inner) : (plainTypes.get(type) ?? "unknown");
}

const plainTypes: ReadonlyMap<unknown, string> = new Map([
  ...["string", "number", "boolean", "null"].map((type) => [type, type] as const),
  ["integer", "number"],
]);

function ofArray({ items, prefixItems }: Record<string, unknown>, inner: Place): string {
  if (Array.isArray(prefixItems)) {
    const first = prefixItems.slice(0, mostMembers).map((one) => typeOf(one, inner));
    return `[${[...first, ...(items === false ? [] : [`...${inBrackets(typeOf(items, inner))}[]`])].join(", ")}]`;
  }
  return `${inBrackets(typeOf(items, inner))}[]`;
}

function ofObject(schema: Record<string, unknown>, inner: Place): string {
  const { properties, additionalProperties } = schema;
  const known = isPlainObject(properties) ? Object.entries(properties) : [];
  if (known.length === 0) {
    if (additionalProperties === false) return "{}";
    return `Record<string, ${isObject(additionalProperties) ? typeOf(additionalProperties, inner) : "unknown"}>`;
  }
  const required = requiredOf(schema);
  const members = known.slice(0, mostMembers).map(([name, one]) => {
    const words = inner.isWhole && isPlainObject(one) && typeof one.description === "string" ? one.description : "";
    const note = words === "" ? "" : `${comment(words.slice(0, longDescription))} `;
    return `${note}${keyOf(name)}${required.has(name) ? "" : "?"}: ${typeOf(one, inner)}`;
  });
  if (known.length > mostMembers) members.push("[more: string]: unknown");
  return `{ ${members.join("; ")} }`;
}

function requiredOf({ required }: Record<string, unknown>): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? required : []);
}

function union(types: readonly string[]): string {
  const all = unique(types);
  const shown = all.length > mostMembers ? [...all.slice(0, mostMembers), "unknown"] : all;
  return shown.join(" | ") || "never";
}

function unique(types: readonly string[]): readonly string[] {
  return [...new Set(types)];
}

function inBrackets(type: string): string {
  return / [|&] /.test(type) ? `(${type})` : type;
}

function literal(value: unknown): string {
  if (typeof value === "object" && value !== null) return "unknown";
  const text = JSON.stringify(value);
  return text === undefined || text.length > shortDescription ? "string" : text;
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Returns what a reference within a schema leads to. */
function resolve(reference: string, root: JsonSchema): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = (attempt(() => decodeURIComponent(part)) ?? part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
