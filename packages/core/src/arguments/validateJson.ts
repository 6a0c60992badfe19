import type { JsonSchema } from "../interface.ts";
import { explain } from "./explain.ts";
import { createValidator } from "./validator.ts";

/** A place in a JSON value that breaks its schema: `field` is a path (`sessions.keepDays`), empty for the whole. */
export interface JsonIssue {
  readonly field: string;
  readonly reason: string;
}

/**
 * Lists what is wrong with a JSON value, the first five errors in words; none if it fits. The value is taken as it is, unlike
 * arguments of a tool, which are repaired. `noun` says what a property is called: "a key".
 */
export async function validateJson(value: unknown, schema: JsonSchema, noun = "a property"): Promise<JsonIssue[]> {
  const errors = await createValidator(schema)(value);
  return explain(errors, schema, value, noun).issues.map(({ field, reason }) => ({ field, reason }));
}
