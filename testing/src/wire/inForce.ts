import { isObject } from "../isObject.ts";
import type { Fields } from "./checks.ts";
import type { WireFormat } from "./service.ts";

/** The tools that the reply to a request may call, and its instructions, however the wire says it. */
export interface InForce {
  readonly tools: readonly string[];
  /** The text of the system prompt, and of each later message in its place, oldest first. */
  readonly instructions: readonly string[];
}

/** Reads it from the body of a request as the service does. */
export function inForce(format: WireFormat, body: Fields): InForce {
  const read = { messages: fromMessages, responses: fromResponses, chat: fromChat }[format](body);
  return { ...read, tools: [...read.tools].sort() };
}

function fromMessages(body: Fields): InForce {
  const tools = new Set(
    list(body.tools)
      .filter((tool) => tool.defer_loading !== true)
      .map(({ name }) => String(name)),
  );
  const instructions = [textOf(body.system)];
  for (const { role, content } of list(body.messages)) {
    if (role === "system") instructions.push(textOf(content));
    for (const block of list(content)) {
      const tool = isObject(block.tool) ? block.tool : {};
      const name = String(isObject(tool.definition) ? tool.definition.name : tool.name);
      if (block.type === "tool_addition") tools.add(name);
      if (block.type === "tool_removal") tools.delete(name);
      for (const part of list(block.content)) if (part.type === "tool_reference") tools.add(String(part.tool_name));
    }
  }
  return { tools: isObject(body.tool_choice) && body.tool_choice.type === "none" ? [] : [...tools], instructions };
}

function fromResponses(body: Fields): InForce {
  const input = list(body.input);
  const added = input.filter(({ type }) => type === "additional_tools" || type === "tool_search_output");
  const declared = [
    ...list(body.tools).filter((tool) => tool.defer_loading !== true),
    ...added.flatMap(({ tools }) => list(tools)),
  ];
  const choice = body.tool_choice;
  const allowed = isObject(choice) && choice.type === "allowed_tools" ? list(choice.tools) : declared;
  const names = allowed.map(({ name, type }) => String(name ?? type));
  const instructions = input
    .filter(({ role, type = "message" }) => type === "message" && (role === "developer" || role === "system"))
    .map(({ content }) => textOf(content));
  return {
    tools: choice === "none" ? [] : [...new Set(names)],
    instructions: [String(body.instructions ?? ""), ...instructions],
  };
}

function fromChat(body: Fields): InForce {
  const tools = list(body.tools).map((tool) => String(isObject(tool.function) ? tool.function.name : ""));
  const system = list(body.messages).filter(({ role }) => role === "system");
  return {
    tools: body.tool_choice === "none" ? [] : tools,
    instructions: system.map(({ content }) => textOf(content)),
  };
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return list(content)
    .map(({ text }) => String(text ?? ""))
    .join("");
}
