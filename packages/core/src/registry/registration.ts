import { type ArgumentChecker, createArgumentChecker } from "../arguments/argumentChecker.ts";
import { mountedSchema } from "../arguments/mountedArguments.ts";
import { qualifiesForStrict, schemaProblem } from "../arguments/schema.ts";
import { attempt } from "../callSafely.ts";
import { invalidTool, isErrorNamed, ToolError } from "../errors.ts";
import { traitNames } from "../formats.ts";
import type {
  AnyToolRegistry,
  ChatTool,
  ExecutableTool,
  Guard,
  JsonSchema,
  ToolCallerKind,
  ToolListing,
  ToolTraits,
} from "../interface.ts";
import { copyJson, deepFreeze, isPlainObject, quote } from "../json.ts";
import { freeName, isLegalName } from "../names.ts";
import { createDataCheck } from "./outputData.ts";

/** A tool in the registry: its schema is read once and frozen. */
export interface Entry {
  readonly tool: ExecutableTool;
  readonly schema: ChatTool;
  readonly check: ArgumentChecker;
  readonly outputSchema: JsonSchema | undefined;
  /** Leaves out data that does not fit `outputSchema`; undefined where there is none. */
  readonly checkData: ReturnType<typeof createDataCheck> | undefined;
  /** Asks the question that the tool is; undefined for any other tool. */
  readonly question: Guard | undefined;
  enabled: boolean;
}

const schemas = new WeakMap<ExecutableTool, ChatTool>();

/** Returns the schema of a tool as it was read when the tool was registered; `getSchema` may answer another one by now. */
export function schemaOf(tool: ExecutableTool): ChatTool {
  return schemas.get(tool) ?? tool.getSchema();
}

/** Checks a tool and makes its entry. Throws a ToolError, `invalid_tool` or `already_exists`, that says what is wrong. */
export function createEntry(tool: ExecutableTool, isTaken: (name: string) => boolean): Entry {
  const name = nameOf(tool);
  if (isTaken(name)) {
    const free = freeName(name, isTaken);
    throw new ToolError({
      code: "already_exists",
      toolName: name,
      message: `Tool already exists: ${name} (a free name: ${free}; or unregister the other first)`,
      details: { freeName: free },
    });
  }
  if (typeof tool.execute !== "function") throw invalidTool(name, "execute must be a function");
  if (typeof tool.getSchema !== "function")
    throw invalidTool(name, "getSchema must be a function that returns the tool's schema; defineTool makes one");
  for (const method of ["effects", "ask"] as const)
    if (tool[method] !== undefined && typeof tool[method] !== "function")
      throw invalidTool(name, `${method} must be a function`);
  const problem = callersProblem(tool.callers);
  if (problem) throw invalidTool(name, problem);
  const schema = readSchema(tool, name);
  schemas.set(tool, schema);
  const check = createArgumentChecker(tool, schema.function.parameters);
  const outputSchema = readOutputSchema(tool, name);
  // The forms of a stranger's texts are for its own program to judge.
  const checkData = outputSchema && createDataCheck(tool.hints ? mountedSchema(outputSchema) : outputSchema);
  const question = tool.ask && askTool;
  return { tool, schema, check, outputSchema, checkData, question, enabled: true };
}

/** Returns the traits that a tool states. */
export function traitsOf(tool: ToolTraits): ToolTraits {
  const stated = traitNames.filter((trait) => tool[trait] !== undefined);
  return Object.fromEntries(stated.map((trait) => [trait, tool[trait]]));
}

/** Returns where a tool comes from, what its source claims of it, whether it is deferred, and who may call it. */
export function sourceOf({
  origin,
  hints,
  deferred,
  callers,
}: Pick<ExecutableTool, Source>): Pick<ToolListing, Source> {
  return {
    origin: typeof origin === "string" && origin !== "" ? origin : "own",
    ...(isPlainObject(hints) && { hints: traitsOf(hints) }),
    ...(deferred === true && { deferred: true }),
    ...(callers && { callers: [...callers] }),
  };
}

