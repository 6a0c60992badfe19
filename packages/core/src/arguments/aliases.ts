// Names of properties that some model service refuses, such as `$filter`, and the names under which such a service is told of them.
import type { JsonSchema } from "../interface.ts";
import { isPlainObject, setOwn } from "../json.ts";
import { freeName, withLegalCharacters } from "../names.ts";
import { filterKeywords, resolveReference } from "./schemaParts.ts";
import { countSteps, type Spend } from "./validationCost.ts";

/** Matches a name that every service takes. */
const takenByAll = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;
const known = new WeakMap<JsonSchema, ReadonlyMap<string, string>>();

/**
 * Returns, for each name that not every service takes, another one that all do: free in the whole schema, and the same for every
 * property of that name. `schema` must not change after the first call.
 */
export function aliasesOf(schema: JsonSchema): ReadonlyMap<string, string> {
  const before = known.get(schema);
  if (before) return before;
  const names = new Set<string>();
  filterKeywords(schema, (keyword, value) => {
    if (keyword === "properties" && isPlainObject(value)) for (const name of Object.keys(value)) names.add(name);
    if (keyword === "required" && Array.isArray(value)) for (const name of value) names.add(String(name));
    return true;
  });
  const aliases = new Map<string, string>();
  for (const name of [...names]) {
    if (takenByAll.test(name)) continue;
    const plain = withLegalCharacters(name.normalize("NFKD").replace(/\p{Mark}/gu, "")).replaceAll("-", "_");
    const inner = plain.replace(/_+$|^_+(?=[a-zA-Z])/g, "").slice(0, 64);
    const first = /^[a-zA-Z]/.test(inner) ? inner : `field_${inner}`.replace(/_+$/, "").slice(0, 64);
    const alias = names.has(first) ? freeName(first, (taken) => names.has(taken)) : first;
    names.add(alias);
    aliases.set(name, alias);
  }
  known.set(schema, aliases);
  return aliases;
}

const mostSteps = 500_000;
const inPlace = ["allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas", "dependencies"] as const;

/**
 * Makes the function that gives arguments the names of the schema where a model has used the other ones; undefined where the schema has no
 * such names. The function may change its argument, and throws TooMuchWork past its limit of steps.
 */
export function createNameReader(schema: JsonSchema): ((args: unknown) => unknown) | undefined {
  const aliases = aliasesOf(schema);
  if (aliases.size === 0) return undefined;
  const names = new Map([...aliases].map(([name, alias]) => [alias, name]));
  const applied = new Map<unknown, ReadonlySet<JsonSchema>>();
  return (args) => read(args, [schema], countSteps(mostSteps));

  function read(value: unknown, schemas: readonly unknown[], spend: Spend): unknown {
    spend(1 + schemas.length);
    if (typeof value !== "object" || value === null) return value;
    const all = schemas.flatMap((one) => [...allOn(one)]);
    spend(all.length);
    if (Array.isArray(value)) {
      const inner = (index: number): unknown[] =>
        all.flatMap(({ items, prefixItems, additionalItems }) => {
          const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
          return [(Array.isArray(first) ? first[index] : undefined) ?? rest];
        });
      return value.map((item, index) => read(item, inner(index), spend));
    }
    const made: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const other = names.get(key);
      const isOther = other !== undefined && !Object.hasOwn(value, other) && all.some((one) => hasProperty(one, other));
      const name = isOther ? other : key;
      const inner = all.flatMap((one) =>
        hasProperty(one, name)
          ? [one.properties[name]]
          : [one.additionalProperties, ...Object.values(Object(one.patternProperties))],
      );
      setOwn(made, name, read(item, inner, spend));
    }
    return made;
  }

  /** Returns a schema and all that apply to the same value. */
  function allOn(part: unknown): ReadonlySet<JsonSchema> {
    const before = applied.get(part);
    if (before) return before;
    const found = new Set<JsonSchema>();
    const add = (one: unknown): void => {
      if (!isPlainObject(one) || found.has(one)) return;
      found.add(one);
      if (typeof one.$ref === "string") add(resolveReference(schema, one.$ref));
      for (const keyword of inPlace) {
        const inner = one[keyword];
        if (keyword === "then" || keyword === "else") add(inner);
        else for (const each of Object.values(Object(inner))) add(each);
      }
    };
    add(part);
    applied.set(part, found);
    return found;
  }
}

function hasProperty(
  schema: JsonSchema,
  name: string,
): schema is JsonSchema & { readonly properties: Record<string, unknown> } {
  return isPlainObject(schema.properties) && Object.hasOwn(schema.properties, name);
}
