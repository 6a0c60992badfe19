import type { JsonSchema } from "../interface.ts";
import { copyJson, isPlainObject, jsonType, setOwn } from "../json.ts";
import { plainName } from "../names.ts";
import { hasClock } from "./clockValues.ts";
import { resolveReference } from "./schemaParts.ts";
import { createStepCounter } from "./steps.ts";
import { compileQuickCheck } from "./validator.ts";

const numeral = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const deepest = 100;

interface Context {
  readonly root: JsonSchema;
  /** True for a mounted tool, to whose server null may mean something. */
  readonly keepsNull: boolean;
  /** Takes off work: a name is 1. */
  readonly spend: (work: number) => void;
}

/** Work as `spend` counts it that one step of a check pays for. */
const workPerStep = 128;
const workPerSchema = 4;
const charactersPerWork = 2;

/**
 * Corrects in place what models often get slightly wrong, where only one meaning is possible: `"10"` for a number, `"true"` for a
 * boolean, JSON text for an array or object, `null` for an optional, one item, or its JSON text, for an array of such, nothing for a
 * required argument that states a default. What already fits, or could mean several things, is left for validation to judge. `value` must be the caller's own copy.
 * Throws TooManySteps if it is too much work.
 */
export function repair(value: unknown, schema: JsonSchema, keepsNull = false): unknown {
  return repairPart(value, schema, { root: schema, keepsNull, spend: createStepCounter(workPerStep) }, 0);
}

function repairPart(value: unknown, schema: unknown, context: Context, level: number): unknown {
  if (!isPlainObject(schema) || level > deepest) return value;
  context.spend(workPerSchema);
  const { $ref, allOf, properties, items } = schema;
  let repaired = value;
  if (typeof $ref === "string")
    repaired = repairPart(repaired, resolveReference(context.root, $ref), context, level + 1);
  if (Array.isArray(allOf)) {
    for (const part of allOf) repaired = repairPart(repaired, part, context, level + 1);
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) repaired = repairByBranch(repaired, branches, context, level);
  const wanted = wantedTypes(schema);
  if (wanted) repaired = convert(repaired, wanted, schema, context);
  if (isPlainObject(repaired) && isPlainObject(properties)) {
    repairProperties(repaired, properties, schema.required, context, level);
  } else if (Array.isArray(repaired) && isPlainObject(items)) {
    for (let index = 0; index < repaired.length; index += 1) {
      repaired[index] = repairPart(repaired[index], items, context, level + 1);
    }
  }
  return repaired;
}

function repairProperties(
  target: Record<string, unknown>,
  properties: Record<string, unknown>,
  required: unknown,
  context: Context,
  level: number,
): void {
  const keys = Object.keys(target);
  const needed: ReadonlySet<string> = new Set(Array.isArray(required) ? required : []);
  context.spend(keys.length + needed.size);
  for (const key of keys) {
    if (key === "__proto__" || !Object.hasOwn(properties, key)) continue;
    const schema = properties[key];
    const optional = target[key] === null && !context.keepsNull && !needed.has(key);
    if (optional && !accepts(schema, null, context, level)) delete target[key];
    else target[key] = repairPart(target[key], schema, context, level + 1);
  }
  if (needed.size > 0) addDefaults(target, properties, needed, context, level);
}

/** The work of copying the default of a schema; 0 if it does not fit. */
const defaultWork = new WeakMap<JsonSchema, number>();

/** Adds the required arguments that are left out and state a default whose type, and in a simple schema all of it, fits. */
function addDefaults(
  target: Record<string, unknown>,
  properties: Record<string, unknown>,
  required: ReadonlySet<string>,
  context: Context,
  level: number,
): void {
  for (const key of required) {
    const schema = Object.hasOwn(properties, key) && !Object.hasOwn(target, key) ? properties[key] : undefined;
    if (!isPlainObject(schema) || schema.default === undefined) continue;
    // Its value is no part of what was accepted.
    if (context.keepsNull && hasClock(schema.default)) continue;
    let work = defaultWork.get(schema);
    if (work === undefined) {
      const fits = compileQuickCheck(schema) ?? ((value) => accepts(schema, value, context, level));
      work = fits(schema.default) ? JSON.stringify(schema.default).length : 0;
      defaultWork.set(schema, work);
    }
    context.spend(work);
    if (work > 0) setOwn(target, key, copyJson(schema.default));
  }
}

