import type { ArgumentsOf, ParametersSchema } from "@toolcrib/core";
import type { Agent } from "./agent.ts";
import { AgentError } from "./errors.ts";
import { createObjectAnswer } from "./objectAnswer.ts";
import type { ChatOptions, UserContent } from "./options.ts";
import { checkChatOptions } from "./options.ts";

/**
 * One turn whose answer is a value that fits `schema` (JSON Schema or Standard Schema). Where the service keeps answers to a schema, the model
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
