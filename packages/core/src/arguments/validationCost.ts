import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { patternSteps } from "./patternRisk.ts";
import { resolveReference } from "./schemaParts.ts";

/** Checking would take more work than a call may cause. The message says what, and what to do next. */
export class TooMuchWork extends Error {}

/** Counts work; throws TooMuchWork past its limit. Steps, not time: the verdict is the same on every machine. */
export type Spend = (steps: number) => void;

export function countSteps(limit: number): Spend {
  let left = limit;
  return (steps) => {
    left -= steps;
    if (left < 0) throw new TooMuchWork(`that takes more than ${limit} steps; pass fewer or smaller values`);
  };
}

/** Steps of a regular expression that count as one step here. */
const patternStepsPerStep = 2000;

const inPlaceLists = ["allOf", "anyOf", "oneOf"] as const;
const inPlace = ["not", "if", "then", "else"] as const;
const forAllItems = ["additionalItems", "contains", "unevaluatedItems"] as const;

/**
 * Counts the steps of validating one value, each a schema applied to a value: walks both as the validator does; where the path depends on the
 * verdict it assumes the longer. Throws TooMuchWork past `limit`.
 */
export function spendValidation(schema: JsonSchema, value: unknown, limit: number): void {
  new CostWalk(schema, countSteps(limit)).visit(schema, value);
}

class CostWalk {
  readonly #root: JsonSchema;
  readonly #spend: Spend;
  /** The sizes of values, lists of an enum mostly: each is measured once. */
  readonly #sizes = new WeakMap<object, number>();

  constructor(root: JsonSchema, spend: Spend) {
    this.#root = root;
    this.#spend = spend;
  }

  visit(schema: unknown, value: unknown): void {
    this.#spend(1);
    if (!isPlainObject(schema)) return;
    const { $ref, $recursiveRef, enum: list, const: constant } = schema;
    if (typeof $ref === "string") this.visit(resolveReference(this.#root, $ref), value);
    if ($recursiveRef !== undefined) this.visit(this.#root, value);
    for (const key of inPlaceLists) this.#visitAll(schema[key], value);
    for (const key of inPlace) if (schema[key] !== undefined) this.visit(schema[key], value);
    if (list !== undefined) this.#spend(this.#sizeOf(list) / 16);
    if (constant !== undefined) this.#spend(this.#sizeOf(constant) / 16);
    if (Array.isArray(value)) this.#visitArray(schema, value);
    else if (isPlainObject(value)) this.#visitObject(schema, value);
    else if (typeof value === "string") this.#visitString(schema, value);
  }

  #visitAll(schemas: unknown, value: unknown): void {
    if (Array.isArray(schemas)) for (const schema of schemas) this.visit(schema, value);
  }

  #visitObject(schema: JsonSchema, value: Record<string, unknown>): void {
    const keys = Object.keys(value);
    const { properties, required, patternProperties, additionalProperties, unevaluatedProperties, propertyNames } =
      schema;
    const own = isPlainObject(properties) ? properties : {};
    if (isPlainObject(properties)) this.#spend(Object.keys(properties).length / 16);
    if (Array.isArray(required)) this.#spend(required.length / 8);
    const patterns = isPlainObject(patternProperties) ? Object.entries(patternProperties) : [];
    for (const key of keys) {
      const item = value[key];
      this.#spend(key.length / 64);
      if (Object.hasOwn(own, key)) this.visit(own[key], item);
      else {
        if (additionalProperties !== undefined) this.visit(additionalProperties, item);
        if (unevaluatedProperties !== undefined) this.visit(unevaluatedProperties, item);
      }
      if (propertyNames !== undefined) this.visit(propertyNames, key);
      for (const [pattern, inner] of patterns) {
        this.#matchPattern(pattern, key);
        this.visit(inner, item);
      }
    }
    for (const dependents of [schema.dependentSchemas, schema.dependencies, schema.dependentRequired]) {
      if (!isPlainObject(dependents)) continue;
      for (const key of Object.keys(dependents)) {
        const dependent = dependents[key];
        if (Array.isArray(dependent)) this.#spend(dependent.length / 8);
        else if (Object.hasOwn(value, key)) this.visit(dependent, value);
      }
    }
  }

  #visitArray(schema: JsonSchema, value: readonly unknown[]): void {
    const { items, prefixItems } = schema;
    const firstItems = [prefixItems, items].find(Array.isArray) ?? [];
    for (const [index, item] of value.entries()) {
      if (index < firstItems.length) this.visit(firstItems[index], item);
      if (isPlainObject(items)) this.visit(items, item);
      for (const key of forAllItems) if (schema[key] !== undefined) this.visit(schema[key], item);
    }
    // Every item is compared with every other: objects key by key, strings up to their ends.
    if (schema.uniqueItems) this.#spend((value.length * (value.length + this.#sizeOf(value))) / 256);
  }

  #visitString(schema: JsonSchema, value: string): void {
    const { minLength, maxLength, pattern, format } = schema;
    if (minLength !== undefined || maxLength !== undefined) this.#spend(value.length / 2048);
    if (typeof pattern === "string") this.#matchPattern(pattern, value);
    if (format !== undefined) this.#spend(value.length / 256);
  }

  #matchPattern(pattern: string, text: string): void {
    this.#spend(pattern.length / 64 + patternSteps(pattern, text.length) / patternStepsPerStep);
  }

  /** Counts the values, long text weighing more. */
  #sizeOf(value: unknown): number {
    if (typeof value === "string") return 1 + value.length / 64;
    if (typeof value !== "object" || value === null) return 1;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    let size = 1;
    for (const item of Object.values(value)) size += this.#sizeOf(item);
    this.#sizes.set(value, size);
    return size;
  }
}
