import { isPlainObject } from "./json.ts";

/** Text up to this length may be matched on the main thread by a pattern that cannot do worse than length squared. */
export const shortText = 2000;

/**
 * Whether a regular expression could take more than about length-squared steps. Judged from its source, erring on the
 * side of risk: a quantified group, a back-reference, look-around or a second unbounded quantifier counts as risky.
 */
export function isRiskyPattern(source: string): boolean {
  const plain = source.replace(/\\[^1-9k]/gs, "x").replace(/\[(?:\\.|[^\]])*\]/gs, "x");
  if (/\\|\(\?[^:]|\)[*+?{]/s.test(plain)) return true;
  const unbounded = plain.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  const repeats = [...plain.matchAll(/\{(?:\d+,)?(\d+)\}/g)].map((match) => Number(match[1]));
  return (
    unbounded > 1 ||
    (unbounded === 1 && repeats.length > 0) ||
    repeats.filter((times) => times > 1000).length > 0 ||
    repeats.length > 6
  );
}

/** Every `pattern` and `patternProperties` name in a schema. */
export function patternsOf(schema: unknown, level = 0): string[] {
  if (level > 100) return [];
  if (Array.isArray(schema)) return schema.flatMap((item) => patternsOf(item, level + 1));
  if (!isPlainObject(schema)) return [];
  const { pattern, patternProperties } = schema;
  return [
    ...(typeof pattern === "string" ? [pattern] : []),
    ...(isPlainObject(patternProperties) ? Object.keys(patternProperties) : []),
    ...Object.values(schema).flatMap((item) => patternsOf(item, level + 1)),
  ];
}

/** Whether any string in a value, keys included, is longer than `shortText`. */
export function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > shortText;
  if (Array.isArray(value)) return value.some(hasLongText);
  return (
    isPlainObject(value) && Object.entries(value).some(([key, item]) => key.length > shortText || hasLongText(item))
  );
}
