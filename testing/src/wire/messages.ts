import { isObject } from "../isObject.ts";
import { type Fields, listOf, Problems } from "./checks.ts";
import { definitionProblems } from "./definitions.ts";
import { checkEffort, settingsProblems } from "./messagesSettings.ts";
import { pictureProblems } from "./pictures.ts";
import { betas, type MessagesRules, messagesRules } from "./rules.ts";
import { ToolChanges } from "./toolChanges.ts";

const optional = [
  ...["system", "cache_control", "thinking", "output_config", "tools", "tool_choice", "stream", "metadata"],
  ...["stop_sequences", "temperature", "top_p", "top_k", "service_tier", "inference_geo", "speed"],
  ...["context_management", "compaction"],
];
const mostDeferred = 10_000;

/** The problems for which the Messages API would refuse the request. `named`: the betas that its header names. */
export function messagesProblems(body: Fields, named: ReadonlySet<string>): readonly string[] {
  const problems = new Problems();
  const rules = messagesRules(body.model);
  problems.object(body, "the body", ["model", "max_tokens", "messages"], optional);
  problems.text(body.model, "model");
  const tools = body.tools === undefined ? [] : listOf(problems, body.tools, "tools");
  checkTools(problems, tools);
  const messages = listOf(problems, body.messages, "messages");
  checkMessages(problems, messages, { rules, named, changes: new ToolChanges(tools, named) });
  checkReferences(problems, messages, tools);
  return [...problems.list, ...settingsProblems(body, named), ...pictureProblems(messages, rules)];
}

function checkTools(problems: Problems, tools: readonly unknown[]): void {
  const names = new Set<unknown>();
  let deferred = 0;
  for (const [index, tool] of tools.entries()) {
    checkTool(problems, tool, `tools[${index}]`);
    if (!isObject(tool)) continue;
    problems.expect(!names.has(tool.name), `tools: Tool names must be unique: ${String(tool.name)}`);
    names.add(tool.name);
    if (tool.defer_loading === true) deferred += 1;
  }
  problems.expect(deferred === 0 || deferred < tools.length, "every tool is deferred");
  problems.expect(deferred <= mostDeferred, `${deferred} deferred tools, at most ${mostDeferred}`);
}

/** Checks a tool of the request, or one that a system message defines. */
export function checkTool(problems: Problems, tool: unknown, at: string): void {
  const allowed = ["description", "strict", "cache_control", "type", "defer_loading", "eager_input_streaming"];
  if (!problems.object(tool, at, ["name", "input_schema"], allowed)) return;
  problems.name(tool.name, `${at}.name`);
  for (const problem of definitionProblems("messages", tool)) problems.add(`${at}: ${problem}`);
}

/** A tool that a result refers to must be among the tools. */
function checkReferences(problems: Problems, messages: readonly unknown[], tools: readonly unknown[]): void {
  const names = new Set(tools.map((tool) => (isObject(tool) ? tool.name : undefined)));
  JSON.stringify(messages, (_key, value: unknown) => {
    if (!isObject(value)) return value;
    if (value.type === "tool_reference" && value.tool_name !== undefined)
      problems.expect(names.has(value.tool_name), `no tool ${String(value.tool_name)}, which a result refers to`);
    return value;
  });
}

interface Context {
  readonly rules: MessagesRules;
  readonly named: ReadonlySet<string>;
  readonly changes: ToolChanges;
}

function checkMessages(problems: Problems, messages: readonly unknown[], context: Context): void {
  problems.expect(isObject(messages[0]) && messages[0].role === "user", "the first message is not the user's");
  const ids = new Set<string>();
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    if (!isObject(message)) {
      problems.add(`${at} is not an object`);
      continue;
    }
    if (message.role === "system") {
      problems.expect(open.length === 0, `${at} comes before the results of ${open}`);
      checkSystemMessage(problems, message, at, context);
      const [before, after] = [messages[index - 1], messages[index + 1]];
      const isPlaced = roleOf(before) === "user" && (after === undefined || roleOf(after) === "assistant");
      problems.expect(
        isPlaced,
        `${at}: a system message must follow a user turn, and be last or before an assistant turn`,
      );
      continue;
    }
    problems.object(message, at, ["role", "content"], []);
    const blocks = blocksOf(problems, message.content, at);
    if (message.role === "user") {
      checkResults(problems, blocks, open, at);
      open = [];
      continue;
    }
    problems.expect(message.role === "assistant", `${at} has the role ${String(message.role)}`);
    problems.expect(open.length === 0, `${at} comes before the results of ${open}`);
    const last = blocks.at(-1)?.type;
    problems.expect(last !== "thinking" && last !== "redacted_thinking", `${at} ends in thinking`);
    open = blocks.filter((block) => block.type === "tool_use").map((block) => String(block.id));
    for (const block of blocks) checkAssistantBlock(problems, block, ids, at);
  }
  problems.expect(open.length === 0, `messages end before the results of ${open}`);
}