type Source = "origin" | "hints" | "deferred" | "callers";

/** Returns whether only programs may call a tool, so that no model is told of it. */
export function isForProgramsAlone({ callers }: Pick<ExecutableTool, "callers">): boolean {
  return callers !== undefined && !callers.includes("model");
}

/** Makes the last guard of a tool that is a question to the user. */
const askTool: Guard = ({ tool, args }) => {
  const asked = tool.ask?.(args) ?? "";
  return { ask: { ...(typeof asked === "string" ? { text: asked } : asked), needs: "output" } };
};

/** By the list that was given, which a registry keeps until it changes. */
const shown = new WeakMap<readonly ChatTool[], readonly ChatTool[]>();

/** Returns the schemas of tools that a model may call: the same list where that is each, and always the same for one list. */
export function schemasForModel<Schemas extends readonly ChatTool[]>(
  schemas: Schemas,
  registry: Pick<AnyToolRegistry, "get">,
): Schemas {
  const before = shown.get(schemas);
  if (before) return before as Schemas;
  // If its getter throws, the tool does not state it.
  const isShown = ({ function: { name } }: ChatTool): boolean =>
    attempt(() => isForProgramsAlone(registry.get(name) ?? {})) !== true;
  const after: readonly ChatTool[] = schemas.every(isShown) ? schemas : schemas.filter(isShown);
  shown.set(schemas, after);
  return after as Schemas;
}

const callerKinds: readonly unknown[] = ["model", "programs"] satisfies ToolCallerKind[];

function callersProblem(callers: unknown): string | undefined {
  if (callers === undefined) return undefined;
  const isList = Array.isArray(callers) && callers.length > 0 && callers.every((one) => callerKinds.includes(one));
  return isList ? undefined : 'callers must be an array of "model" and "programs", at least one of them';
}

function nameOf(tool: ExecutableTool): string {
  const name: unknown = tool?.name;
  if (typeof name !== "string" || name.trim() === "") {
    throw invalidTool(undefined, `name must be a string that is not empty, got ${quote(name)}`);
  }
  if (!isLegalName(name)) {
    throw invalidTool(name, "name must match ^[a-zA-Z0-9_-]{1,64}$, which the model APIs require");
  }
  return name;
}

/** Larger schemas are refused: no model reads them, and each value costs time at every call. */
const mostSchemaValues = 20_000;

function readSchema(tool: ExecutableTool, name: string): ChatTool {
  let schema: ChatTool;
  try {
    schema = copyJson(tool.getSchema(), mostSchemaValues);
  } catch (cause) {
    const why = isErrorNamed(cause, "RangeError") ? ` (${cause.message})` : "";
    throw invalidTool(name, `getSchema() must return a schema that can be copied${why}`, cause);
  }
  const definition: unknown = isPlainObject(schema) && schema.type === "function" ? schema.function : undefined;
  if (!isPlainObject(definition)) {
    throw invalidTool(
      name,
      'getSchema() must return { type: "function", function: { name, description, parameters } }',
    );
  }
  if (definition.name !== name) {
    throw invalidTool(name, `the schema's name ${quote(definition.name)} differs from the tool's name`);
  }
  const { description, parameters, strict } = definition;
  if (typeof description !== "string" || description.trim() === "") {
    throw invalidTool(name, "description must be a string that is not empty");
  }
  const problem = schemaProblem(parameters);
  if (problem) throw invalidTool(name, problem);
  schema.function.strict = strict === true && qualifiesForStrict(schema.function.parameters);
  return deepFreeze(schema);
}

function readOutputSchema(tool: ExecutableTool, name: string): JsonSchema | undefined {
  if (tool.outputSchema === undefined) return undefined;
  const schema = attempt(() => copyJson(tool.outputSchema, mostSchemaValues));
  const problem = schemaProblem(schema, "outputSchema");
  if (problem) throw invalidTool(name, problem);
  return deepFreeze(schema);
}
