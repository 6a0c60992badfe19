import type { JsonSchema } from "@toolcrib/core";
import { canonicalJson, filterKeywords } from "@toolcrib/core/internal";
import { argumentAt, argumentsOf } from "./argumentPath.ts";

/** The schema of a tool's arguments, and the defaults that it declares beside the schema. */
export interface Arguments {
  readonly parameters: JsonSchema;
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** A default that is another, or is no longer stated. */
export interface DefaultChange {
  readonly kind: "default";
  readonly path: string;
  readonly detail: string;
}

/**
 * Lists defaults that changed. One that was not stated before is no change, and neither is one of an argument that `isGone`: that
 * is told already.
 */
export function changedDefaults(
  before: Arguments,
  after: Arguments,
  isGone: (path: string) => boolean,
): DefaultChange[] {
  const [old, now] = [defaultsOf(before.parameters), defaultsOf(after.parameters)];
  const changes = new Map<string, DefaultChange>();
  const add = (path: string, was: string, is: string | undefined): void => {
    const detail = is === undefined ? `was ${was} and is no longer stated` : `was ${was} and is ${is}`;
    if (was !== is) changes.set(JSON.stringify([path, detail]), { kind: "default", path, detail });
  };
  const nameOf = argumentsOf(before.parameters);
  const places = placesOf(after.parameters);
  for (const [pointer, was] of old) {
    const path = nameOf(pointer);
    const goneAt = (place: string): boolean => !places.has(place) && isGone(argumentAt(place));
    if (!parentsOf(pointer).some(goneAt)) add(path, was, now.get(pointer) ?? declared(after, path));
  }
  const told = new Set([...changes.values()].map(({ path }) => path));
  const statedAt = byPath(old, nameOf);
  const statedNow = byPath(now, argumentsOf(after.parameters));
  for (const path of Object.keys(before.defaults ?? {})) {
    const was = declared(before, path);
    if (was === undefined || told.has(path) || parentsOfPath(path).some(isGone)) continue;
    const earlier = [was, ...(statedAt.get(path) ?? [])];
    const values = [declared(after, path), ...(statedNow.get(path) ?? [])].filter((value) => value !== undefined);
    const other = values.find((value) => !earlier.includes(value));
    if (other !== undefined || !values.includes(was)) add(path, was, other ?? values[0]);
  }
  return [...changes.values()];
}

/** Returns a default as JSON text. */
function declared({ defaults = {} }: Arguments, path: string): string | undefined {
  return Object.hasOwn(defaults, path) ? canonicalJson(defaults[path]) : undefined;
}

/** Maps the JSON Pointer of a schema to its default as JSON text. */
function defaultsOf(schema: JsonSchema): Map<string, string> {
  const found = new Map<string, string>();
  filterKeywords(schema, (keyword, value, at) => {
    if (keyword === "default") found.set(at, canonicalJson(value));
    return true;
  });
  return found;
}

function placesOf(schema: JsonSchema): Set<string> {
  const found = new Set<string>();
  filterKeywords(schema, (_, __, at) => {
    found.add(at);
    return true;
  });
  return found;
}

function byPath(defaults: ReadonlyMap<string, string>, nameOf: (pointer: string) => string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [pointer, value] of defaults) {
    const path = nameOf(pointer);
    found.set(path, [...(found.get(path) ?? []), value]);
  }
  return found;
}

/** Lists a pointer and those above it: `/a/b` has `/a` and itself. */
function parentsOf(pointer: string): string[] {
  const parts = pointer.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** Lists a path and those above it: `edits[].all` has `edits`, `edits[]` and itself. */
function parentsOfPath(path: string): string[] {
  return [...[...path.matchAll(/\.|\[\]/g)].map(({ index }) => path.slice(0, index)), path];
}
