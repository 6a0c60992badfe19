/**
 * The families of open models whose templates write calls, and some of them thinking, as text. A server reads those only if it is told how, so
 * they may arrive as they are. By a word in the model's name; read on 2026-11-28, in the templates that the makers publish.
 */
export const textCallFamilies: readonly string[] = [
  ...["qwen", "qwq", "hermes", "llama", "mistral", "mixtral", "ministral", "codestral", "devstral", "magistral"],
  ...["deepseek", "glm", "chatglm", "kimi", "minimax"],
];

const inName = new RegExp(`(?:^|[^a-z])(?:${textCallFamilies.join("|")})`, "i");

export function writesTextCalls(model: string): boolean {
  return inName.test(model);
}
