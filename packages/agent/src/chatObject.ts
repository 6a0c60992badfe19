import {
  type AnyToolRegistry,
  type ArgumentsOf,
  defineTool,
  type JsonSchema,
  type ParametersSchema,
  ToolRegistry,
} from "@toolcrib/core";
import { attempt, isPlainObject, mapSchemas } from "@toolcrib/core/internal";
import type { Agent } from "./agent.ts";
import { answerOf } from "./conversation/conversation.ts";
import { lastCalls } from "./conversation/waiting.ts";
import { AgentError } from "./errors.ts";
import type { Message, ToolCallBlock } from "./messages.ts";
import { type ChatOptions, checkChatOptions, type UserContent } from "./options.ts";
import type { Provider, ToolChoice } from "./provider.ts";
import { anyOf, type StopCondition } from "./turn/stopConditions.ts";

export const answerTool = "final_answer";

/** The parts of a turn whose answer is a value that fits a schema. */
export interface ObjectAnswer<Value> {
  /** Options of every turn until there is a value, also of those that go on after an approval. */
  readonly options: Required<Pick<ChatOptions, "tools" | "stopWhen">> & Pick<ChatOptions, "answerSchema">;
  /** The message and further options of a second turn, after one that has ended without a value. */
  readonly reminder: { readonly message: string; readonly toolChoice?: ToolChoice };
  /** The model's answer, if it has given one. */
  readonly given: { readonly value: Value } | undefined;
  /**
   * Takes the answer from the last reply of a conversation: to be called after each turn. An answer by the service's format is text, and
   * with the option `steps` of an agent a recorded call does not run again.
   */
  readFrom(messages: readonly Message[]): Promise<void>;
}

/**
 * Has the model answer with a value that fits `schema`: by itself where the model of `provider` can, else by calling `final_answer`, which is
 * added to a copy of `tools`. For turns whose events are read (`streamChat`, `streamApprove`); `chatObject` does the whole by itself.
 * Throws a ToolError `invalid_tool` for a wrong schema.
 */
export function createObjectAnswer<const Schema extends ParametersSchema>(
  tools: AnyToolRegistry,
  schema: Schema,
  stopWhen: StopCondition = () => false,
  provider?: Pick<Provider, "abilities">,
): ObjectAnswer<ArgumentsOf<Schema>> {
  let given: { readonly value: ArgumentsOf<Schema> } | undefined;
  const wrapped = "~standard" in schema || schema.type === "object" ? undefined : asProperty(schema);
  const tool = defineTool({
    name: answerTool,
    description: "Give the final answer of this task. Call it once, alone, when all else is done.",
    parameters: wrapped ?? schema,
    readOnly: true,
    effects: () => [],
    execute: (args) => {
      given ??= { value: (wrapped && isPlainObject(args) ? args.value : args) as ArgumentsOf<Schema> };
      return "Taken.";
    },
  });
  const answering = new ToolRegistry([tool]);
  const answerSchema = tool.getSchema().function.parameters;
  const isFormatted = provider?.abilities?.answersBy(answerSchema) === true;
  const turnTools = tools.clone();
  if (!isFormatted) turnTools.register(tool);
  let problem = "It is not JSON.";
  return {
    options: isFormatted
      ? { tools, stopWhen, answerSchema }
      : { tools: turnTools, stopWhen: anyOf(({ messages }) => answeringCall(messages) !== undefined, stopWhen) },
    get reminder() {
      if (isFormatted)
        return { message: `Your answer does not fit its schema. ${problem} Answer again, with JSON alone.` };
      return { message: `Give your answer by calling ${answerTool}.`, toolChoice: { name: answerTool } };
    },
    get given() {
      return given;
    },
    async readFrom(messages) {
      if (given) return;
      const written = lastJson(messages);
      const asArguments = wrapped && !isFormatted && written !== undefined ? { value: written } : written;
      const args = (isFormatted ? undefined : answeringCall(messages)?.args) ?? asArguments;
      if (args === undefined) return;
      // The guards and middleware of the agent have seen a call.
      const outcome = await answering.invoke(answerTool, args);
      if (!outcome.ok) problem = outcome.error.message;
    },
  };
}

/**
 * Runs one turn whose answer is a value that fits `schema` (JSON Schema or Standard Schema). Where the service keeps answers to a schema, the model
 * answers by itself; elsewhere it calls the tool `final_answer`, which exists for this turn only. It is reminded once if it gives no such
 * value. Rejects as `agent.chat` does, and with `bad_reply` when no such answer came.
 */
export async function chatObject<const Schema extends ParametersSchema>(
  agent: Agent,
  message: UserContent,
  schema: Schema,
  options: ChatOptions = {},
): Promise<ArgumentsOf<Schema>> {
  checkChatOptions(options);
  const answer = createObjectAnswer(options.tools ?? agent.toolRegistry, schema, options.stopWhen, agent.provider);
  await agent.chat(message, { ...options, ...answer.options });
  await answer.readFrom(agent.sessionContext);
  if (!answer.given) {
    const { message: reminder, toolChoice } = answer.reminder;
    await agent.chat(reminder, { ...options, ...answer.options, toolChoice });
    await answer.readFrom(agent.sessionContext);
  }
  if (answer.given) return answer.given.value;
  throw new AgentError({
    code: "bad_reply",
    message: "The model gave no answer that fits the schema; try again or simplify the schema.",
  });
}

/** Returns the text of the last reply as JSON, also in the one code block of the reply; undefined where it is none. */
function lastJson(messages: readonly Message[]): unknown {
  const reply = messages.findLast((message) => message.role === "assistant");
  const text = reply ? answerOf(reply).replace(/^\uFEFF/, "") : "";
  const [block, more] = [...text.matchAll(/^```\w*[^\S\n]*\n(.*?)\n?```[^\S\n]*$/gms)];
  return attempt(() => JSON.parse(text)) ?? (more ? undefined : attempt(() => JSON.parse(block?.[1] ?? "")));
}

/** Returns the call of the last reply that was taken as the answer. */
function answeringCall(messages: readonly Message[]): ToolCallBlock | undefined {
  return lastCalls(messages).find(
    ({ id, name }) =>
      name === answerTool &&
      messages.findLast((message) => message.role === "tool" && message.callId === id && !message.isError),
  );
}

/** Wraps any value but an object in the property `value`: arguments are always an object. References lead from the root of these. */
function asProperty({ $schema, $id: _, ...schema }: JsonSchema): JsonSchema {
  const value = mapSchemas(schema, (own) =>
    typeof own.$ref === "string" ? { ...own, $ref: own.$ref.replace(/^#(?=\/|$)/, "#/properties/value") } : own,
  );
  return {
    ...($schema !== undefined && { $schema }),
    type: "object",
    properties: { value },
    required: ["value"],
    additionalProperties: false,
  };
}
