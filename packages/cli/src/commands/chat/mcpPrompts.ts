import type { AgentEvent } from "@toolcrib/agent";
import { nearestName } from "@toolcrib/core/internal";
import type { McpPrompt } from "@toolcrib/mcp";
import type { Program } from "../../program.ts";
import { oneLine } from "../../terminal/render.ts";
import type { Conversation } from "../conversation.ts";

/** The part of a slash command's context that prompts need. */
interface PromptContext {
  readonly program: Program;
  readonly conversation: Conversation;
  turn(start: (signal: AbortSignal) => AsyncIterable<AgentEvent>): Promise<void>;
}

/** Names of commands that are prompts of MCP servers. */
export const promptPrefix = "mcp__";

/** Lists the prompts of the servers, which are started for it. */
export async function describePrompts({ conversation: { mount }, program }: PromptContext): Promise<string> {
  if (!mount) return "Prompts are of MCP servers: start toolcrib chat with --mcp.";
  const { prompts, problems } = await program.interrupts.during((signal) => mount.prompts({ signal }));
  const rows = [...prompts.map(describePrompt), ...problems.map(({ message }) => oneLine(message, 300))];
  return rows.length > 0 ? rows.join("\n") : "The servers have no prompts.";
}

function describePrompt(prompt: McpPrompt): string {
  const about = prompt.description === "" ? "" : `  ${oneLine(prompt.description, 120)}`;
  return `${usageOf(prompt)}${about}`;
}

function usageOf({ name, arguments: args }: McpPrompt): string {
  const words = args.map((one) => (one.isRequired ? oneLine(one.name, 40) : `[${oneLine(one.name, 40)}]`));
  return [`/${name}`, ...words.map((word) => word.toUpperCase())].join(" ");
}

/** Has the server write the prompt, shows it, and sends it as a message of the user. The last argument takes all further words. */
export async function runPrompt(
  name: string,
  words: readonly string[],
  context: PromptContext,
): Promise<string | undefined> {
  const { conversation, program } = context;
  const { mount } = conversation;
  if (!mount) return "Prompts are of MCP servers: start toolcrib chat with --mcp.";
  const text = await program.interrupts.during(async (signal) => {
    const { prompts } = await mount.prompts({ signal });
    const prompt = prompts.find((one) => one.name === name);
    if (!prompt) return unknownPrompt(name, prompts);
    const args = argumentsOf(prompt, words);
    return args
      ? { sent: await mount.writePrompt(name, args, { signal }), server: prompt.server }
      : `Write ${usageOf(prompt)}.`;
  });
  if (typeof text === "string") return text;
  if (text.sent.trim() === "") return "The prompt of the server is empty.";
  program.terminal.aside(text.sent);
  await context.turn((signal) => conversation.turn(text.sent, signal));
  return undefined;
}

function unknownPrompt(name: string, prompts: readonly McpPrompt[]): string {
  const nearest = nearestName(
    name,
    prompts.map((one) => one.name),
  );
  return `There is no prompt ${oneLine(name, 80)}${nearest ? `; did you mean /${nearest}?` : ";"} /prompts lists them.`;
}

/** Undefined where one that is needed is missing, or there are words too many. */
function argumentsOf({ arguments: args }: McpPrompt, words: readonly string[]): Record<string, string> | undefined {
  if (args.length === 0) return words.length === 0 ? {} : undefined;
  const given = args.map(({ name }, index) => {
    const isLast = index === args.length - 1;
    return [name, isLast ? words.slice(index).join(" ") : (words[index] ?? "")] as const;
  });
  const isMissing = args.some(({ isRequired }, index) => isRequired && given[index]?.[1] === "");
  return isMissing ? undefined : Object.fromEntries(given.filter(([, word]) => word !== ""));
}
