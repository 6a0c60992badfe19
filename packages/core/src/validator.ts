import type { OutputUnit, Schema, SchemaDraft } from "@cfworker/json-schema";
import type { JsonSchema } from "./interface.ts";
import { copyJson, isPlainObject } from "./json.ts";
import { hasLongText, isRiskyPattern, patternsOf } from "./patternRisk.ts";
import { compileQuickCheck } from "./quickCheck.ts";

type Library = typeof import("@cfworker/json-schema");

let library: Library | undefined;

export type ValidationError = OutputUnit;

/** Errors of `value`, none when it fits. Asynchronous only while the library loads or where a pattern could run away. */
export type Validator = (value: unknown) => readonly ValidationError[] | Promise<readonly ValidationError[]>;

/** A validator of one schema; the library is loaded, and the schema prepared, at the first call. */
export function createValidator(schema: JsonSchema): Validator {
  const accepts = compileQuickCheck(schema);
  const patterns = patternsOf(schema);
  const risky = patterns.some(isRiskyPattern);
  let run: ((value: unknown) => readonly ValidationError[]) | undefined;
  return (value) => {
    if (accepts?.(value)) return [];
    if (risky || (patterns.length > 0 && hasLongText(value))) {
      return import("./validationThread.ts").then(({ validateInWorker }) => validateInWorker(schema, value));
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

/** The library marks the schemas it is given and knows no frozen ones, so it gets a copy. */
export function prepare(loaded: Library, schema: JsonSchema): (value: unknown) => readonly ValidationError[] {
  const own = makePatternsCompile(copyJson(schema)) as Schema;
  const draft = draftOf(schema);
  const lookup = loaded.dereference(own);
  const run = (value: unknown, short: boolean): readonly ValidationError[] =>
    loaded.validate(value, own, draft, lookup, short).errors;
  return (value) => (run(value, true).length === 0 ? [] : run(value, false));
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
