import { isObject } from "@toolcrib/core/text";
import { type Fields, listOf, Problems } from "./wireChecks.ts";

const optional = [
  "instructions",
  "include",
  "max_output_tokens",
  "reasoning",
  "tools",
  "tool_choice",
  "stream",
  "metadata",
  "parallel_tool_calls",
];

/** The problems for which the Responses API would refuse the request, which must be stateless. */
export function responsesProblems(body: Fields): readonly string[] {
  const problems = new Problems();
  problems.object(body, "the body", ["model", "input", "store"], optional);
  problems.text(body.model, "model");
  problems.expect(body.store === false, "store is not false");
  for (const [index, tool] of (body.tools === undefined ? [] : listOf(problems, body.tools, "tools")).entries()) {
    const at = `tools[${index}]`;
    if (isObject(tool) && tool.type === "apply_patch") {
      problems.object(tool, at, ["type"], []);
      continue;
    }
    if (isObject(tool) && tool.type === "shell") {
      problems.object(tool, at, ["type", "environment"], []);
      problems.expect(isObject(tool.environment) && tool.environment.type === "local", `${at} is not a local shell`);
      continue;
    }
    if (!problems.object(tool, at, ["type", "name", "parameters", "strict"], ["description"])) continue;
    problems.name(tool.name, `${at}.name`);
    problems.schema(tool.parameters, `${at}.parameters`);
    problems.expect(typeof tool.strict === "boolean", `${at}.strict is not said`);
  }
  checkInput(problems, listOf(problems, body.input, "input"), body);
  return problems.list;
}

function checkNativeCall(problems: Problems, item: Fields, at: string, tools: unknown): void {
  const kind = item.type === "shell_call" ? "shell" : "apply_patch";
  const isOffered = Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.type === kind);
  problems.expect(isOffered, `${at} is a call of ${kind}, which is not offered`);
  if (kind === "shell") {
    problems.object(item, at, ["type", "call_id", "action"], ["id", "status"]);
    const commands = isObject(item.action) ? listOf(problems, item.action.commands, `${at}.action.commands`) : [];
    problems.expect(commands.length > 0, `${at} has no commands`);
    return;
  }
  problems.object(item, at, ["type", "call_id", "operation", "status"], ["id"]);
  const { type, path, diff } = isObject(item.operation) ? item.operation : {};
  problems.expect(["create_file", "update_file", "delete_file"].includes(String(type)), `${at} does ${String(type)}`);
  problems.text(path, `${at}.operation.path`);
  problems.expect(type === "delete_file" || typeof diff === "string", `${at} has no diff`);
}

function checkShellOutput(problems: Problems, item: Fields, at: string): void {
  problems.object(item, at, ["type", "call_id", "output"], ["max_output_length", "status"]);
  const outputs = listOf(problems, item.output, `${at}.output`);
  problems.expect(outputs.length > 0, `${at} has no output`);
  for (const output of outputs) {
    if (!problems.object(output, `${at}.output`, ["stdout", "stderr", "outcome"], [])) continue;
    const { type, exit_code } = isObject(output.outcome) ? output.outcome : {};
    const isKnown = type === "timeout" || (type === "exit" && Number.isInteger(exit_code));
    problems.expect(isKnown && typeof output.stdout === "string" && typeof output.stderr === "string", `${at}.output`);
  }
}

function checkInput(problems: Problems, input: readonly unknown[], body: Fields): void {
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
      case "apply_patch_call":
      case "shell_call":
        checkNativeCall(problems, item, at, body.tools);
        problems.id(item.call_id, `${at}.call_id`, callIds);
        open.add(`${item.type} ${item.call_id}`);
        break;
      case "apply_patch_call_output":
        problems.object(item, at, ["type", "call_id", "status"], ["output"]);
        problems.expect(["completed", "failed"].includes(String(item.status)), `${at}.status is ${item.status}`);
        problems.expect(open.delete(`apply_patch_call ${item.call_id}`), `${at} answers no open call`);
        break;
      case "shell_call_output":
        checkShellOutput(problems, item, at);
        problems.expect(open.delete(`shell_call ${item.call_id}`), `${at} answers no open call`);
        break;
      default:
        problems.add(`${at} is of the unknown type ${String(item.type)}`);
    }
  }
  problems.expect(open.size === 0, `input ends before the output of ${[...open]}`);
}

/** Whether the model made the item, so that it may follow its reasoning. */
function isOutput(item: unknown): boolean {
  if (!isObject(item)) return false;
  const own = ["reasoning", "function_call", "shell_call", "apply_patch_call"];
  return own.includes(String(item.type)) || item.role === "assistant";
}

function checkMessage(problems: Problems, item: Fields, at: string): void {
  problems.object(item, at, ["role", "content"], ["type", "id", "status", "phase"]);
  problems.expect(item.role === "user" || item.role === "assistant", `${at} has the role ${String(item.role)}`);
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
