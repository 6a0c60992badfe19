import type { JsonSchema } from "../interface.ts";
import { withoutRunaways } from "./patternRisk.ts";
import { type Check, compileQuickCheck } from "./quickCheck.ts";
import { prepare, type SchemaLibrary, type ValidationError } from "./schemaLibrary.ts";
import { spendValidation } from "./validationCost.ts";

let library: SchemaLibrary | undefined;

/** Errors of `value`, none when it fits. Asynchronous only while the library loads. */
export type Validator = (value: unknown) => readonly ValidationError[] | Promise<readonly ValidationError[]>;

/** Steps that one check may take: some tenths of a second. */
const mostSteps = 40_000;

/**
 * A validator of one schema; the library is loaded, and the schema prepared, at the first call. Patterns that could run away are not
 * checked. Throws, or rejects with, TooMuchWork for a value that costs too much. `accepts` is the quick check of the schema.
 */
export function createValidator(schema: JsonSchema, accepts: Check | undefined = compileQuickCheck(schema)): Validator {
  let checked: JsonSchema | undefined;
  let run: ((value: unknown) => readonly ValidationError[]) | undefined;
  return (value) => {
    if (accepts?.(value)) return [];
    checked ??= withoutRunaways(schema);
    spendValidation(checked, value, mostSteps);
    if (run) return run(value);
    if (library) {
      run = prepare(library, checked);
      return run(value);
    }
    const own = checked;
    return import("@cfworker/json-schema").then((loaded) => {
      library = loaded;
      run ??= prepare(loaded, own);
      return run(value);
    });
  };
}
