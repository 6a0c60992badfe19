import type { JsonSchema } from "@toolcrib/core";
import { canonicalJson, jsonType, quote } from "@toolcrib/core/internal";

/** A narrowing of a schema, worded for both directions. */
export interface Difference {
  readonly detail: string;
  readonly reversed: string;
}

/** Names types that `from` takes and `to` does not. */
export function typeProblem(from: JsonSchema, to: JsonSchema): Difference[] {
  const [was, is] = [typesOf(from), typesOf(to)];
  if (is === undefined) return [];
  const isCovered = was?.every((type) => is.includes(type) || (type === "integer" && is.includes("number")));
  if (isCovered) return [];
  const [old, now] = [was?.join(" or ") ?? "any type", is.join(" or ")];
  return [{ detail: `was ${old} and is ${now}`, reversed: `was ${now} and is ${old}` }];
}

/** Returns whether a value of that type can fit, as far as `type` and the listed values tell. */
export function mayBe(schema: JsonSchema, type: string): boolean {
  return typesOf(schema)?.includes(type) ?? true;
}

/** Returns the types; undefined if any type fits. */
function typesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (schema.type !== undefined) return Array.isArray(schema.type) ? schema.type : [schema.type];
  const values = valuesOf(schema);
  if (values === undefined || values.length === 0) return undefined;
  return values.map((value) => (/^-?\d+$/.test(value) ? "integer" : jsonType(JSON.parse(value))));
}

/** Names values that `from` lists and `to` does not, or that `to` lists alone. */
export function valueProblem(from: JsonSchema, to: JsonSchema): Difference[] {
  const is = valuesOf(to);
  if (is === undefined) return [];
  const was = valuesOf(from);
  if (was === undefined) {
    const only = `only ${quote(
      is.map((value) => JSON.parse(value)),
      200,
    )}`;
    return [{ detail: `was any value and is ${only}`, reversed: `was ${only} and is any value` }];
  }
  const gone = was.filter((value) => !is.includes(value));
  if (gone.length === 0) return [];
  const values = gone.join(", ");
  return [{ detail: `no longer takes ${values}`, reversed: `takes ${values} too` }];
}

/** Returns the values that `enum` and `const` both leave, as JSON text. */
function valuesOf(schema: JsonSchema): readonly string[] | undefined {
  const listed = Array.isArray(schema.enum) ? schema.enum.map(canonicalJson) : undefined;
  if (!("const" in schema)) return listed;
  const only = canonicalJson(schema.const);
  return listed === undefined || listed.includes(only) ? [only] : [];
}

/** Pairs of keywords for a lower and an upper bound, the type that they are about, and what a schema without the lower has. */
const ranges = [
  { type: "string", lower: "minLength", upper: "maxLength", least: 0 },
  { type: "array", lower: "minItems", upper: "maxItems", least: 0 },
  { type: "object", lower: "minProperties", upper: "maxProperties", least: 0 },
] as const;

/** Bounds of `to` that are tighter than those of `from`. */
export function boundProblem(from: JsonSchema, to: JsonSchema): Difference[] {
  const lengths = ranges.flatMap(({ type, lower, upper, least }) =>
    mayBe(from, type)
      ? [...tighter(lower, from, to, least, 1), ...tighter(upper, from, to, Number.POSITIVE_INFINITY, -1)]
      : [],
  );
  return mayBe(from, "number") || mayBe(from, "integer") ? [...lengths, ...numberProblem(from, to)] : lengths;
}

/** Names a bound that is tighter now. `sign` is 1 for a lower bound and -1 for an upper one. */
function tighter(keyword: string, from: JsonSchema, to: JsonSchema, absent: number, sign: 1 | -1): Difference[] {
  const [was, is] = [from[keyword] ?? absent, to[keyword] ?? absent];
  if (typeof was === "number" && typeof is === "number" && sign * is <= sign * was) return [];
  return [difference(keyword, from[keyword], to[keyword])];
}

function numberProblem(from: JsonSchema, to: JsonSchema): Difference[] {
  return ([1, -1] as const).flatMap((sign) => {
    const [inclusive, exclusive] = sign === 1 ? ["minimum", "exclusiveMinimum"] : ["maximum", "exclusiveMaximum"];
    // Draft 4 has `true` for exclusive.
    if ([from, to].some((schema) => typeof schema[exclusive] === "boolean")) {
      const isEqual = [inclusive, exclusive].every((keyword) => from[keyword] === to[keyword]);
      return isEqual ? [] : [difference(exclusive, from[exclusive], to[exclusive])];
    }
    const isWhole = !mayBe(from, "number");
    const bound = (schema: JsonSchema): { at: number; isOpen: boolean } => {
      const [closed, open] = [inclusive, exclusive].map(
        (keyword) => sign * Number(schema[keyword] ?? -sign * Infinity),
      );
      return Number(open) >= Number(closed) && Number.isFinite(open)
        ? { at: Number(open), isOpen: true }
        : { at: Number(closed), isOpen: false };
    };
    const was = bound(from);
    const is = bound(to);
    // The least whole number above an open bound, or from a closed one.
    const first = isWhole ? { at: was.isOpen ? Math.floor(was.at) + 1 : Math.ceil(was.at), isOpen: false } : was;
    if (is.at < first.at || (is.at === first.at && (!is.isOpen || first.isOpen))) return [];
    return [inclusive, exclusive]
      .filter((keyword) => from[keyword] !== to[keyword])
      .map((keyword) => difference(keyword, from[keyword], to[keyword]));
  });
}

function difference(keyword: string, was: unknown, is: unknown): Difference {
  const [old, now] = [was, is].map((value) => (value === undefined ? "not limited" : quote(value)));
  return {
    detail: `has another ${keyword}: it was ${old} and is ${now}`,
    reversed: `has another ${keyword}: it was ${now} and is ${old}`,
  };
}
