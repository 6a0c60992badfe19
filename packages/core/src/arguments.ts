import { ToolError } from "./errors.ts";
import { type ArgumentIssue, explain, unknownArgument } from "./explain.ts";
import type { ExecutableTool, JsonSchema, ParseResult } from "./interface.ts";
import { copyJson, isPlainObject, quote } from "./json.ts";
import { repair } from "./repair.ts";
import { clip } from "./text.ts";
import { createValidator, type Validator } from "./validator.ts";

/** Arguments ready for a tool, or why they are not. `args` is what repair made of them in either case. */
export interface CheckedArguments {
  readonly args: Record<string, unknown>;
  readonly error?: ToolError;
}

/** Repairs, then validates. The given arguments are never changed. */
export type ArgumentChecker = (args: unknown) => CheckedArguments | Promise<CheckedArguments>;

const mostIssues = 5;

/** The checker of one tool; the validator is made at the first call. `parameters` is a schema that `register` accepted. */
export function createArgumentChecker(tool: ExecutableTool, parameters: JsonSchema): ArgumentChecker {
  let validator: Validator | undefined;
  const { name } = tool;
  return (given) => {
    const repaired = repairArguments(given, parameters);
    if ("issue" in repaired) return { args: {}, error: invalid(name, [repaired.issue]) };
    const { args } = repaired;
    if (tool.parseArguments) return parse(tool, name, parameters, args);
    const conclude = (errors: Awaited<ReturnType<Validator>>): CheckedArguments =>
      errors.length === 0 ? { args } : { args, error: invalid(name, explain(errors, parameters, args)) };
    try {
      validator ??= createValidator(parameters);
      const errors = validator(args);
      return errors instanceof Promise
        ? errors.then(conclude, (cause: unknown) => unchecked(name, args, cause))
        : conclude(errors);
    } catch (cause) {
      return unchecked(name, args, cause);
    }
  };
}

function repairArguments(
  given: unknown,
  parameters: JsonSchema,
): { args: Record<string, unknown> } | { issue: ArgumentIssue } {
  try {
    const args = repair(given === undefined || given === null ? {} : copyJson(given), parameters, parameters);
    if (isPlainObject(args)) return { args };
    return { issue: { field: "", reason: `expected an object of arguments, got ${notAnObject(args)}` } };
  } catch (error) {
    return { issue: { field: "", reason: error instanceof RangeError ? error.message : "cannot be read" } };
  }
}

/** A model's own JSON, cut off or mistyped, comes as text: what is wrong with it says more than a quote of its beginning. */
function notAnObject(args: unknown): string {
  if (typeof args === "string" && args.trimStart().startsWith("{")) {
    try {
      JSON.parse(args);
    } catch (error) {
      if (error instanceof SyntaxError) return `text that is not valid JSON: ${clip(error.message, 200)}`;
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
    return { args, error: invalid(name, [...surplus(args, parameters), ...result.issues.map(fromStandardIssue)]) };
  }
  return { args: (result && "value" in result ? result.value : args) as Record<string, unknown> };
}

/** A schema library names no allowed argument where one is forbidden; this does. */
function surplus(args: Record<string, unknown>, parameters: JsonSchema): ArgumentIssue[] {
  const { properties, patternProperties, additionalProperties } = parameters;
  if (additionalProperties !== false || patternProperties || !isPlainObject(properties)) return [];
  const unknown = Object.keys(args).filter((field) => !Object.hasOwn(properties, field));
  return unknown.map((field) => ({ field, reason: unknownArgument(field, parameters, args) }));
}

function fromStandardIssue(issue: { message: string; path?: readonly unknown[] | undefined }): ArgumentIssue {
  const keys = (issue.path ?? []).map((part) => (isPlainObject(part) ? part.key : part));
  const field = keys.map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`));
  return { field: field.join(""), reason: String(issue.message) };
}

function invalid(toolName: string, issues: readonly ArgumentIssue[]): ToolError {
  const shown = issues
    .slice(0, mostIssues)
    .map(({ field, reason }) => (field ? `${quoteField(field)}: ${reason}` : reason));
  if (issues.length > mostIssues) shown.push(`and ${issues.length - mostIssues} more`);
  const { field = "", reason = "do not fit the schema" } = issues[0] ?? {};
  return new ToolError({
    code: "invalid_arguments",
    toolName,
    message: `Invalid arguments: ${shown.join("; ") || reason}`,
    details: { field, reason },
  });
}

function quoteField(field: string): string {
  return /^[\w$.[\]-]{1,120}$/.test(field) ? field : quote(field, 120);
}

function unchecked(toolName: string, args: Record<string, unknown>, cause: unknown): CheckedArguments {
  const reason = "could not be checked against the schema";
  const error = new ToolError({
    code: "invalid_arguments",
    toolName,
    message: `Invalid arguments: ${reason}${cause instanceof Error ? ` (${quote(cause.message, 200)})` : ""}`,
    details: { field: "", reason },
    cause,
  });
  return { args, error };
}
