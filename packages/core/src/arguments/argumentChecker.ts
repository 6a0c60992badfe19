import { describeArgument, invalidArgument, isError, isErrorNamed, type ToolError } from "../errors.ts";
import type { ExecutableTool, JsonSchema, ParseResult } from "../interface.ts";
import { clip, copyJson, isPlainObject, quote } from "../json.ts";
import { createNameReader } from "./aliases.ts";
import { type ArgumentIssue, type Explanation, explain, mostIssues, unknownArgument } from "./explain.ts";
import { createMountedValidator, mountedSchema } from "./mountedArguments.ts";
import { repair } from "./repair.ts";
import { TooManySteps } from "./steps.ts";
import { type Check, compileQuickCheck, createValidator, mostErrors, type Validator } from "./validator.ts";

/** Arguments ready for a tool, or the error of those that are not. `args` are the repaired ones in either case. */
export interface CheckedArguments {
  readonly args: Record<string, unknown>;
  readonly error?: ToolError | undefined;
}

/** Repairs, then validates. The given arguments are never changed. */
export type ArgumentChecker = (args: unknown) => CheckedArguments | Promise<CheckedArguments>;

/** With more unknown arguments than this, nothing else is checked. */
const manyUnknown = 1000;
const longestReason = 1000;

/** Creates the checker of one tool; what it needs is made at the first call. `parameters` is a schema that `register` accepted. */
export function createArgumentChecker(tool: ExecutableTool, parameters: JsonSchema): ArgumentChecker {
  let rules: Rules | undefined;
  const { name } = tool;
  return (given) => {
    rules ??= rulesFor(tool, parameters);
    const { schema, validate } = rules;
    const repaired = repairArguments(given, rules);
    if ("issue" in repaired) return { args: {}, error: invalid(name, { issues: [repaired.issue], count: 1 }) };
    const { args } = repaired;
    if (tool.parseArguments) return parse(tool, name, parameters, args);
    if (repaired.isValid) return repaired;
    const conclude = (errors: Awaited<ReturnType<Validator>>): CheckedArguments =>
      errors.length === 0
        ? { args }
        : { args, error: invalid(name, explain(errors, schema, args), errors.length >= mostErrors) };
    try {
      const unknown = surplus(args, parameters, manyUnknown);
      if (unknown.count > 0) return { args, error: invalid(name, unknown) };
      const errors = validate(args);
      return "then" in errors
        ? errors.then(conclude, (cause: unknown) => unchecked(name, args, cause))
        : conclude(errors);
    } catch (cause) {
      return unchecked(name, args, cause);
    }
  };
}

interface Rules {
  readonly schema: JsonSchema;
  readonly quickCheck: Check;
  readonly validate: Validator;
  /** Gives arguments the names of the schema. */
  readonly readNames: ReturnType<typeof createNameReader>;
  readonly keepsNull: boolean;
}

function rulesFor({ hints }: ExecutableTool, parameters: JsonSchema): Rules {
  const isMounted = hints !== undefined;
  const schema = isMounted ? mountedSchema(parameters) : parameters;
  const quickCheck = compileQuickCheck(schema) ?? (() => false);
  const validate = (isMounted ? createMountedValidator : createValidator)(schema, quickCheck);
  return { schema, quickCheck, validate, readNames: createNameReader(parameters), keepsNull: isMounted };
}

/** Repairs arguments. `isValid`: they fit as they came. */
function repairArguments(
  given: unknown,
  { schema, quickCheck, readNames, keepsNull }: Rules,
): { args: Record<string, unknown>; isValid?: boolean } | { issue: ArgumentIssue } {
  try {
    const copy = given === undefined || given === null ? {} : copyJson(given);
    const named = readNames ? readNames(copy) : copy;
    if (quickCheck(named) && isPlainObject(named)) return { args: named, isValid: true };
    let args = repair(named, schema, keepsNull);
    // An object may have come as text.
    if (readNames) args = repair(readNames(args), schema, keepsNull);
    if (isPlainObject(args)) return { args };
    return { issue: { field: "", reason: `expected an object of arguments, got ${notAnObject(args)}` } };
  } catch (error) {
    return { issue: { field: "", reason: tooMuch(error) ?? "cannot be read" } };
  }
}

