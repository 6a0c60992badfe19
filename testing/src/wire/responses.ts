import { isObject } from "../isObject.ts";
import { type Fields, listOf, Problems } from "./checks.ts";
import { definitionProblems } from "./definitions.ts";
import type { ItemMemory } from "./items.ts";
import { checkClosed } from "./messagesSettings.ts";
import { responsesRules } from "./rules.ts";

const optional = [
  ...["instructions", "include", "max_output_tokens", "reasoning", "tools", "tool_choice", "stream", "metadata"],
  ...["parallel_tool_calls", "text", "temperature", "top_p", "top_logprobs"],
  ...["prompt_cache_key", "prompt_cache_options"],
  ...["safety_identifier", "service_tier", "context_management", "store"],
];

/** The problems for which the Responses API would refuse the request. */
export function responsesProblems(body: Fields, memory: ItemMemory): readonly string[] {
  const problems = new Problems();
  problems.object(body, "the body", ["model", "input"], optional);
  problems.text(body.model, "model");
  checkSettings(problems, body);
  const names = checkTools(problems, body.tools === undefined ? [] : listOf(problems, body.tools, "tools"), "tools");
  const given = listOf(problems, body.input, "input");
  // What the service stores may be referred to.
  const input = body.store === false ? given : memory.resolved(given);
  checkInput(problems, input, names);
  checkToolChoice(problems, body.tool_choice, names);
  return [...problems.list, ...memory.problems(input)];
}

function checkSettings(problems: Problems, body: Fields): void {
  const { efforts } = responsesRules(body.model);
  let effort: unknown = "medium";
  if (
    body.reasoning !== undefined &&
    problems.object(body.reasoning, "reasoning", [], ["effort", "summary", "context"])
  ) {
    effort = body.reasoning.effort ?? effort;
    problems.expect(
      efforts.includes(String(effort)),
      `Unsupported value: 'reasoning.effort' does not support '${String(effort)}' with this model. Supported values are: ${efforts}.`,
    );
  }
  for (const name of ["temperature", "top_p", "top_logprobs"])
    problems.expect(
      body[name] === undefined || effort === "none",
      `Unsupported parameter: '${name}' is not supported with this model.`,
    );
  if (body.text === undefined || !problems.object(body.text, "text", [], ["format", "verbosity"])) return;
  const { format, verbosity } = body.text;
  problems.expect(
    [undefined, "low", "medium", "high"].includes(verbosity as never),
    `text.verbosity: ${String(verbosity)}`,
  );
  if (format !== undefined) checkFormat(problems, format, "text.format");
}

function checkFormat(problems: Problems, format: unknown, at: string): void {
  if (isObject(format) && format.type === "text") return;
  if (!problems.object(format, at, ["type", "name", "schema"], ["strict", "description"])) return;
  problems.expect(format.type === "json_schema", `${at}.type is ${String(format.type)}`);
  problems.name(format.name, `${at}.name`);
  if (format.strict === true) checkStrict(problems, format.schema, `${at}.schema`);
}

/** A strict schema has only closed objects, all of whose properties are required. */
function checkStrict(problems: Problems, schema: unknown, at: string): void {
  checkClosed(problems, schema, at);
  JSON.stringify(schema, (_key, value: unknown) => {
    if (!isObject(value) || value.type !== "object" || !isObject(value.properties)) return value;
    const required: readonly unknown[] = Array.isArray(value.required) ? value.required : [];
    for (const name of Object.keys(value.properties))
      problems.expect(required.includes(name), `${at}: 'required' must include every property: ${name}`);
    return value;
  });
}

/** Returns the names of the tools. */
function checkTools(problems: Problems, tools: readonly unknown[], place: string): Set<string> {
  const names = new Set<string>();
  let isSearched = false;
  let isDeferred = false;
  for (const [index, tool] of tools.entries()) {
    const at = `${place}[${index}]`;
    const type = isObject(tool) ? String(tool.type) : "";
    if (type === "tool_search") {
      isSearched = true;
      problems.object(tool, at, ["type"], ["execution", "description", "parameters"]);
    } else if (problems.object(tool, at, ["type", "name", "parameters", "strict"], ["description", "defer_loading"])) {
      problems.name(tool.name, `${at}.name`);
      problems.expect(!names.has(String(tool.name)), `${at} has the name ${String(tool.name)} again`);
      names.add(String(tool.name));
      for (const problem of definitionProblems("responses", tool)) problems.add(`${at}: ${problem}`);
      isDeferred ||= tool.defer_loading === true;
      continue;
    }
    names.add(type);
  }
  problems.expect(!isDeferred || isSearched || place !== "tools", `${place}: deferred tools need the tool_search tool`);
  return names;
}