/** Repairs by a branch, if none takes the value as given and exactly one takes it repaired. */
function repairByBranch(value: unknown, branches: readonly unknown[], context: Context, level: number): unknown {
  const fitting = branches.filter((branch) => accepts(branch, value, context, level));
  if (fitting.length === 1) return repairPart(value, fitting[0], context, level + 1);
  if (fitting.length > 1 || typeof value === "object") return value;
  const results = branches
    .map((branch) => ({ branch, result: repairPart(value, branch, context, level + 1) }))
    .filter(({ branch, result }) => accepts(branch, result, context, level));
  return results.length === 1 ? results[0]?.result : value;
}

/** Returns whether the type of `value` is one that `schema` allows; nothing deeper. */
function accepts(schema: unknown, value: unknown, context: Context, level: number): boolean {
  if (!isPlainObject(schema) || level > deepest) return schema !== false;
  context.spend(workPerSchema);
  const { $ref } = schema;
  if (typeof $ref === "string" && !accepts(resolveReference(context.root, $ref), value, context, level + 1))
    return false;
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches) && !branches.some((branch) => accepts(branch, value, context, level + 1))) return false;
  const wanted = wantedTypes(schema);
  return !wanted || fits(value, wanted);
}

/** An enum, read once: its types, its values, and those texts of it that alone have a plain name. */
interface Choices {
  readonly types: readonly string[];
  readonly values: ReadonlySet<unknown>;
  readonly byName: ReadonlyMap<string, string | undefined>;
}

const choices = new WeakMap<readonly unknown[], Choices>();

function choicesOf(allowed: readonly unknown[]): Choices {
  const before = choices.get(allowed);
  if (before) return before;
  const byName = new Map<string, string | undefined>();
  for (const one of allowed) {
    if (typeof one !== "string") continue;
    const name = plainName(one);
    byName.set(name, byName.has(name) ? undefined : one);
  }
  const read = { types: [...new Set(allowed.map(jsonType))], values: new Set(allowed), byName };
  choices.set(allowed, read);
  return read;
}

function wantedTypes(schema: JsonSchema): readonly string[] | undefined {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type;
  if (Array.isArray(schema.enum)) return choicesOf(schema.enum).types;
  return "const" in schema ? [jsonType(schema.const)] : undefined;
}

function fits(value: unknown, wanted: readonly string[]): boolean {
  const type = jsonType(value);
  return wanted.includes(type) || (type === "number" && wanted.includes("integer") && Number.isInteger(value));
}

function convert(value: unknown, wanted: readonly string[], schema: JsonSchema, context: Context): unknown {
  if (fits(value, wanted)) return typeof value === "string" ? enumValue(value, schema.enum, context) : value;
  if (typeof value === "string") {
    const converted = convertText(value, wanted, context);
    if (converted !== undefined) return converted;
  }
  const wrappable = typeof value === "string" || isPlainObject(value);
  if (wrappable && wanted.includes("array") && isPlainObject(schema.items)) {
    if (accepts(schema.items, value, context, 0)) return [value];
    const object = typeof value === "string" ? convertText(value, ["object"], context) : undefined;
    return object !== undefined && accepts(schema.items, object, context, 0) ? [object] : value;
  }
  return value;
}

/** Finds `utf-8` for `utf8`: the one value of an enum that differs only in case and separators. */
function enumValue(value: string, allowed: unknown, { spend }: Context): string {
  if (!Array.isArray(allowed)) return value;
  const { values, byName } = choicesOf(allowed);
  if (values.has(value)) return value;
  spend(value.length);
  return byName.get(plainName(value)) ?? value;
}

function convertText(value: string, wanted: readonly string[], { spend }: Context): unknown {
  spend(value.length / charactersPerWork);
  const text = value.trim();
  if (wanted.includes("number") || wanted.includes("integer")) {
    const result = numeral.test(text) ? Number(text) : Number.NaN;
    // Of a whole number beyond the safe integers, digits would be lost.
    const isKept = Number.isSafeInteger(result) || (wanted.includes("number") && !/^-?\d+$/.test(text));
    if (isKept && Number.isFinite(result) && fits(result, wanted)) return result;
  }
  if (wanted.includes("boolean") && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  const opening = text[0];
  if ((opening === "[" && wanted.includes("array")) || (opening === "{" && wanted.includes("object"))) {
    spend(text.length / charactersPerWork);
    try {
      // copyJson refuses what is nested too deeply: text may be nested as deep as it is long.
      return copyJson(JSON.parse(text));
    } catch {
      return undefined;
    }
  }
  return undefined;
}
