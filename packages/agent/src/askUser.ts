import { defineTool, type ExecutableTool } from "@toolcrib/core";

const longestQuestion = 4000;
const mostChoices = 20;
const longestChoice = 200;

/**
 * Creates the tool `ask_user`: a question of the model to the user, with answers to choose from or without. It waits as any question of a guard does,
 * and `{ output }` is its answer; whoever answers finds the choices in `question.data.choices`. Nothing else happens, so any policy allows it.
 */
export function createAskUserTool(...none: readonly never[]): ExecutableTool {
  if (none.length > 0) throw new TypeError("createAskUserTool has no options");
  const tool = defineTool({
    name: "ask_user",
    description:
      "Ask the user a question and wait for the answer. For what only the user knows or may decide, not for permission to call a tool.",
    parameters: {
      type: "object",
      properties: {
        question: { type: "string", minLength: 1, maxLength: longestQuestion, description: "One question" },
        choices: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: longestChoice },
          minItems: 2,
          maxItems: mostChoices,
          description: "Answers to choose from; leave out for an answer in free words",
        },
      },
      required: ["question"],
      additionalProperties: false,
    },
    origin: "@toolcrib/agent",
    readOnly: true,
    effects: () => [],
    execute() {
      throw new Error("only a registry can ask the user: call ask_user through one");
    },
  });
  return {
    ...tool,
    ask: ({ question, choices }) => ({ text: String(question), ...(choices !== undefined && { data: { choices } }) }),
  };
}