/** Returns the reason for a limit of this package, or of the stack; undefined for any other error. */
function tooMuch(error: unknown): string | undefined {
  if (error instanceof TooManySteps) return `could not be checked: ${error.message}`;
  if (!isErrorNamed(error, "RangeError")) return undefined;
  return error.message.startsWith("Maximum call stack") ? "could not be checked: nested too deeply" : error.message;
}

/**
 * Words what came in place of an object. JSON that a model cut off or mistyped comes as text: the parser's error says more than a
 * quote of its beginning.
 */
function notAnObject(args: unknown): string {
  if (typeof args === "string" && args.trimStart().startsWith("{")) {
    try {
      JSON.parse(args);
    } catch (error) {
      if (isErrorNamed(error, "SyntaxError")) return `text that is not valid JSON: ${clip(error.message, 200)}`;
    }
  }
  return quote(args);
}

async function parse(
  tool: ExecutableTool,
  name: string,
  parameters: JsonSchema,
  args: Record<string, unknown>,
): Promise<CheckedArguments> {
  let result: ParseResult | undefined;
  try {
    result = await tool.parseArguments?.(args);
  } catch (cause) {
    return unchecked(name, args, cause);
  }
  if (result?.issues) {
    const unknown = surplus(args, parameters, 0);
    const issues = [...unknown.issues, ...result.issues.slice(0, mostIssues).map(fromStandardIssue)];
    return { args, error: invalid(name, { issues, count: unknown.count + result.issues.length }) };
  }
  return { args: (result && "value" in result ? result.value : args) as Record<string, unknown> };
}

/** Returns the arguments that a closed schema does not know, if there are more than `most`; unlike a schema library it names the allowed ones. */
function surplus(args: Record<string, unknown>, parameters: JsonSchema, most: number): Explanation {
  const { properties, patternProperties, additionalProperties } = parameters;
  const given = Object.keys(args);
  const isClosed = additionalProperties === false && !patternProperties && isPlainObject(properties);
  if (!isClosed || given.length <= most) return { issues: [], count: 0 };
  const unknown = given.filter((field) => !Object.hasOwn(properties, field));
  if (unknown.length <= most) return { issues: [], count: 0 };
  const shown = unknown.slice(0, mostIssues);
  return {
    issues: shown.map((field) => ({ field, reason: unknownArgument(field, parameters, args) })),
    count: unknown.length,
  };
}

function fromStandardIssue(issue: { message: string; path?: readonly unknown[] | undefined }): ArgumentIssue {
  const keys = (issue.path ?? []).slice(0, 100).map((part) => (isPlainObject(part) ? part.key : part));
  const field = keys.map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`));
  return { field: field.join(""), reason: String(issue.message) };
}

/** Makes the error for invalid arguments. `isCut`: there are more problems than were counted. */
function invalid(toolName: string, { issues, count }: Explanation, isCut = false): ToolError {
  const bounded = issues
    .slice(0, mostIssues)
    .map(({ field, reason }) => ({ field, reason: clip(reason, longestReason) }));
  const [{ field, reason } = { field: "", reason: "do not fit the schema" }, ...others] = bounded;
  const more = others.map((other) => describeArgument(other.field, other.reason));
  if (isCut) more.push("and more");
  else if (count > bounded.length) more.push(`and ${count - bounded.length} more`);
  return invalidArgument(field, reason, { toolName, more });
}

function unchecked(toolName: string, args: Record<string, unknown>, cause: unknown): CheckedArguments {
  const said = isError(cause) ? ` (${quote(cause.message, 200)})` : "";
  const reason = tooMuch(cause) ?? `could not be checked against the schema${said}`;
  return { args, error: invalidArgument("", reason, { toolName, cause }) };
}
