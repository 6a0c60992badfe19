import { isObject } from "@toolcrib/core/text";
import { type Fields, listOf, Problems } from "./wireChecks.ts";

const optional = [
  "system",
  "cache_control",
  "thinking",
  "output_config",
  "tools",
  "tool_choice",
  "stream",
  "metadata",
  "stop_sequences",
];
const mostCachePoints = 4;

/** The problems for which the Messages API would refuse the request. */
export function messagesProblems(body: Fields): readonly string[] {
  const problems = new Problems();
  problems.object(body, "the body", ["model", "max_tokens", "messages"], optional);
  problems.text(body.model, "model");
  problems.expect(
    Number.isInteger(body.max_tokens) && Number(body.max_tokens) > 0,
    "max_tokens is not a positive whole number",
  );
  const points = JSON.stringify(body).split('"cache_control":{').length - 1;
  problems.expect(points <= mostCachePoints, `${points} cache points, at most ${mostCachePoints}`);
  const tools = body.tools === undefined ? [] : listOf(problems, body.tools, "tools");
  checkTools(problems, tools);
  checkMessages(problems, listOf(problems, body.messages, "messages"));
  checkReferences(problems, body.messages, tools);
  return problems.list;
}

/** The tools that the service itself defines, by type, and the name that each must have. */
const nativeTools: Readonly<Record<string, string>> = {
  text_editor_20250728: "str_replace_based_edit_tool",
  bash_20250124: "bash",
};

function checkTools(problems: Problems, tools: readonly unknown[]): void {
  const names = new Set<unknown>();
  let isEachDeferred = tools.length > 0;
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`;
    const native = isObject(tool) ? nativeTools[String(tool.type)] : undefined;
    const allowed = ["description", "strict", "cache_control", "type", "defer_loading"];
    const [required, optionalFields] =
      native === undefined
        ? [["name", "input_schema"], allowed]
        : [
            ["type", "name"],
            ["cache_control", "defer_loading"],
          ];
    if (!problems.object(tool, at, required, optionalFields)) continue;
    problems.name(tool.name, `${at}.name`);
    problems.expect(!names.has(tool.name), `${at} has the name ${String(tool.name)} again`);
    names.add(tool.name);
    isEachDeferred &&= tool.defer_loading === true;
    if (native === undefined) problems.schema(tool.input_schema, `${at}.input_schema`);
    else problems.expect(tool.name === native, `${at} must have the name ${native}`);
  }
  problems.expect(!isEachDeferred, "every tool is deferred");
}

/** What a result refers to must be among the tools, and a native call must have its tool. */
function checkReferences(problems: Problems, messages: unknown, tools: readonly unknown[]): void {
  const names = new Set(tools.map((tool) => (isObject(tool) ? tool.name : undefined)));
  JSON.stringify(messages, (_key, value: unknown) => {
    if (!isObject(value)) return value;
    if (value.type === "tool_reference")
      problems.expect(names.has(value.tool_name), `no tool ${String(value.tool_name)}, which a result refers to`);
    if (value.type === "tool_use" && Object.values(nativeTools).includes(String(value.name)))
      problems.expect(names.has(value.name), `no tool ${String(value.name)}, which a call is of`);
    return value;
  });
}

function checkMessages(problems: Problems, messages: readonly unknown[]): void {
  problems.expect(isObject(messages[0]) && messages[0].role === "user", "the first message is not the user's");
  const ids = new Set<string>();
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (!problems.object(message, at, ["role", "content"], [])) continue;
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
      problems.object(block, `${at} tool_use`, ["type", "id", "name", "input"], ["cache_control"]);
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