function roleOf(message: unknown): unknown {
  return isObject(message) ? message.role : undefined;
}

function checkSystemMessage(problems: Problems, message: Fields, at: string, { rules, named, changes }: Context): void {
  if (!problems.expect(rules.isAppendOnly, `${at}: role 'system' is not supported on this model`)) return;
  problems.object(message, at, ["role"], ["content", "clear_at", "output_config"]);
  const { content = [], clear_at, output_config: config } = message;
  if (clear_at !== undefined) {
    problems.expect(named.has(betas.clearAt), `${at}.clear_at: Extra inputs are not permitted`);
    problems.expect(clear_at === "next_user_message" || clear_at === "never", `${at}.clear_at: ${String(clear_at)}`);
  }
  if (config !== undefined && problems.object(config, `${at}.output_config`, [], ["effort"])) {
    problems.expect(named.has(betas.effort), `${at}.output_config: Extra inputs are not permitted`);
    checkEffort(problems, config.effort, rules, `${at}.output_config.effort`);
  }
  const isEmpty = content === "" || (Array.isArray(content) && content.length === 0);
  if (isEmpty && isObject(config) && config.effort !== undefined) return;
  for (const block of blocksOf(problems, content, at)) {
    if (block.type === "tool_addition" || block.type === "tool_removal") {
      const definition = changes.take(problems, block, at);
      if (definition) checkTool(problems, definition, `${at} tool_definition`);
    } else problems.expect(block.type === "text", `${at}: a system message holds the block ${String(block.type)}`);
  }
}

function blocksOf(problems: Problems, content: unknown, at: string): Fields[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(problems, content, at);
  problems.expect(blocks.length > 0, `${at} is empty`);
  for (const block of blocks) {
    if (!problems.expect(isObject(block), `${at} holds something that is not a block`) || !isObject(block)) continue;
    if (block.type === "text") {
      problems.expect(typeof block.text === "string" && block.text.trim() !== "", `${at} holds a blank text`);
    }
  }
  return blocks.filter(isObject);
}

function checkAssistantBlock(problems: Problems, block: Fields, ids: Set<string>, at: string): void {
  switch (block.type) {
    case "text":
      problems.object(block, `${at} text`, ["type", "text"], ["cache_control", "citations"]);
      break;
    case "thinking":
      problems.object(block, `${at} thinking`, ["type", "thinking", "signature"], []);
      problems.text(block.signature, `${at} signature`);
      break;
    case "redacted_thinking":
      problems.text(block.data, `${at} data`);
      break;
    case "tool_use":
      problems.object(block, `${at} tool_use`, ["type", "id", "name", "input"], ["cache_control", "caller"]);
      problems.id(block.id, `${at} tool_use id`, ids);
      problems.name(block.name, `${at} tool_use name`);
      problems.expect(isObject(block.input), `${at} tool_use input is not an object`);
      break;
    default:
      problems.add(`${at} holds the unknown block ${String(block.type)}`);
  }
}

function checkResults(problems: Problems, blocks: readonly Fields[], open: readonly string[], at: string): void {
  const results = blocks.filter((block) => block.type === "tool_result");
  const answered = results.map((block) => String(block.tool_use_id));
  problems.expect(
    blocks.slice(0, results.length).every((block) => block.type === "tool_result"),
    `${at} has something before a tool result`,
  );
  for (const id of open) {
    const count = answered.filter((other) => other === id).length;
    problems.expect(count === 1, `${at} has ${count} results for ${id}`);
  }
  for (const id of answered)
    problems.expect(open.includes(id), `${at} has a result for ${id}, which no call before it has`);
  for (const block of results) {
    problems.object(block, `${at} tool_result`, ["type", "tool_use_id"], ["content", "is_error", "cache_control"]);
    if (!Array.isArray(block.content)) continue;
    for (const part of blocksOf(problems, block.content, `${at} tool_result`))
      problems.expect(
        ["text", "image", "tool_reference"].includes(String(part.type)),
        `${at} tool_result holds the block ${String(part.type)}`,
      );
  }
}
