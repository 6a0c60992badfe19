import {
  type AnyToolRegistry,
  type ArgumentsOf,
  defineTool,
  isPlainObject,
  type JsonSchema,
  type ParametersSchema,
  ToolRegistry,
} from "@toolcrib/core";
import { lastCalls } from "./conversation/waiting.ts";
import type { Message, ToolCallBlock } from "./messages.ts";
import type { ToolChoice } from "./provider.ts";
import { anyOf, type StopCondition } from "./turn/stopConditions.ts";

export const answerTool = "final_answer";

/** What turns need whose answer is a value that fits a schema. */
export interface ObjectAnswer<Value> {
  /** Options of every turn until there is a value, also of those that go on after an approval. */
  readonly options: { readonly tools: AnyToolRegistry; readonly stopWhen: StopCondition };
  /** The message and further options of a second turn, after one that has ended without a value. */
  readonly reminder: { readonly message: string; readonly toolChoice: ToolChoice };
  /** What the model has answered, if it has. */
  readonly given: { readonly value: Value } | undefined;
  /**
   * Takes the answer from the last reply of a conversation where its call has not run here: with the option `steps` of an agent a
   * recorded call does not run again.
   */
  readFrom(messages: readonly Message[]): Promise<void>;
}

/**
 * Adds `final_answer` to a copy of `tools`: the model answers by calling it with a value that fits `schema`. For turns whose events
 * are read (`streamChat`, `streamApprove`); `chatObject` does the whole by itself. Throws a ToolError `invalid_tool` for a wrong schema.
 */
export function createObjectAnswer<const Schema extends ParametersSchema>(
  tools: AnyToolRegistry,
  schema: Schema,
  stopWhen: StopCondition = () => false,
): ObjectAnswer<ArgumentsOf<Schema>> {
  let given: { readonly value: ArgumentsOf<Schema> } | undefined;
  const isWhole = isStandard(schema) || (schema as JsonSchema).type === "object";
  const turnTools = tools.clone();
  const tool = defineTool({
    name: answerTool,
    description: "Give the final answer of this task. Call it once, alone, when all else is done.",
    parameters: isWhole ? schema : asProperty(schema as JsonSchema),
    readOnly: true,
    effects: () => [],
    execute: (args) => {
      given ??= { value: (isWhole ? args : (args as { value: unknown }).value) as ArgumentsOf<Schema> };
      return "Taken.";
    },
  });
  turnTools.register(tool);
  return {
    options: { tools: turnTools, stopWhen: anyOf(({ messages }) => answeringCall(messages) !== undefined, stopWhen) },
    reminder: { message: `Give your answer by calling ${answerTool}.`, toolChoice: { name: answerTool } },
    get given() {
      return given;
    },
    async readFrom(messages) {
      const call = answeringCall(messages);
      // The guards and middleware of the agent have seen it.
      if (call && !given) await new ToolRegistry([tool]).execute(answerTool, call.args);
    },
  };
}

/** The call of the last reply that was taken as the answer. */
function answeringCall(messages: readonly Message[]): ToolCallBlock | undefined {
  return lastCalls(messages).find(
    ({ id, name }) =>
      name === answerTool &&
      messages.findLast((message) => message.role === "tool" && message.callId === id && !message.isError),
  );
}

function isStandard(schema: ParametersSchema): boolean {
  return "~standard" in schema;
}

/** Arguments are always an object: any other value is its property `value`. */
function asProperty({ $schema, $id: _, ...schema }: JsonSchema): JsonSchema {
  const value = moveReferences(schema, false);
  return {
    ...($schema !== undefined && { $schema }),
    type: "object",
    properties: { value },
    required: ["value"],
    additionalProperties: false,
  };
}

const literals: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
const maps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** The schema with its pointers from its own root (`#/$defs/x`) leading from the root of the arguments. `isMap`: its keys are names. */
function moveReferences(schema: unknown, isMap: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((item) => moveReferences(item, false));
  if (!isPlainObject(schema)) return schema;
  const move = ([key, inner]: [string, unknown]): [string, unknown] => {
    if (isMap) return [key, moveReferences(inner, false)];
    if (key === "$ref" && typeof inner === "string") return [key, inner.replace(/^#(?=\/|$)/, "#/properties/value")];
    return [key, literals.has(key) ? inner : moveReferences(inner, maps.has(key))];
  };
  return Object.fromEntries(Object.entries(schema).map(move));
}
