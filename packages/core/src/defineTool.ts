import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { invalidTool, isError } from "./errors.ts";
import type {
  ChatTool,
  ExecutableTool,
  JsonSchema,
  ParseResult,
  ToolCallerKind,
  ToolCallInfo,
  ToolEffect,
  ToolTraits,
} from "./interface.ts";
import { clip } from "./json.ts";
import { checkSpelling, checkValues, type OptionSpecs, option } from "./options.ts";

/** A literal JSON Schema with `type: "object"` at its root, of which the type of the arguments is inferred. */
export type ObjectSchema = { readonly type: "object"; readonly [keyword: string]: unknown };

/**
 * The arguments that `execute` receives for a JSON Schema (its inferred type; any properties where the schema is not a literal) or a
 * Standard Schema (its output).
 */
export type ArgumentsOf<Parameters> = Parameters extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Parameters>
  : unknown extends FromSchema<Parameters>
    ? Record<string, unknown>
    : FromSchema<Parameters>;

/** The forms of parameters: a JSON Schema, or a Standard Schema (zod, arktype). */
export type ParametersSchema = ObjectSchema | JsonSchema | StandardSchemaV1;

export interface ToolDefinition<Parameters> extends ToolTraits {
  /** Matches `^[a-zA-Z0-9_-]{1,64}$`. */
  name: string;
  description: string;
  /** A JSON Schema, or a Standard Schema (https://standardschema.dev). */
  parameters: Parameters;
  /** The JSON Schema of a Standard Schema that cannot give its own. */
  jsonSchema?: JsonSchema;
  /** A schema of the `data` that `toolOutput` gives: a JSON Schema, or a Standard Schema that offers its own. */
  outputSchema?: JsonSchema | StandardSchemaV1;
  /** The values of arguments that are left out (`ExecutableTool.defaults`). */
  defaults?: Readonly<Record<string, unknown>>;
  /** Ask for strict mode; granted where the schema qualifies. */
  strict?: boolean;
  /** The source of the tool, a package's name for example; `own` when absent. */
  origin?: string;
  /** Milliseconds, or a function of the checked arguments. */
  timeoutMs?: number | ((args: ArgumentsOf<Parameters>) => number);
  /** Kept out of an agent's requests until it is searched for (`ExecutableTool.deferred`). */
  deferred?: boolean;
  /** Those who may call it: the model, programs, or both (`ExecutableTool.callers`). Default: the model. */
  callers?: readonly ToolCallerKind[];
  /** Declares what a call would do, for guards (`ExecutableTool.effects`). */
  effects?(args: ArgumentsOf<Parameters>): readonly ToolEffect[] | Promise<readonly ToolEffect[]>;
  /** Runs the tool. A string is the output; anything else is rendered as JSON text. Throw to fail. */
  execute(args: ArgumentsOf<Parameters>, call: ToolCallInfo): unknown;
}

const definitionSpecs: OptionSpecs<ToolDefinition<unknown>> = {
  name: true,
  description: true,
  parameters: true,
  jsonSchema: true,
  outputSchema: true,
  defaults: true,
  strict: true,
  origin: true,
  timeoutMs: {
    expected: "a number of milliseconds above 0, Infinity, or a function of the arguments",
    fits: (value) => typeof value === "function" || option.milliseconds.fits(value),
    otherwise: "30,000",
    isShown: true,
  },
  effects: { ...option.call, expected: "a function of the arguments" },
  execute: true,
  readOnly: true,
  destructive: true,
  idempotent: true,
  deferred: true,
  callers: true,
  openWorld: true,
};

/**
 * Makes a tool from one object, with `args` inferred from `parameters`. Throws a TypeError for a misspelt name in
 * the definition, and a ToolError (`invalid_tool`) when a Standard
 * Schema offers no JSON Schema and none is given; everything else is checked by `ToolRegistry.register`.
 */