function checkToolChoice(problems: Problems, choice: unknown, names: ReadonlySet<string>): void {
  if (choice === undefined || ["auto", "none"].includes(String(choice))) return;
  if (choice === "required") {
    problems.expect(names.size > 0, "tool_choice is required without tools");
    return;
  }
  if (!isObject(choice)) {
    problems.add(`tool_choice is ${String(choice)}`);
    return;
  }
  const isAllowed = choice.type === "allowed_tools";
  if (isAllowed) {
    problems.object(choice, "tool_choice", ["type", "mode", "tools"], []);
    problems.expect(choice.mode === "auto" || choice.mode === "required", `tool_choice.mode: ${String(choice.mode)}`);
  }
  const chosen = isAllowed ? listOf(problems, choice.tools, "tool_choice.tools") : [choice];
  problems.expect(chosen.length > 0, "tool_choice.tools is empty");
  for (const tool of chosen) {
    if (!isObject(tool)) continue;
    const name = String(tool.type === "function" ? tool.name : tool.type);
    problems.expect(names.has(name), `Tool choice '${name}' not found in 'tools' parameter.`);
  }
}

function checkInput(problems: Problems, input: readonly unknown[], names: Set<string>): void {
  problems.expect(input.length > 0, "input is empty");
  const callIds = new Set<string>();
  const itemIds = new Set<string>();
  const open = new Set<string>();
  for (const [index, item] of input.entries()) {
    const at = `input[${index}]`;
    if (!isObject(item)) {
      problems.add(`${at} is not an object`);
      continue;
    }
    if (typeof item.id === "string") {
      problems.expect(!itemIds.has(item.id), `${at} repeats the item ${item.id}`);
      itemIds.add(item.id);
    }
    switch (item.type ?? "message") {
      case "message":
        problems.expect(open.size === 0 || item.role === "assistant", `${at} comes before the output of ${[...open]}`);
        checkMessage(problems, item, at);
        break;
      case "reasoning":
        problems.object(item, at, ["type", "id", "summary", "encrypted_content"], ["content"]);
        problems.text(item.encrypted_content, `${at}.encrypted_content`);
        problems.expect(isOutput(input[index + 1]), `${at} is reasoning without its following item`);
        break;
      case "function_call":
        problems.object(item, at, ["type", "call_id", "name", "arguments"], ["id", "status"]);
        problems.id(item.call_id, `${at}.call_id`, callIds);
        problems.name(item.name, `${at}.name`);
        problems.argumentsText(item.arguments, `${at}.arguments`);
        open.add(String(item.call_id));
        break;
      case "function_call_output":
        problems.object(item, at, ["type", "call_id", "output"], []);
        problems.expect(open.delete(String(item.call_id)), `${at} answers no open call`);
        problems.expect(typeof item.output === "string" || Array.isArray(item.output), `${at}.output is not text`);
        break;
      case "additional_tools":
        problems.object(item, at, ["type", "role", "tools"], ["id"]);
        problems.expect(item.role === "developer", `${at}.role is ${String(item.role)}`);
        for (const name of checkTools(problems, listOf(problems, item.tools, `${at}.tools`), `${at}.tools`))
          names.add(name);
        problems.expect(open.size === 0, `${at} comes before the output of ${[...open]}`);
        break;
      case "configuration_update":
        problems.object(item, at, ["type"], ["id", "reasoning", "text"]);
        problems.expect(item.reasoning !== undefined || item.text !== undefined, `${at} updates nothing`);
        if (isObject(item.text)) checkFormat(problems, item.text.format, `${at}.text.format`);
        break;
      case "tool_search_call":
        problems.object(item, at, ["type", "arguments"], ["id", "call_id", "execution", "status"]);
        if (item.execution === "client") open.add(`tool_search_call ${item.call_id}`);
        break;
      case "tool_search_output":
        problems.object(item, at, ["type", "tools"], ["id", "call_id", "execution", "status"]);
        if (item.execution === "client")
          problems.expect(open.delete(`tool_search_call ${item.call_id}`), `${at} answers no open call`);
        for (const name of checkTools(problems, listOf(problems, item.tools, `${at}.tools`), `${at}.tools`))
          names.add(name);
        break;
      default:
        problems.add(`${at} is of the unknown type ${String(item.type)}`);
    }
  }
  problems.expect(open.size === 0, `input ends before the output of ${[...open]}`);
}

/** Returns whether the model made the item, so that it may follow its reasoning. */
function isOutput(item: unknown): boolean {
  if (!isObject(item)) return false;
  const own = ["reasoning", "function_call", "tool_search_call"];
  return own.includes(String(item.type)) || item.role === "assistant";
}

function checkMessage(problems: Problems, item: Fields, at: string): void {
  problems.object(item, at, ["role", "content"], ["type", "id", "status", "phase"]);
  const roles = ["user", "assistant", "developer", "system"];
  problems.expect(roles.includes(String(item.role)), `${at} has the role ${String(item.role)}`);
  if (typeof item.content === "string") {
    problems.expect(item.content !== "", `${at} is empty`);
    return;
  }
  const parts = listOf(problems, item.content, `${at}.content`);
  problems.expect(parts.length > 0, `${at} is empty`);
  const kinds = item.role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image"];
  for (const part of parts) {
    problems.expect(
      isObject(part) && kinds.includes(String(part.type)),
      `${at} holds a part that its role may not have`,
    );
  }
}
