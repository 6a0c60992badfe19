import { nearestName, oneLine } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import type { McpMount, McpPrompt } from "@toolcrib/mcp";
import { shellWord } from "../../terminal/question.ts";
import type { ListedServer } from "../../tools/mcpMount.ts";
import type { CommandReply, SlashContext } from "./slashContext.ts";

export const promptPrefix = "mcp__";

/** Lists the servers: whether this conversation uses them, with which tools, and why not. */
export async function describeServers({ conversation, program }: SlashContext): Promise<string> {
  const { mount } = conversation.parts;
  const { listServers } = await import("../../tools/mcpMount.ts");
  const listed = await listServers(program);
  if (listed.length === 0) return "There is no MCP server; toolcrib mcp add NAME COMMAND adds one.";
  const width = Math.max(...listed.map(({ name }) => oneLine(name, 64).length));
  return listed.map((one) => `${oneLine(one.name, 64).padEnd(width)}  ${stateOf(one, mount)}`).join("\n");
}

function stateOf({ name, state, from }: ListedServer, mount: McpMount | undefined): string {
  if (state === "changed" || state === "not allowed yet")
    return `${state === "changed" ? "changed since you allowed it" : state}: toolcrib mcp allow ${shellWord(oneLine(name, 64))}, then toolcrib chat -c`;
  if (state !== "allowed") return `${state} (${from})`;
  if (!mount) return "not used in this conversation";
  const tools = mount.tools.filter(({ origin }) => origin === `mcp:${name}`).map((tool) => tool.name);
  const problems = mount.problems.filter(({ server }) => server === name).map(({ message }) => oneLine(message, 300));
  const count = tools.length === 1 ? "1 tool" : `${tools.length} tools`;
  return [...problems, tools.length > 0 ? `${count}: ${clip(tools.join(", "), 1000)}` : "no tools"].join("; ");
}

const noServer = "Prompts are of MCP servers, and none is used here; /mcp says why.";

export async function describePrompts({ conversation, program }: SlashContext): Promise<string> {
  const { mount } = conversation.parts;
  if (!mount) return noServer;
  const { prompts, problems } = await program.interrupts.during((signal) => mount.prompts({ signal }));
  const rows = [
    ...prompts.map((one) => `${usageOf(one)}  ${oneLine(one.description, 120)}`.trimEnd()),
    ...problems.map(({ message }) => oneLine(message, 300)),
  ];
  return rows.length > 0 ? rows.join("\n") : "The servers have no prompts.";
}

function usageOf({ name, arguments: args }: McpPrompt): string {
  const words = args.map((one) => (one.isRequired ? oneLine(one.name, 40) : `[${oneLine(one.name, 40)}]`));
  return [`/${name}`, ...words.map((word) => word.toUpperCase())].join(" ");
}

/** Has the server write the prompt, shows it, and sends it as a message of the user. The last argument takes all further words. */
export async function runPrompt(name: string, words: readonly string[], context: SlashContext): Promise<CommandReply> {
  const { conversation, program } = context;
  const { mount } = conversation.parts;
  if (!mount) return noServer;
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

/** Reads the arguments; undefined if one that is needed is missing, or there are words too many. */
function argumentsOf({ arguments: args }: McpPrompt, words: readonly string[]): Record<string, string> | undefined {
  if (args.length === 0) return words.length === 0 ? {} : undefined;
  const given = args.map(({ name }, index) => {
    const isLast = index === args.length - 1;
    return [name, isLast ? words.slice(index).join(" ") : (words[index] ?? "")] as const;
  });
  const isMissing = args.some(({ isRequired }, index) => isRequired && given[index]?.[1] === "");
  return isMissing ? undefined : Object.fromEntries(given.filter(([, word]) => word !== ""));
}
