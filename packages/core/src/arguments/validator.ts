import type { OutputUnit, Schema, SchemaDraft } from "@cfworker/json-schema";
import type { JsonSchema } from "../interface.ts";
import { copyJson, isPlainObject } from "../json.ts";
import { compileQuickCheck } from "./quickCheck.ts";
import { validationCost } from "./validationCost.ts";

type Library = typeof import("@cfworker/json-schema");

let library: Library | undefined;

export type ValidationError = OutputUnit;

/** Errors of `value`, none when it fits. Asynchronous only while the library loads or where the check could take long. */
export type Validator = (value: unknown) => readonly ValidationError[] | Promise<readonly ValidationError[]>;

/** Up to so many steps are taken at once, on the calling thread; up to the second number in a thread that can be ended. */
const mostStepsHere = 4000;
const mostSteps = 100_000;

/**
 * A validator of one schema; the library is loaded, and the schema prepared, at the first call. It throws, or rejects, where
 * a value cannot be checked: TooManySteps, or NoThread where a thread is needed and cannot be had.
 */
export function createValidator(schema: JsonSchema): Validator {
  const accepts = compileQuickCheck(schema);
  let run: ((value: unknown) => readonly ValidationError[]) | undefined;
  return (value) => {
    if (accepts?.(value)) return [];
    const { steps, mayBacktrack } = validationCost(schema, value, mostSteps);
    if (mayBacktrack || steps > mostStepsHere) {
      return import("./validationThread.ts").then(({ validateInWorker }) =>
        validateInWorker(schema, value, mayBacktrack),
      );
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

/** More errors than these say nothing new. */
export const mostErrors = 2000;

/** The library marks the schemas it is given and knows no frozen ones, so it gets a copy. */
export function prepare(loaded: Library, schema: JsonSchema): (value: unknown) => readonly ValidationError[] {
  const own = makePatternsCompile(copyJson(schema)) as Schema;
  const draft = draftOf(schema);
  const lookup = loaded.dereference(own);
  const run = (value: unknown, short: boolean): readonly ValidationError[] =>
    loaded.validate(value, own, draft, lookup, short).errors;
  return (value) => {
    if (run(value, true).length === 0) return [];
    const errors = run(value, false);
    // That a schema is `false` says less than the error before it.
    const telling = errors.filter(({ keyword }) => keyword !== "false");
    return (telling.length > 0 ? telling : errors).slice(0, mostErrors);
  };
}

function draftOf({ $schema }: JsonSchema): SchemaDraft {
  if (typeof $schema !== "string") return "2020-12";
  if (/draft-0?[467]/.test($schema)) return $schema.includes("4") ? "4" : "7";
  return $schema.includes("2019-09") ? "2019-09" : "2020-12";
}

/** The library compiles with the `u` flag, which refuses needless escapes such as `\_` that many schemas have. */
function makePatternsCompile(schema: unknown): unknown {
  if (Array.isArray(schema)) schema.forEach(makePatternsCompile);
  else if (isPlainObject(schema)) {
    if (typeof schema.pattern === "string") schema.pattern = withoutNeedlessEscapes(schema.pattern);
    Object.values(schema).forEach(makePatternsCompile);
  }
  return schema;
}

const classOrEscape = /\[(?:\\.|[^\]\\])*\]|\\./gs;
const needlessEscape = /\\(?:([^\w\s^$\\.*+?()[\]{}|/-])|([_gijlmoqyaehz]))|\\./gis;

/** The same expression in a form that the `u` flag takes, where there is one. */
export function withoutNeedlessEscapes(source: string): string {
  try {
    new RegExp(source, "u");
    return source;
  } catch {
    return source.replace(classOrEscape, (part) =>
      // In a class `\-` is needed, elsewhere it is refused.
      part === "\\-" ? "-" : part.replace(needlessEscape, (needed, sign, letter) => sign ?? letter ?? needed),
    );
  }
}
