import { isObject } from "../isObject.ts";
import { type Fields, listOf, Problems } from "./checks.ts";
import { definitionProblems } from "./definitions.ts";
import { messagesRules, responsesRules } from "./rules.ts";

const optional = [
  ...["tools", "tool_choice", "stream", "stream_options", "max_tokens", "max_completion_tokens", "reasoning_effort"],
  ...["reasoning", "usage", "response_format", "metadata", "temperature", "session_id", "cache_control", "verbosity"],
];
const reasoningFields = ["reasoning", "reasoning_content", "reasoning_details"];
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The problems for which a strict chat-completions service would refuse the request. */
export function chatProblems(body: Fields): readonly string[] {
  const problems = new Problems();
  problems.object(body, "the body", ["model", "messages"], optional);
  problems.text(body.model, "model");
  const names = new Set<unknown>();
  for (const [index, tool] of (body.tools === undefined ? [] : listOf(problems, body.tools, "tools")).entries()) {
    const at = `tools[${index}]`;
    if (!problems.object(tool, at, ["type", "function"], ["cache_control"])) continue;
    const { function: own } = tool;
    if (!problems.object(own, `${at}.function`, ["name", "parameters"], ["description", "strict"])) continue;
    problems.name(own.name, `${at}.function.name`);
    problems.expect(!names.has(own.name), `${at} has the name ${String(own.name)} again`);
    names.add(own.name);
    for (const problem of definitionProblems("chat", tool)) problems.add(`${at}: ${problem}`);
  }
  checkSettings(problems, body, names);
  checkMessages(problems, listOf(problems, body.messages, "messages"));
  return problems.list;
}

function checkSettings(problems: Problems, body: Fields, names: ReadonlySet<unknown>): void {
  const { model, reasoning, reasoning_effort: effort, tool_choice: choice, response_format: format } = body;
  const isOpenai = /^(openai\/)?gpt-6/.test(String(model));
  const isAnthropic = String(model).startsWith("anthropic/");
  if (effort !== undefined) {
    const taken = isOpenai ? responsesRules(model).efforts : efforts;
    problems.expect(taken.includes(String(effort)), `reasoning_effort does not support '${String(effort)}'`);
  }
  if (
    reasoning !== undefined &&
    problems.object(reasoning, "reasoning", [], ["effort", "max_tokens", "exclude", "enabled"])
  ) {
    problems.expect(
      reasoning.effort === undefined || reasoning.max_tokens === undefined,
      "only one of reasoning.effort and reasoning.max_tokens may be given",
    );
    problems.expect(reasoning.effort === undefined || efforts.includes(String(reasoning.effort)), "reasoning.effort");
  }
  // Behind OpenRouter it is OpenRouter that chooses the API.
  if (/^gpt-6/.test(String(model)) && names.size > 0) {
    const { chatTools } = responsesRules(model);
    const isRefused = chatTools === "never" || (chatTools === "without reasoning" && effort !== "none");
    problems.expect(
      !isRefused,
      `Function tools with reasoning are not supported for ${String(model)}; use /v1/responses.`,
    );
  }
  if (choice !== undefined) {
    const name = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined;
    const isForced = choice === "required" || name !== undefined;
    problems.expect(isForced || choice === "auto" || choice === "none", `tool_choice is ${JSON.stringify(choice)}`);
    problems.expect(names.size > 0 && (name === undefined || names.has(name)), "tool_choice is of no tool");
    problems.expect(
      !(isForced && isAnthropic && !messagesRules(model).forcesTools),
      'tool_choice: type "tool" and "any" are not supported for this model.',
    );
  }
  if (format === undefined || !problems.object(format, "response_format", ["type"], ["json_schema"])) return;
  if (format.type === "json_schema")
    problems.object(format.json_schema, "response_format.json_schema", ["name", "schema"], ["strict", "description"]);
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
