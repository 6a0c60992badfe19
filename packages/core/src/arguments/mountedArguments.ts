import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { pointerParts, stepInto, wrappers } from "./explain.ts";
import { loosen } from "./loosen.ts";
import { walkSchema } from "./schemaParts.ts";
import { type Check, createValidator, type ValidationError, type Validator } from "./validator.ts";

const forms: ReadonlySet<string> = new Set(["format", "pattern", "patternProperties"]);
/** Keywords that refuse names which a pattern may allow. */
const surplus: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties"]);

/** Returns the schema by which values of a mounted tool are checked: the forms of texts and names are for its server to judge. */
export function mountedSchema(schema: JsonSchema): JsonSchema {
  let hasPatterns = false;
  walkSchema(schema, ({ patternProperties }) => {
    hasPatterns ||= patternProperties !== undefined;
  });
  return loosen(schema, (keyword, value) =>
    forms.has(keyword) || (hasPatterns && surplus.has(keyword)) ? undefined : value,
  );
}

/** Creates the validator of a mounted tool: what null means is for its server to say, so only the name of a null may be refused. */
export function createMountedValidator(schema: JsonSchema, accepts: Check): Validator {
  const validate = createValidator(schema, { accepts, isCounted: true });
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
