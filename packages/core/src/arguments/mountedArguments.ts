import type { JsonSchema } from "../interface.ts";
import { isPlainObject, setOwn } from "../json.ts";
import { pointerParts, stepInto, wrappers } from "./explain.ts";
import { mapSchemas, resolveReference, walkSchema } from "./schemaParts.ts";
import { lookUpOf } from "./steps.ts";
import { type Check, createValidator, type ValidationError, type Validator } from "./validator.ts";

const forms: ReadonlySet<string> = new Set(["format", "pattern", "patternProperties"]);

/**
 * Returns the schema by which values of a mounted tool are checked: the forms of texts and names are for its server to judge, and so is every
 * name of an object for which there are patterns of names.
 */
export function mountedSchema(schema: JsonSchema): JsonSchema {
  const withPatterns = (keyword: string, own: JsonSchema): boolean => {
    // What applies to the same object counts as evaluated, but not as named.
    const beside = keyword === "unevaluatedProperties" ? lookUpOf(schema)(own) : [own];
    return beside.some(({ patternProperties }) => patternProperties !== undefined);
  };
  return loosen(schema, (keyword, value, own) => {
    const isForNames = keyword === "additionalProperties" || keyword === "unevaluatedProperties";
    return forms.has(keyword) || (isForNames && withPatterns(keyword, own)) ? undefined : value;
  });
}

/** Creates the validator of a mounted tool: what null means is for its server to say, so only the name of a null may be refused. */
export function createMountedValidator(schema: JsonSchema, accepts: Check): Validator {
  const validate = createValidator(schema, accepts);
  return (args) => {
    const names = new Set<string>();
    const [rest, hasNull] = withoutNulls(args, names);
    const isOfValue = ({ instanceLocation }: ValidationError): boolean => valueAt(args, instanceLocation) !== null;
    const isRefused = (errors: readonly ValidationError[]): boolean =>
      errors.some((error) => !wrappers.has(error.keyword) && isOfValue(error));
    // A null may stand for a value that only the server knows, or for none, one beside another.
    const judge = async (errors: readonly ValidationError[]): Promise<readonly ValidationError[]> => {
      if (isRefused(errors)) {
        const ofRest = await validate(rest);
        const isAllowed = !isRefused(ofRest) || !isRefused(await createValidator(withoutRequired(schema, names))(rest));
        if (!isAllowed) return ofRest.filter(isOfValue);
      }
      return errors.filter((error) => forbidsNull(error) && !isOfValue(error));
    };
    const conclude = (errors: readonly ValidationError[]): ReturnType<Validator> =>
      errors.length > 0 && hasNull ? judge(errors) : errors;
    const errors = validate(args);
    return "then" in errors ? errors.then(conclude) : conclude(errors);
  };
}

/** Returns a copy without the nulls of objects, and whether there were any, also in arrays; `names` gets the names that had one. */
function withoutNulls(value: unknown, names: Set<string>): [rest: unknown, hasNull: boolean] {
  if (typeof value !== "object" || value === null) return [value, false];
  const isList = Array.isArray(value);
  let hasNull = false;
  const kept = Object.entries(value).flatMap(([name, item]): [string, unknown][] => {
    const [rest, isInside] = withoutNulls(item, names);
    hasNull ||= item === null || isInside;
    if (item === null && !isList) names.add(name);
    return item === null && !isList ? [] : [[name, rest]];
  });
  return [isList ? kept.map(([, item]) => item) : Object.fromEntries(kept), hasNull];
}

/** Returns a schema that requires none of `names`. */
function withoutRequired(schema: JsonSchema, names: ReadonlySet<string>): JsonSchema {
  const without = (rule: unknown): unknown =>
    Array.isArray(rule) && rule.some((name) => names.has(name)) ? rule.filter((name) => !names.has(name)) : rule;
  return loosen(schema, (keyword, rule) => {
    if (keyword === "required") return without(rule);
    if ((keyword !== "dependentRequired" && keyword !== "dependencies") || !isPlainObject(rule)) return rule;
    const weak = Object.entries(rule).map(([name, needed]): [string, unknown] => [name, without(needed)]);
    return weak.some(([name, needed]) => needed !== rule[name]) ? Object.fromEntries(weak) : rule;
  });
}

/** Returns whether the error is that a name is not allowed. */
function forbidsNull({ keyword, keywordLocation }: ValidationError): boolean {
  return (
    /^(?:additionalProperties|unevaluatedProperties|propertyNames)$/.test(keyword) &&
    !/\/(?:any|one)Of\//.test(keywordLocation)
  );
}

function valueAt(args: unknown, location: string): unknown {
  return pointerParts(location).reduce<unknown>(stepInto, args);
}

/** Returns the value of a keyword as it is, a weaker one, or undefined to leave the keyword out. */
type Weaken = (keyword: string, value: unknown, own: JsonSchema) => unknown;

/** The number of keywords that are examined; parts beyond count as weakened. */
const mostLooks = 100_000;
/** Matches a reference through a keyword that may be moved: what it leads to is for the server to judge. */
const throughMoved = /\/(?:oneOf|not|if|then|else)(?:\/|$)/;

/**
 * Returns a copy of a schema, with keywords changed by `weaken`, that accepts all that `schema` does. A weaker part would make `oneOf`, `not`,
 * `if` and `maxContains` around it stricter, so these are loosened, too.
 */
function loosen(schema: JsonSchema, weakenOne: Weaken): JsonSchema {
  const weaken: Weaken = (keyword, value, own) =>
    isReference(keyword, value) && throughMoved.test(value) ? undefined : weakenOne(keyword, value, own);
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
      const weak = gone.has(keyword) ? undefined : weaken(keyword, value, own);
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
          isFound ||= left < 0 || weaken(keyword, value, own) !== value;
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
