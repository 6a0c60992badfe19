import { createValidator } from "../arguments/validator.ts";
import { attempt } from "../callSafely.ts";
import type { JsonSchema, ToolOutcome } from "../interface.ts";
import { isPlainObject, setOwn } from "../json.ts";

/** The most bytes that the data of an outcome may have as JSON text. */
const mostBytes = 256 * 1024;

/** The most bytes of JSON text that one UTF-16 unit becomes: `\\u0000`. */
const longestEscape = 6;

/** Returns a copy of `value` as JSON has it; undefined where JSON cannot hold it, or where it is too large. */
export function jsonData(value: unknown): unknown {
  // Most data is plain, and small enough to fit however it is escaped: writing and reading it as JSON takes ten times as long.
  const budget = { left: Math.floor(mostBytes / longestEscape) };
  const copied = attempt(() => copyPlain(value, budget));
  if (copied !== undefined) return copied;
  let left = mostBytes;
  // Looked at before it is written, so that no work is spent on what is far too large.
  const count = (key: string, item: unknown): unknown => {
    left -= key.length + (typeof item === "string" ? item.length : 1);
    if (left < 0) throw new RangeError("too large");
    return item;
  };
  const text = attempt(() => JSON.stringify(value, count));
  return text === undefined || Buffer.byteLength(text) > mostBytes ? undefined : JSON.parse(text);
}

/** Throws for what JSON would change (an instance of a class, NaN), and beyond the budget. */
function copyPlain(value: unknown, budget: { left: number }): unknown {
  // Names are quoted and followed by a colon and a comma.
  const spend = (units: number): void => {
    budget.left -= units + 4;
    if (budget.left < 0) throw new RangeError("too large to be sure");
  };
  spend(typeof value === "string" ? value.length : 6);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (Array.isArray(value) && !("toJSON" in value)) return Array.from(value, (item) => copyPlain(item, budget));
  if (!isPlainObject(value) || "toJSON" in value) throw new TypeError("not plain");
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    spend(name.length);
    setOwn(copy, name, copyPlain(item, budget));
  }
  return copy;
}

/** Leaves out data that does not fit `schema`, or that cannot be checked against it. */
export function createDataCheck(schema: JsonSchema): (outcome: ToolOutcome) => Promise<ToolOutcome> {
  const validate = createValidator(schema);
  return async (outcome) => {
    if (!outcome.ok || outcome.data === undefined) return outcome;
    const { data, ...rest } = outcome;
    try {
      return (await validate(data)).length === 0 ? outcome : rest;
    } catch {
      return rest;
    }
  };
}
