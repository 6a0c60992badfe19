import type { JsonSchema } from "../interface.ts";
import { type Check, compileQuickCheck } from "./quickCheck.ts";
import { prepare, type SchemaLibrary, type ValidationError } from "./schemaLibrary.ts";
import { validationCost } from "./validationCost.ts";

let library: SchemaLibrary | undefined;

/** Errors of `value`, none when it fits. Asynchronous only while the library loads or where the check could take long. */
export type Validator = (value: unknown) => readonly ValidationError[] | Promise<readonly ValidationError[]>;

/** Steps that may run on the calling thread, and in a thread that can be ended. */
const mostStepsHere = 4000;
const mostSteps = 100_000;

/**
 * A validator of one schema; the library is loaded, and the schema prepared, at the first call. It throws, or rejects, where
 * a value cannot be checked: TooMuchWork, or NoThread where the host allows no thread. `accepts` is the quick check of the schema.
 */
export function createValidator(schema: JsonSchema, accepts: Check | undefined = compileQuickCheck(schema)): Validator {
  let run: ((value: unknown) => readonly ValidationError[]) | undefined;
  return (value) => {
    if (accepts?.(value)) return [];
    const { steps, mayBacktrack } = validationCost(schema, value, mostSteps);
    if (mayBacktrack || steps > mostStepsHere) {
      return import("./validationThread.ts").then((thread) => thread.validateInThread(schema, value, mayBacktrack));
    }
    if (run) return run(value);
    if (library) {
      run = prepare(library, schema);
      return run(value);
    }
    return import("@cfworker/json-schema").then((loaded) => {
      library = loaded;
      run ??= prepare(loaded, schema);
      return run(value);
    });
  };
}
