import type { OutputUnit, Schema } from "@cfworker/json-schema";
import type { JsonSchema } from "../interface.ts";
import { copyJson, isPlainObject } from "../json.ts";
import { draftOf } from "./schemaKeywords.ts";

export type SchemaLibrary = typeof import("@cfworker/json-schema");

/** More errors than these say nothing new. */
export const mostErrors = 2000;

/** Which keyword of the schema refuses which part of the value; both places are JSON Pointers. */
export type ValidationError = Pick<OutputUnit, "keyword" | "keywordLocation" | "instanceLocation">;

/** An error of these keywords is about one property, whose place only the next error has. */
const namesInNext: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties", "propertyNames"]);

/** The library writes on the schema that it is given and cannot take a frozen one, so it gets a copy. */
export function prepare(library: SchemaLibrary, schema: JsonSchema): (value: unknown) => readonly ValidationError[] {
  const own = makePatternsCompile(copyJson(schema)) as Schema;
  const draft = draftOf(schema);
  const lookup = library.dereference(own);
  const run = (value: unknown, short: boolean): OutputUnit[] =>
    library.validate(value, own, draft, lookup, short).errors;
  return (value) => {
    if (run(value, true).length === 0) return [];
    const errors = run(value, false);
    const isSaidBefore = (index: number): boolean =>
      errors[index]?.keyword === "false" && namesInNext.has(errors[index - 1]?.keyword ?? "");
    return errors
      .map(withPlace)
      .filter((_, index) => !isSaidBefore(index))
      .slice(0, mostErrors);
  };
}

/** The library names some places only in its sentences; they are taken from the neighbours in its list. */
function withPlace(
  { keyword, keywordLocation, instanceLocation }: OutputUnit,
  index: number,
  errors: readonly OutputUnit[],
): ValidationError {
  const [before, next] = [errors[index - 1], errors[index + 1]];
  return {
    keyword,
    keywordLocation: (keyword === "false" ? before?.keywordLocation : undefined) ?? keywordLocation,
    instanceLocation: (namesInNext.has(keyword) ? next?.instanceLocation : undefined) ?? instanceLocation,
  };
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
