import { defineTool, type ExecutableTool } from "@toolcrib/core";

export function createCountWordsTool(): ExecutableTool {
  return defineTool({
    name: "count_words",
    // The model decides by the description when to call it.
    description: "Counts the words of a text, or how often one word occurs in it.",
    parameters: {
      type: "object",
      properties: {
        text: { type: "string", description: "The text." },
        word: { type: "string", minLength: 1, description: "Count this word alone; capitals make no difference." },
      },
      required: ["text"],
      additionalProperties: false,
    },
    readOnly: true,
    // It touches no file, no network and no process, so no policy need ask about it.
    effects: () => [],
    execute({ text, word }) {
      const words = text.match(/[\p{L}\p{N}'’]+/gu) ?? [];
      if (word === undefined) return `${words.length} words`;
      const found = words.filter((one) => one.toLowerCase() === word.toLowerCase());
      return `${found.length} of ${words.length} words`;
    },
  });
}
