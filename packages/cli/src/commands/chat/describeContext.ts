import { charactersPerToken, estimateTokens } from "@toolcrib/contracts";
import { oneLine } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import type { Conversation } from "../conversation.ts";

export function describeUsage({ agent: { sessionContext, usage } }: Conversation): string {
  const count = (value: number): string => value.toLocaleString("en-US");
  const cost = usage.cost === undefined ? "cost unknown" : `$${usage.cost.toFixed(4)}`;
  return (
    `${count(sessionContext.length)} messages; tokens: ${count(usage.inputTokens)} in ` +
    `(${count(usage.cacheReadTokens)} from the cache), ${count(usage.outputTokens)} out; ${cost}`
  );
}

/** Describes what goes along with each request, in estimated tokens. */
export function describeContext({ agent, built: { instructions }, parts: { skills } }: Conversation): string {
  const { systemPrompt, sessionContext, toolRegistry } = agent;
  const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / charactersPerToken);
  const tools = toolRegistry.listTools().filter(({ enabled }) => enabled);
  const row = (tokens: number, what: string): string => `${tokens.toLocaleString("en-US").padStart(9)}  ${what}`;
  return [
    row(tokensOf(systemPrompt), "system prompt"),
    ...instructions.files.map(({ path, text, bytes }) => {
      const read = Buffer.byteLength(text) < bytes - 1 ? `, the first of its ${bytes} bytes` : "";
      return row(tokensOf(text), `  of it ${oneLine(path, 200)}${read}`);
    }),
    ...(instructions.files.length === 0 ? ["           no AGENTS.md is read"] : []),
    ...(skills.skills.length === 0 ? [] : [row(tokensOf(skills.catalogue), `  of it ${skillNames(skills)}`)]),
    row(
      tools.reduce((sum, tool) => sum + estimateTokens(tool), 0),
      `${tools.length} tools`,
    ),
    row(tokensOf(sessionContext), `${sessionContext.length} messages`),
    `Tokens, estimated: one for ${charactersPerToken} characters.`,
  ].join("\n");
}

function skillNames({ skills }: Conversation["parts"]["skills"]): string {
  const names = skills.map(({ name }) => oneLine(name, 64)).join(", ");
  return `${skills.length === 1 ? "1 skill" : `${skills.length} skills`}: ${clip(names, 1000)}`;
}

const mostShownLines = 8;

/**
 * Describes what was said last in a conversation that goes on: the last message and its answer, if there is one, of each the first lines.
 */
export function describeLastExchange({ agent: { sessionContext } }: Conversation): string | undefined {
  const said = sessionContext.flatMap((message) => {
    const { role, content = [] } = message;
    const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return role === "tool" || text.trim() === "" ? [] : [{ role, text: text.trim() }];
  });
  if (said.length === 0) return undefined;
  const at = said.findLastIndex(({ role }) => role === "user");
  const answer = said.slice(at + 1).at(-1);
  const asked = at === -1 ? [] : [quoted(said[at]?.text ?? ""), ""];
  return [...asked, answer ? firstLines(answer.text).join("\n") : "(no answer yet)"].join("\n");
}

/** Writes a message of the user as the screen shows one: its first lines. */
export function quoted(message: string): string {
  return firstLines(message)
    .map((line, index) => `${index === 0 ? ">" : " "} ${line}`)
    .join("\n");
}

function firstLines(text: string): string[] {
  const lines = text.split("\n").map((line) => oneLine(line, 200));
  const more = lines.length - mostShownLines;
  return more > 0 ? [...lines.slice(0, mostShownLines), `… ${more} more lines`] : lines;
}
