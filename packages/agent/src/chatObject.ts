import { type ArgumentsOf, defineTool, type ParametersSchema } from "@toolcrib/core";
import type { Agent } from "./agent.ts";
import { AgentError } from "./errors.ts";
import type { ChatOptions, UserContent } from "./options.ts";
import { checkChatOptions } from "./options.ts";
import { anyOf } from "./turn/stopConditions.ts";

const answerTool = "final_answer";

/**
 * One turn whose answer is an object that fits `schema` (JSON Schema or Standard Schema). The model gives it by calling the
 * tool `final_answer`, which exists for this turn only; it is reminded once if it answers in prose. Rejects as `agent.chat`
 * does, and with `bad_reply` when no such answer came.
 */
export async function chatObject<const Schema extends ParametersSchema>(
  agent: Agent,
  message: UserContent,
  schema: Schema,
  options: ChatOptions = {},
): Promise<ArgumentsOf<Schema>> {
  checkChatOptions(options);
  let answer: { readonly value: ArgumentsOf<Schema> } | undefined;
  const tools = (options.tools ?? agent.toolRegistry).clone();
  tools.register(
    defineTool({
      name: answerTool,
      description: "Give the final answer of this task. Call it once, alone, when all else is done.",
      parameters: schema,
      execute: (value) => {
        answer ??= { value };
        return "Taken.";
      },
    }),
  );
  const answered = (): boolean => answer !== undefined;
  const stopWhen = options.stopWhen ? anyOf(options.stopWhen, answered) : answered;
  await agent.chat(message, { ...options, tools, stopWhen });
  if (!answer) {
    const toolChoice = { name: answerTool };
    await agent.chat(`Give your answer by calling ${answerTool}.`, { ...options, tools, stopWhen, toolChoice });
  }
  if (answer) return answer.value;
  throw new AgentError({
    code: "bad_reply",
    message: `The model did not answer by calling ${answerTool}; try again or simplify the schema.`,
  });
}
