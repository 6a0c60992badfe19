import type { JsonSchema } from "./interface.ts";
import { isPlainObject, jsonType } from "./json.ts";
import { plainName } from "./names.ts";
import { resolveReference } from "./reference.ts";

const numeral = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const deepest = 100;

/**
 * Mends in place what models commonly get slightly wrong and what has one meaning: `"10"` for a number, `"true"` for a
 * boolean, JSON text for an array or object, `null` for an optional, one item, or its JSON text, for an array of such. What
 * already fits, or has no one meaning, is left as it is for validation to judge. `value` must be the caller's own copy.
 */
export function repair(value: unknown, schema: unknown, root: JsonSchema, level = 0): unknown {
  if (!isPlainObject(schema) || level > deepest) return value;
  const { $ref, allOf, properties, items } = schema;
  let mended = value;
  if (typeof $ref === "string") mended = repair(mended, resolveReference(root, $ref), root, level + 1);
  if (Array.isArray(allOf)) {
    for (const part of allOf) mended = repair(mended, part, root, level + 1);
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) mended = repairByBranch(mended, branches, root, level);
  const wanted = wantedTypes(schema);
  if (wanted) mended = convert(mended, wanted, schema, root);
  if (isPlainObject(mended) && isPlainObject(properties)) {
    repairProperties(mended, properties, schema.required, root, level);
  } else if (Array.isArray(mended) && isPlainObject(items)) {
    for (let index = 0; index < mended.length; index += 1) {
      mended[index] = repair(mended[index], items, root, level + 1);
    }
  }
  return mended;
}

function repairProperties(
  target: Record<string, unknown>,
  properties: Record<string, unknown>,
  required: unknown,
  root: JsonSchema,
  level: number,
): void {
  for (const key of Object.keys(target)) {
    if (key === "__proto__" || !Object.hasOwn(properties, key)) continue;
    const schema = properties[key];
    const optional = !(Array.isArray(required) && required.includes(key));
    if (target[key] === null && optional && !accepts(schema, null, root, level)) delete target[key];
    else target[key] = repair(target[key], schema, root, level + 1);
  }
}

/** Only where no branch takes the value as it is, and just one takes it repaired. */
function repairByBranch(value: unknown, branches: readonly unknown[], root: JsonSchema, level: number): unknown {
  const fitting = branches.filter((branch) => accepts(branch, value, root, level));
  if (fitting.length === 1) return repair(value, fitting[0], root, level + 1);
  if (fitting.length > 1 || typeof value === "object") return value;
  const results = branches
    .map((branch) => ({ branch, result: repair(value, branch, root, level + 1) }))
    .filter(({ branch, result }) => accepts(branch, result, root, level));
  return results.length === 1 ? results[0]?.result : value;
}

/** Whether the type of `value` is one that `schema` allows; nothing deeper. */
function accepts(schema: unknown, value: unknown, root: JsonSchema, level: number): boolean {
  if (!isPlainObject(schema) || level > deepest) return schema !== false;
  const { $ref } = schema;
  if (typeof $ref === "string" && !accepts(resolveReference(root, $ref), value, root, level + 1)) return false;
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches) && !branches.some((branch) => accepts(branch, value, root, level + 1))) return false;
  const wanted = wantedTypes(schema);
  return !wanted || fits(value, wanted);
}

function wantedTypes(schema: JsonSchema): readonly string[] | undefined {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type;
  if (Array.isArray(schema.enum)) return [...new Set(schema.enum.map(jsonType))];
  return "const" in schema ? [jsonType(schema.const)] : undefined;
}

function fits(value: unknown, wanted: readonly string[]): boolean {
  const type = jsonType(value);
  return wanted.includes(type) || (type === "number" && wanted.includes("integer") && Number.isInteger(value));
}

function convert(value: unknown, wanted: readonly string[], schema: JsonSchema, root: JsonSchema): unknown {
  if (fits(value, wanted)) return typeof value === "string" ? enumValue(value, schema.enum) : value;
  if (typeof value === "string") {
    const converted = convertText(value, wanted);
    if (converted !== undefined) return converted;
  }
  const wrappable = typeof value === "string" || isPlainObject(value);
  if (wrappable && wanted.includes("array") && isPlainObject(schema.items)) {
    if (accepts(schema.items, value, root, 0)) return [value];
    const object = typeof value === "string" ? convertText(value, ["object"]) : undefined;
    return object !== undefined && accepts(schema.items, object, root, 0) ? [object] : value;
  }
  return value;
}

/** `utf-8` for `utf8`: the one value of an enum that differs only in case and separators. */
function enumValue(value: string, allowed: unknown): unknown {
  if (!Array.isArray(allowed) || allowed.includes(value)) return value;
  const same = allowed.filter((item) => typeof item === "string" && plainName(item) === plainName(value));
  return same.length === 1 ? same[0] : value;
}

function convertText(value: string, wanted: readonly string[]): unknown {
  const text = value.trim();
  if (wanted.includes("number") || wanted.includes("integer")) {
    const result = numeral.test(text) ? Number(text) : Number.NaN;
    if (Number.isFinite(result) && fits(result, wanted)) return result;
  }
  if (wanted.includes("boolean") && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  const opening = text[0];
  if ((opening === "[" && wanted.includes("array")) || (opening === "{" && wanted.includes("object"))) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }
  return undefined;
}
