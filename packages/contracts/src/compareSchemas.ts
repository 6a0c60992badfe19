import type { JsonSchema } from "@toolcrib/core";
import { type Arguments, changedDefaults } from "./defaultValues.ts";
import { isTooDeep, narrowings } from "./narrowings.ts";

/** A change of the values that one place of a schema takes. */
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
  /** The difference as a sentence. */
  readonly detail: string;
}

/**
 * Lists how the values that fit `after` differ from those that fit `before`. Without a change of kind `argument-required`, `argument-gone`,
 * `narrowed` or `incomparable` every value that fits `before` fits `after`: what cannot be decided is a change.
 */
export function compareSchemas(before: JsonSchema, after: JsonSchema): SchemaChange[] {
  return compareArguments({ parameters: before }, { parameters: after });
}

/** Compares the arguments of two tools, which may declare defaults beside their schemas. */
export function compareArguments(before: Arguments, after: Arguments): SchemaChange[] {
  const taken = narrowings(before.parameters, after.parameters);
  if (isTooDeep(before.parameters) || isTooDeep(after.parameters)) return taken;
  const given = narrowings(after.parameters, before.parameters);
  const isTaken = new Set(taken.map(({ path }) => path));
  const additions = given.flatMap(({ kind, path, reversed, detail }): SchemaChange[] => {
    if (isTaken.has(path) || kind === "incomparable") return [];
    return kind === "argument-gone"
      ? [{ kind: "argument-added", path, detail: "is new" }]
      : [{ kind: "widened", path, detail: reversed ?? detail }];
  });
  const isTold = (told: SchemaChange["kind"], at: string): boolean =>
    taken.some(({ kind, path }) => kind === told && path === at);
  const defaults = changedDefaults(before, after, (path) => isTold("argument-gone", path)).filter(
    ({ path }) => !isTold("argument-required", path),
  );
  return [...taken.map(({ kind, path, detail }) => ({ kind, path, detail })), ...defaults, ...additions];
}