export function defineTool<const Parameters extends ParametersSchema>(
  definition: ToolDefinition<Parameters>,
): ExecutableTool {
  checkRuntime();
  checkSpelling("defineTool", definition, definitionSpecs);
  checkValues("defineTool", definition, definitionSpecs);
  const { name, description, parameters, jsonSchema, outputSchema, strict, timeoutMs, effects, execute, ...traits } =
    definition;
  const standard = isStandardSchema(parameters) ? parameters : undefined;
  const schema: ChatTool = {
    type: "function",
    function: {
      name,
      description,
      parameters: jsonSchema ?? toJsonSchema(name, parameters, "input"),
      strict: strict ?? false,
    },
  };
  type Erased = Record<string, unknown>;
  return {
    ...traits,
    name,
    ...(timeoutMs === undefined ? {} : { timeoutMs: timeoutMs as number | ((args: Erased) => number) }),
    ...(outputSchema && { outputSchema: toJsonSchema(name, outputSchema, "output") }),
    getSchema: () => schema,
    ...(standard
      ? { parseArguments: (args: Erased): ParseResult | Promise<ParseResult> => standard["~standard"].validate(args) }
      : {}),
    ...(effects && { effects: (args: Erased) => effects.call(definition, args as ArgumentsOf<Parameters>) }),
    execute(args: Erased, call: ToolCallInfo = {}) {
      // Not an async function, which would take several turns of the microtask queue more. The registry renders what is not a string.
      try {
        return Promise.resolve(execute.call(definition, args as ArgumentsOf<Parameters>, call) as string);
      } catch (error) {
        return Promise.reject(error);
      }
    },
  };
}

/** Throws an Error that names the version needed, on a Node.js without what the packages use. */
function checkRuntime(): void {
  if ("withResolvers" in Promise) return;
  throw new Error(`Node.js 22.18 or later is needed; this is ${process.version}`);
}

/** A schema of a library, of which not every one gives its JSON Schema. */
interface LibrarySchema {
  readonly "~standard": StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
}

function isStandardSchema(value: unknown): value is LibrarySchema {
  return value !== null && (typeof value === "object" || typeof value === "function") && "~standard" in value;
}

function isJsonSchema(schema: JsonSchema | StandardSchemaV1): schema is JsonSchema {
  return !isStandardSchema(schema);
}

/** Since when a library gives the JSON Schema of its schemas (https://standardschema.dev/json-schema). */
const leastVersions: Readonly<Record<string, string>> = { zod: "4.2", arktype: "2.1.28" };

/** Converts a schema of what a tool takes or gives. */
function toJsonSchema(name: string, schema: JsonSchema | StandardSchemaV1, side: "input" | "output"): JsonSchema {
  if (isJsonSchema(schema)) return schema;
  const instead = side === "input" ? "pass it as jsonSchema too" : "give outputSchema as a JSON Schema";
  const { vendor, jsonSchema }: LibrarySchema["~standard"] = schema["~standard"];
  if (!jsonSchema) {
    const least = Object.hasOwn(leastVersions, vendor) ? ` (${vendor} does from ${leastVersions[vendor]} on)` : "";
    throw invalidTool(name, `the ${vendor} schema offers no JSON Schema${least}; ${instead}`);
  }
  try {
    const { $schema: _, ...rest } = jsonSchema[side]({ target: "draft-2020-12" });
    return rest;
  } catch (cause) {
    const why = isError(cause) && cause.message !== "" ? ` (${clip(cause.message, 500)})` : "";
    throw invalidTool(name, `the ${vendor} schema cannot be written as JSON Schema${why}; ${instead}`, cause);
  }
}

/**
 * The TypeScript type of what a literal JSON Schema describes. Kept shallow on purpose: type, enum, const, properties,
 * required, items; anything else is `unknown`.
 */
type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: infer T }
      ? FromType<S, T extends readonly (infer U)[] ? U : T>
      : unknown;

type FromType<S, T> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? S extends { readonly items: infer I }
            ? FromSchema<I>[]
            : unknown[]
          : T extends "object"
            ? FromObject<S>
            : unknown;

type FromObject<S> = S extends { readonly properties: infer P }
  ? Flat<
      { -readonly [K in keyof P & Required<S>]: FromSchema<P[K]> } & {
        -readonly [K in Exclude<keyof P, Required<S>>]?: FromSchema<P[K]> | undefined;
      }
    >
  : Record<string, unknown>;

type Required<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type Flat<T> = { [K in keyof T]: T[K] };
