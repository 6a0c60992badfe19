import { withWords } from "../arguments/mend.ts";
import { mapSchemas, walkSchema } from "../arguments/schemaParts.ts";
import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";

const start = "#/$defs/";

/** Returns the name in `$defs` that a reference of a plain schema has. */
export function definitionName({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === "string" && $ref.startsWith(start) ? $ref.slice(start.length) : undefined;
}

export function definitionsOf({ $defs }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return isPlainObject($defs) ? ($defs as Record<string, JsonSchema>) : {};
}

/** Returns the schema that a reference leads to; any other schema itself. */
export function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const name = definitionName(schema);
  return name === undefined ? schema : (definitionsOf(root)[name] ?? {});
}

/** Returns the names that a schema refers to, without its `$defs`. */
export function namesIn({ $defs: _, ...schema }: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>();
  walkSchema(schema, (own) => {
    const name = definitionName(own);
    if (name !== undefined) names.add(name);
  });
  return names;
}

/**
 * Walks the references from the top. Returns the names that it meets, and the references that lead back to where they stand: from a
 * definition to those around it.
 */
export function walkReferences(root: JsonSchema): {
  readonly met: ReadonlySet<string>;
  readonly circles: ReadonlyMap<string, ReadonlySet<string>>;
} {
  const definitions = definitionsOf(root);
  const met = new Set<string>();
  const circles = new Map<string, Set<string>>();
  const around = new Set<string>();
  const walk = (schema: JsonSchema, own: string): void => {
    for (const name of namesIn(schema)) {
      if (around.has(name)) circles.set(own, (circles.get(own) ?? new Set()).add(name));
      if (met.has(name)) continue;
      met.add(name);
      around.add(name);
      walk(definitions[name] ?? {}, name);
      around.delete(name);
    }
  };
  walk(root, "");
  return { met, circles };
}

/** Returns a schema in which no reference leads back to where it stands: there the form is told in words. */
export function withoutCircles(root: JsonSchema): JsonSchema {
  const definitions = definitionsOf(root);
  const { circles } = walkReferences(root);
  const cut = (schema: JsonSchema, own: string): JsonSchema =>
    mapSchemas(schema, (one) => {
      const name = definitionName(one);
      return name !== undefined && circles.get(own)?.has(name) ? withoutReference(one, name, definitions[name]) : one;
    });
  const entries = Object.entries(definitions).map(([name, one]): [string, JsonSchema] => [name, cut(one, name)]);
  return circles.size === 0 ? root : { ...root, $defs: Object.fromEntries(entries) };
}

function withoutReference({ $ref: _, ...rest }: JsonSchema, name: string, target: JsonSchema = {}): JsonSchema {
  return withWords({ ...outlineOf(target), ...rest }, `It has the form of ${name} again.`);
}

/** Returns the type of a schema without its parts. */
export function outlineOf({ type }: JsonSchema): JsonSchema {
  if (typeof type !== "string") return {};
  return type === "array" ? { type, items: {} } : { type };
}

/** Returns a schema without the definitions that nothing leads to. */
export function withoutUnused({ $defs, ...schema }: JsonSchema): JsonSchema {
  const { met } = walkReferences({ ...schema, ...($defs !== undefined && { $defs }) });
  const used = Object.entries(definitionsOf({ $defs })).filter(([name]) => met.has(name));
  return used.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(used) };
}
