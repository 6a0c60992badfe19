import type { JsonSchema } from "@toolcrib/core";
import { canonicalJson, walkSchema } from "@toolcrib/core/internal";
import { argumentAt, argumentsOf } from "./argumentPath.ts";

/** The schema of a tool's arguments, and the defaults that it declares beside the schema. */
export interface Arguments {
  readonly parameters: JsonSchema;
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/**
 * Lists defaults that changed. One that was not stated before is no change, and neither is one of an argument that `isGone`: that
 * is told already.
 */
export function changedDefaults(
  before: Arguments,
  after: Arguments,
  isGone: (path: string) => boolean,
): { readonly kind: "default"; readonly path: string; readonly detail: string }[] {
  const places = new Set<string>();
  walkSchema(after.parameters, (_, at) => void places.add(at));
  const isGoneAt = (pointer: string): boolean => !places.has(pointer) && isGone(argumentAt(pointer));
  const old = defaultsOf(before, (pointer) => parentsOf(pointer).some(isGoneAt));
  const now = defaultsOf(after, () => false);
  return [...old].flatMap(([path, values]) => {
    const found = now.get(path) ?? [];
    const other = found.find((value) => !values.includes(value));
    const lost = values.find((value) => !found.includes(value));
    const declared = before.defaults && Object.hasOwn(before.defaults, path);
    if ((other ?? lost) === undefined || (declared && parentsOfPath(path).some(isGone))) return [];
    const [was, is] = [lost ?? values[0], other ?? found[0]];
    const detail = is === undefined ? `was ${was} and is no longer stated` : `was ${was} and is ${is}`;
    return [{ kind: "default", path, detail }];
  });
}

/** Maps arguments to their defaults as JSON text: those of the schema, and the one declared beside it. */
function defaultsOf(
  { parameters, defaults = {} }: Arguments,
  isLeftOut: (pointer: string) => boolean,
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (path: string, value: unknown): void =>
    void found.set(path, [...(found.get(path) ?? []), canonicalJson(value)]);
  for (const [path, value] of Object.entries(defaults)) if (value !== undefined) add(path, value);
  const nameOf = argumentsOf(parameters);
  walkSchema(parameters, (schema, at) => {
    if ("default" in schema && !isLeftOut(at)) add(nameOf(at), schema.default);
  });
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
