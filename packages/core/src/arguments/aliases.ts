// Names of properties that some model service refuses, such as `$filter`, and the names under which such a service is told of them.
import type { JsonSchema } from "../interface.ts";
import { isPlainObject, setOwn } from "../json.ts";
import { freeName, withLegalCharacters } from "../names.ts";
import { walkSchema } from "./schemaParts.ts";
import { allApplied, createStepCounter, lookUpOf, schemasOfItem, schemasOfProperty } from "./steps.ts";

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
  walkSchema(schema, ({ properties, required }) => {
    if (isPlainObject(properties)) for (const name of Object.keys(properties)) names.add(name);
    if (Array.isArray(required)) for (const name of required) names.add(String(name));
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

/**
 * Makes the function that gives arguments the names of the schema where a model has used the other ones; undefined where the schema has no
 * such names. The function throws TooManySteps past their limit.
 */
export function createNameReader(schema: JsonSchema): ((args: unknown) => unknown) | undefined {
  const aliases = aliasesOf(schema);
  if (aliases.size === 0) return undefined;
  const names = new Map([...aliases].map(([name, alias]) => [alias, name]));
  const lookUp = lookUpOf(schema);
  return (args) => read(args, [schema], createStepCounter());

  function read(value: unknown, schemas: readonly unknown[], spend: (steps: number) => void): unknown {
    if (typeof value !== "object" || value === null) return value;
    const all = [...new Set(allApplied(lookUp, schemas))];
    spend(1 + all.length);
    if (Array.isArray(value)) return value.map((item, index) => read(item, schemasOfItem(all, index), spend));
    const made: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const other = names.get(key);
      const isOther = other !== undefined && !Object.hasOwn(value, other) && all.some((one) => hasProperty(one, other));
      const name = isOther ? other : key;
      setOwn(made, name, read(item, schemasOfProperty(all, name), spend));
    }
    return made;
  }
}

function hasProperty({ properties }: JsonSchema, name: string): boolean {
  return isPlainObject(properties) && Object.hasOwn(properties, name);
}
