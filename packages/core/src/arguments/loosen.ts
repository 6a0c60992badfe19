import type { JsonSchema } from "../interface.ts";
import { isPlainObject, setOwn } from "../json.ts";
import { mapSchemas, resolveReference, walkSchema } from "./schemaParts.ts";

/** Returns the value of a keyword as it is, a weaker one, or undefined to leave the keyword out. */
type Weaken = (keyword: string, value: unknown) => unknown;

/** The number of keywords that are examined; parts beyond count as weakened. */
const mostLooks = 100_000;
/** Matches a reference through a keyword that may be moved. */
const throughMoved = /\/(?:oneOf|not|if|then|else)(?:\/|$)/;

/**
 * Returns a copy of a schema, with keywords changed by `weaken`, that accepts all that `schema` does. A weaker part would make `oneOf`, `not`,
 * `if` and `maxContains` around it stricter, so these are loosened, too.
 */
export function loosen(schema: JsonSchema, weaken: Weaken): JsonSchema {
  const loose = loosenParts(schema, weaken);
  let isBroken = false;
  walkSchema(loose, ({ $ref }) => {
    isBroken ||= isReference("$ref", $ref) && throughMoved.test($ref) && resolveReference(loose, $ref) === undefined;
  });
  if (!isBroken) return loose;
  return loosenParts(schema, (keyword, value) =>
    isReference(keyword, value) && throughMoved.test(value) ? undefined : weaken(keyword, value),
  );
}

function loosenParts(schema: JsonSchema, weaken: Weaken): JsonSchema {
  const isWeakened = createWeakCheck(schema, weaken);
  return mapSchemas(schema, (own) => {
    const { oneOf, if: condition, then = true, else: otherwise = true } = own;
    const gone = new Set<string>();
    const unions: unknown[] = [];
    if (isWeakened(own.not)) gone.add("not");
    if (isWeakened(own.contains)) gone.add("maxContains");
    if (isWeakened(oneOf)) {
      gone.add("oneOf");
      unions.push(oneOf);
    }
    if (isWeakened(condition)) {
      for (const keyword of ["if", "then", "else"]) gone.add(keyword);
      unions.push([{ allOf: [condition, then] }, otherwise]);
    }
    const loose: JsonSchema = {};
    for (const [keyword, value] of Object.entries(own)) {
      const weak = gone.has(keyword) ? undefined : weaken(keyword, value);
      if (weak !== undefined) setOwn(loose, keyword, weak);
    }
    for (const union of unions) {
      // Not deeper than it was, where that is possible.
      if (loose.anyOf === undefined) loose.anyOf = union;
      else loose.allOf = [...(Array.isArray(loose.allOf) ? loose.allOf : []), { anyOf: union }];
    }
    return loose;
  });
}

/** Makes a function that returns whether a part of the schema, or what it refers to, has a keyword that `weaken` changes. */
function createWeakCheck(root: JsonSchema, weaken: Weaken): (part: unknown) => boolean {
  let left = mostLooks;
  return (part) => {
    if (part === undefined) return false;
    const seen = new Set<unknown>();
    let isFound = false;
    const look = (schema: unknown): void => {
      if (seen.has(schema) || !isPlainObject(schema)) return;
      seen.add(schema);
      walkSchema(schema, (own) => {
        for (const [keyword, value] of Object.entries(own)) {
          left -= 1;
          isFound ||= left < 0 || weaken(keyword, value) !== value;
          if (!isFound && isReference(keyword, value)) look(resolveReference(root, value));
        }
      });
    };
    look({ allOf: part });
    return isFound;
  };
}

function isReference(keyword: string, value: unknown): value is string {
  return keyword === "$ref" && typeof value === "string";
}
