import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { resolveReference } from "./schemaParts.ts";
import { countSteps, TooMuchWork } from "./validationCost.ts";

/** The most schemas that may apply to one value: every call pays for each. */
const mostApplied = 1000;
/** The longest chain of references and nested lists of schemas: each link takes a part of the stack. */
const longestChain = 200;
/** Preparing a schema walks it once, and once more below each inner `$id`. */
const mostPreparation = 50_000;

/** Returns why every call would cost too much under this schema, whatever its arguments; undefined where it would not. */
export function schemaCostProblem(root: JsonSchema): string | undefined {
  return applicationProblem(root) ?? preparationProblem(root);
}

interface Application {
  /** Schemas that are applied to one value, this one included. */
  readonly applied: number;
  readonly chain: number;
}

/** Finds references that loop or double without going deeper into the value. */
function applicationProblem(root: JsonSchema): string | undefined {
  const known = new Map<object, Application | "open">();
  let problem: string | undefined;
  const measure = (schema: unknown, depth: number): Application => {
    if (!isPlainObject(schema) || problem !== undefined) return { applied: 1, chain: 1 };
    const before = known.get(schema);
    if (before === "open") problem = "its references lead back to themselves: a value could never be checked";
    if (depth > longestChain) problem ??= `its references form a chain of more than ${longestChain}`;
    if (problem !== undefined || before === "open") return { applied: 1, chain: 1 };
    if (before) return before;
    known.set(schema, "open");
    let applied = 1;
    let chain = 1;
    for (const part of appliedInPlace(root, schema)) {
      const inner = measure(part, depth + 1);
      applied += inner.applied;
      chain = Math.max(chain, inner.chain + 1);
    }
    if (applied > mostApplied) problem ??= `it applies more than ${mostApplied} schemas to one value`;
    if (chain > longestChain) problem ??= `its references form a chain of more than ${longestChain}`;
    const found = { applied, chain };
    known.set(schema, found);
    return found;
  };
  forEachObject(root, (schema) => {
    measure(schema, 0);
    return problem === undefined;
  });
  return problem;
}

function appliedInPlace(root: JsonSchema, schema: JsonSchema): unknown[] {
  const { $ref, dependentSchemas, dependencies } = schema;
  const parts: unknown[] = typeof $ref === "string" ? [resolveReference(root, $ref)] : [];
  for (const key of ["allOf", "anyOf", "oneOf"]) if (Array.isArray(schema[key])) parts.push(...schema[key]);
  for (const key of ["not", "if", "then", "else"]) if (schema[key] !== undefined) parts.push(schema[key]);
  for (const map of [dependentSchemas, dependencies]) if (isPlainObject(map)) parts.push(...Object.values(map));
  return parts;
}

/** Calls `look` for every object in a value, until it answers false. */
function forEachObject(value: unknown, look: (object: JsonSchema) => boolean): void {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const place = waiting.pop();
    if (typeof place !== "object" || place === null) continue;
    if (isPlainObject(place) && !look(place)) return;
    for (const item of Object.values(place)) waiting.push(item);
  }
}

/**
 * Names what would cost too much: the library builds a URI for each place, as long as its path, and walks everything below an
 * inner `$id` twice.
 */
function preparationProblem(root: JsonSchema): string | undefined {
  const spend = countSteps(mostPreparation);
  const walk = (place: unknown, pointer: number, times: number): void => {
    if (typeof place !== "object" || place === null) return;
    let visits = times;
    if (isPlainObject(place)) {
      const { $id, id, $ref } = place;
      if (pointer > 0 && ($id || id)) visits *= 2;
      if (typeof $ref === "string") spend(($ref.length / 8) * visits);
    }
    spend(visits * (1 + pointer / 256));
    for (const [key, item] of Object.entries(place)) walk(item, pointer + key.length + 1, visits);
  };
  try {
    walk(root, 0, 1);
    return undefined;
  } catch (error) {
    if (error instanceof TooMuchWork) return "its names are too long, or its inner $id too many, to be prepared";
    throw error;
  }
}
