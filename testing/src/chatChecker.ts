import { isObject } from "@toolcrib/core/text";
import { type Fields, listOf, Problems } from "./wireChecks.ts";

const optional = [
  "tools",
  "tool_choice",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "reasoning_effort",
  "reasoning",
  "usage",
];
const reasoningFields = ["reasoning", "reasoning_content", "reasoning_details"];

/** The problems for which a strict chat-completions service would refuse the request. */
export function chatProblems(body: Fields): readonly string[] {
  const problems = new Problems();
  problems.object(body, "the body", ["model", "messages"], optional);
  problems.text(body.model, "model");
  for (const [index, tool] of (body.tools === undefined ? [] : listOf(problems, body.tools, "tools")).entries()) {
    const at = `tools[${index}]`;
    if (!problems.object(tool, at, ["type", "function"], [])) continue;
    const { function: own } = tool;
    if (!problems.object(own, `${at}.function`, ["name", "parameters"], ["description", "strict"])) continue;
    problems.name(own.name, `${at}.function.name`);
    problems.schema(own.parameters, `${at}.function.parameters`);
  }
  checkMessages(problems, listOf(problems, body.messages, "messages"));
  return problems.list;
}

function checkMessages(problems: Problems, messages: readonly unknown[]): void {
  problems.expect(messages.length > 0, "messages is empty");
  const ids = new Set<string>();
  const open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (!isObject(message)) {
      problems.add(`${at} is not an object`);
      continue;
    }
    if (message.role === "tool") {
      problems.object(message, at, ["role", "tool_call_id", "content"], []);
      problems.expect(open.delete(String(message.tool_call_id)), `${at} answers no open call`);
      problems.expect(typeof message.content === "string", `${at}.content is not text`);
      continue;
    }
    problems.expect(open.size === 0, `${at} comes before the results of ${[...open]}`);
    if (message.role === "assistant") checkAssistant(problems, message, at, ids, open);
    else checkOther(problems, message, at, index);
  }
  problems.expect(open.size === 0, `messages end before the results of ${[...open]}`);
}

function checkOther(problems: Problems, message: Fields, at: string, index: number): void {
  problems.object(message, at, ["role", "content"], []);
  if (message.role === "system") problems.expect(index === 0, `${at} is a system message that is not first`);
  else problems.expect(message.role === "user", `${at} has the role ${String(message.role)}`);
  problems.expect(typeof message.content === "string" || Array.isArray(message.content), `${at}.content is not text`);
}

function checkAssistant(problems: Problems, message: Fields, at: string, ids: Set<string>, open: Set<string>): void {
  problems.object(message, at, ["role"], ["content", "tool_calls", ...reasoningFields]);
  const calls = message.tool_calls === undefined ? [] : listOf(problems, message.tool_calls, `${at}.tool_calls`);
  problems.expect(message.tool_calls === undefined || calls.length > 0, `${at}.tool_calls is empty`);
  problems.expect(
    typeof message.content === "string" || (message.content === null && calls.length > 0),
    `${at} has neither text nor calls`,
  );
  for (const [index, call] of calls.entries()) {
    const place = `${at}.tool_calls[${index}]`;
    if (!problems.object(call, place, ["id", "type", "function"], [])) continue;
    const { function: own } = call;
    problems.id(call.id, `${place}.id`, ids);
    open.add(String(call.id));
    if (!problems.object(own, `${place}.function`, ["name", "arguments"], [])) continue;
    problems.name(own.name, `${place}.function.name`);
    problems.argumentsText(own.arguments, `${place}.function.arguments`);
  }
}
