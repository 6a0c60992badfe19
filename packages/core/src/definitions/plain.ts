import { withWords } from "../arguments/mend.ts";
import { holdingOf, pointerName, resolveReference } from "../arguments/schemaParts.ts";
import type { JsonSchema } from "../interface.ts";
import { canonicalJson, clip, isPlainObject, setOwn } from "../json.ts";

/** Keywords that say nothing about values, or are put otherwise. */
const gone: ReadonlySet<string> = new Set([
  ...["$schema", "$id", "id", "$anchor", "$comment", "$vocabulary", "$dynamicAnchor", "$recursiveAnchor"],
  ...["$defs", "definitions", "prefixItems", "items", "additionalItems", "dependencies", "patternProperties"],
]);

/** Keywords beside which a missing type may mean more than one. */
const untyped = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if"];

/**
 * Returns parameters in the words of draft 2020-12 that every service reads alike: no schema is true or false, every array has `items`,
 * every reference leads to `$defs`, and patterns of names are told in the description.
 */
export function plainSchema(root: JsonSchema): JsonSchema {
  return new Plain(root).schema();
}

class Plain {
  readonly #root: JsonSchema;
  readonly #names = new Map<unknown, string>();
  readonly #definitions: Record<string, JsonSchema> = {};

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  schema(): JsonSchema {
    const schema = { ...this.#convert(this.#root), type: "object" };
    return Object.keys(this.#definitions).length === 0 ? schema : { ...schema, $defs: this.#definitions };
  }

  #convert(value: unknown): JsonSchema {
    if (!isPlainObject(value)) return value === false ? { not: {} } : {};
    const made: Record<string, unknown> = {};
    for (const [keyword, inner] of Object.entries(value)) {
      const holding = gone.has(keyword) ? "gone" : holdingOf(keyword);
      if (holding === "list") Object.assign(made, this.#convertList(keyword, inner));
      else if (holding === "named") made[keyword] = this.#convertMap(inner);
      else if (holding === "one")
        made[keyword] = typeof inner === "boolean" && keyword.endsWith("Properties") ? inner : this.#convert(inner);
      else if (holding === undefined) this.#put(made, keyword, inner, value);
    }
    if (isPlainObject(value.dependencies)) this.#putDependencies(made, value.dependencies);
    this.#putItems(made, value);
    if (made.type === undefined && !untyped.some((keyword) => keyword in made)) {
      if ("properties" in made) made.type = "object";
      else if ("items" in made) made.type = "array";
    }
    return isPlainObject(value.patternProperties) ? this.#withPatterns(made, value.patternProperties) : made;
  }

  #put(made: Record<string, unknown>, keyword: string, inner: unknown, value: JsonSchema): void {
    switch (keyword) {
      case "$ref":
      case "$dynamicRef":
      case "$recursiveRef":
        Object.assign(made, this.#refer(String(inner)));
        break;
      case "minimum":
      case "maximum":
        if (value[keyword === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"] !== true) made[keyword] = inner;
        break;
      case "exclusiveMinimum":
      case "exclusiveMaximum": {
        const bound = inner === true ? value[keyword === "exclusiveMinimum" ? "minimum" : "maximum"] : inner;
        if (typeof bound === "number") made[keyword] = bound;
        break;
      }
      case "enum":
        if (Array.isArray(inner) && inner.length > 0) made.enum = distinct(inner);
        break;
      default:
        setOwn(made, keyword, inner);
    }
  }

  #refer(reference: string): JsonSchema {
    const target = endOf(this.#root, reference);
    if (!isPlainObject(target)) return this.#convert(target);
    let name = this.#names.get(target);
    if (name === undefined) {
      name = freeDefinition(reference, this.#definitions);
      this.#names.set(target, name);
      this.#definitions[name] = {};
      this.#definitions[name] = this.#convert(target);
    }
    return { $ref: `#/$defs/${name}` };
  }

  #convertList(keyword: string, list: unknown): JsonSchema {
    if (!Array.isArray(list) || list.length === 0) return {};
    const some = keyword === "allOf" ? list : list.filter((one) => one !== false);
    return { [keyword]: (some.length > 0 ? some : list).map((one) => this.#convert(one)) };
  }

  #convertMap(map: unknown): JsonSchema {
    const entries = Object.entries(Object(map)).filter(([, one]) => one !== false);
    return Object.fromEntries(entries.map(([name, one]) => [name, this.#convert(one)]));
  }

  #putDependencies(made: Record<string, unknown>, dependencies: JsonSchema): void {
    const required = Object.entries(dependencies).filter(([, one]) => Array.isArray(one));
    const schemas = Object.entries(dependencies).filter(([, one]) => !Array.isArray(one));
    if (required.length > 0) made.dependentRequired = Object.fromEntries(required);
    if (schemas.length > 0) made.dependentSchemas = this.#convertMap(Object.fromEntries(schemas));
  }

  /** Gives an array its `items`, and a tuple `prefixItems`. */
  #putItems(made: Record<string, unknown>, value: JsonSchema): void {
    const { items, additionalItems, prefixItems } = value;
    const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
    const tuple: readonly unknown[] = Array.isArray(first) ? first : [];
    if (tuple.length === 0 && rest === undefined && !isOf(value.type, "array")) return;
    if (tuple.length > 0) made.prefixItems = tuple.map((one) => this.#convert(one));
    made.items = rest === false ? {} : this.#convert(rest);
    if (rest === false) made.maxItems = Math.min(Number(value.maxItems ?? tuple.length), tuple.length);
  }

  #withPatterns(made: Record<string, unknown>, patterns: JsonSchema): JsonSchema {
    const entries = Object.entries(patterns).filter(([, one]) => one !== false);
    if (entries.length === 0) return made;
    const schemas = distinct(entries.map(([, one]) => this.#convert(one)));
    if (made.additionalProperties === false)
      made.additionalProperties = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
    const said = entries.map(([pattern, one]) => `${JSON.stringify(pattern)}: ${clip(JSON.stringify(one), 300)}`);
    return withWords(made, `Names may match ${said.join(" or ")}.`);
  }
}

export function isOf(type: unknown, word: string): boolean {
  return type === word || (Array.isArray(type) && type.includes(word));
}

export function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}

/** Follows a reference to the first schema that says more than another reference. */
function endOf(root: JsonSchema, reference: string): unknown {
  const seen = new Set<string>();
  for (let next = reference; !seen.has(next); ) {
    seen.add(next);
    const target = resolveReference(root, next);
    if (!isPlainObject(target) || typeof target.$ref !== "string" || Object.keys(target).length > 1) return target;
    next = target.$ref;
  }
  return undefined;
}

/** Returns a name for `$defs` that needs no escapes. */
function freeDefinition(reference: string, taken: JsonSchema): string {
  const last = pointerName(reference.split(/[/#]/).at(-1) ?? "");
  const plain = last.replace(/[^a-zA-Z0-9_]/g, "_").replace(/^_+|_+$/g, "") || "root";
  let name = plain;
  for (let number = 2; Object.hasOwn(taken, name); number += 1) name = `${plain}_${number}`;
  return name;
}
