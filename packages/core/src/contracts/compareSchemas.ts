import type { JsonSchema } from "../interface.ts";
import { canonicalJson, isPlainObject } from "../json.ts";
import { narrowings } from "./narrowings.ts";

/** How one place of a schema takes other values than before. */
export interface SchemaChange {
  readonly kind:
    | "argument-required"
    | "argument-gone"
    | "argument-added"
    | "narrowed"
    | "widened"
    | "default"
    | "incomparable";
  /** Such as `edits[].old_text`; empty for the whole. */
  readonly path: string;
  /** What differs, in words. */
  readonly detail: string;
}

/**
 * How the values that fit `after` differ from those that fit `before`. Without a change of kind `argument-required`, `argument-gone`,
 * `narrowed` or `incomparable` every value that fits `before` fits `after`: what cannot be decided is a change.
 */
export function compareSchemas(before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const taken = narrowings(before, after);
  const given = narrowings(after, before);
  const isTaken = new Set(taken.map(({ path }) => path));
  const additions = given.flatMap(({ kind, path, reversed, detail }): SchemaChange[] => {
    if (isTaken.has(path) || kind === "incomparable") return [];
    return kind === "argument-gone"
      ? [{ kind: "argument-added", path, detail: "is new" }]
      : [{ kind: "widened", path, detail: reversed ?? detail }];
  });
  return [...taken.map(({ kind, path, detail }) => ({ kind, path, detail })), ...defaults(before, after), ...additions];
}

/** Defaults that are others, of arguments that are on both sides. One that was not stated before is no change. */
function defaults(before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const now = defaultsOf(after);
  return [...defaultsOf(before)].flatMap(([path, was]) =>
    was !== undefined && now.has(path) ? defaultChange(path, was, now.get(path)) : [],
  );
}

/** Of two defaults as JSON text; undefined for one that is not stated. */
export function defaultChange(path: string, was: string, is: string | undefined): SchemaChange[] {
  if (was === is) return [];
  const detail = is === undefined ? `was ${was} and is no longer stated` : `was ${was} and is ${is}`;
  return [{ kind: "default", path, detail }];
}

/** By the path of an argument: its default as JSON text, undefined where it states none. */
function defaultsOf(
  schema: JsonSchema,
  path = "",
  found = new Map<string, string | undefined>(),
): Map<string, string | undefined> {
  const { properties, items } = schema;
  found.set(path, "default" in schema ? canonicalJson(schema.default) : undefined);
  for (const [name, inner] of Object.entries(isPlainObject(properties) ? properties : {})) {
    if (isPlainObject(inner)) defaultsOf(inner, path === "" ? name : `${path}.${name}`, found);
  }
  if (isPlainObject(items)) defaultsOf(items, `${path}[]`, found);
  return found;
}
