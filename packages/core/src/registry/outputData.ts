import { createValidator } from "../arguments/validator.ts";
import { attempt } from "../callSafely.ts";
import type { JsonSchema, ToolOutcome } from "../interface.ts";

/** The most bytes that the data of an outcome may have as JSON text, unless a program gets it. */
const mostBytes = 256 * 1024;

/** Returns a copy of `value` as JSON has it; undefined where JSON cannot hold it, or where it has more than `most` bytes. */
export function jsonData(value: unknown, most: number = mostBytes): unknown {
  let left = most;
  // Looked at before it is written, so that no work is spent on what is far too large.
  const count = (key: string, item: unknown): unknown => {
    left -= key.length + (typeof item === "string" ? item.length : 1);
    if (left < 0) throw new RangeError("too large");
    return item;
  };
  const text = attempt(() => JSON.stringify(value, count));
  return text === undefined || Buffer.byteLength(text) > most ? undefined : JSON.parse(text);
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
