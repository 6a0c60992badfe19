import type {
  ToolBash20250124,
  ToolTextEditor20250728,
  ToolChoice as WireToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import { quote } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { nativeForm, withNativeForm } from "../../conversation/nativeForm.ts";
import type { AssistantMessage, ToolCallBlock } from "../../messages.ts";
import type { ModelRequest, ToolChoice } from "../../provider.ts";
import { toolWith } from "../shared/nativeTools.ts";
import { toAnthropicToolChoice } from "./mapping.ts";

/** The tools that Anthropic's models are trained on, by the names that the wire fixes. */
export const editor = "str_replace_based_edit_tool" as const;
export const shell = "bash" as const;

const editorTool: ToolTextEditor20250728 = { type: "text_editor_20250728", name: editor };
const shellTool: ToolBash20250124 = { type: "bash_20250124", name: shell };

/** The native tool that stands for each tool of the registry. */
type Forms = ReadonlyMap<string, ToolTextEditor20250728 | ToolBash20250124>;
type ToolLists = Pick<ModelRequest, "tools" | "deferredTools">;

/** Returns the native tools to offer: each only where every tool behind it is there and none deferred, and no other tool has its name. */
export function nativeFormsOf({ tools: all, deferredTools = [] }: ToolLists): Forms {
  const deferred = new Set(deferredTools.map((tool) => tool.function.name));
  const tools = all.filter((tool) => !deferred.has(tool.function.name));
  const isTaken = (name: string): boolean => deferred.has(name) || tools.some((tool) => tool.function.name === name);
  const files = [
    toolWith(tools, "read_file", "path", "offset", "limit"),
    toolWith(tools, "write_file", "path", "content"),
    toolWith(tools, "edit_file", "path", "edits"),
  ];
  const command = toolWith(tools, "run_bash", "command");
  const forms = new Map<string, ToolTextEditor20250728 | ToolBash20250124>();
  const hasFiles = files.every(Boolean) && !isTaken(editor);
  for (const tool of hasFiles ? files : []) if (tool) forms.set(tool.function.name, editorTool);
  if (command && !isTaken(shell)) forms.set(command.function.name, shellTool);
  return forms;
}

/** Returns the names of the native tools that are offered. */
function nativeNames(offered: ToolLists): ReadonlySet<unknown> {
  return new Set([...nativeFormsOf(offered).values()].map((form) => form.name));
}

export function toNativeToolChoice(choice: ToolChoice, offered: ToolLists): WireToolChoice {
  const form = typeof choice === "object" ? nativeFormsOf(offered).get(choice.name) : undefined;
  return toAnthropicToolChoice(form ? { name: form.name } : choice);
}

/** Returns a reply with its native calls as calls of the registry's tools; what they were is kept beside them. */
export function fromNativeReply(message: AssistantMessage, offered: ToolLists): AssistantMessage {
  const names = nativeNames(offered);
  const content = message.content.map((block) =>
    block.type === "tool-call" && names.has(block.name) ? fromNativeCall(block) : block,
  );
  return { ...message, content };
}

function fromNativeCall(call: ToolCallBlock): ToolCallBlock {
  const { id, name, args: input, malformed } = call;
  const made = name === shell ? fromShell(input) : fromEditor(input);
  const read = { ...call, ...made, ...(malformed !== undefined && { args: {}, malformed }) };
  const raw = nativeForm(call, "anthropic") ?? { type: "tool_use", id };
  return withNativeForm(read, "anthropic", { ...raw, name, input });
}

/** Reads name and input of a native call. Undefined for any other call. */
export function nativeUse(call: ToolCallBlock): { readonly name: string; readonly input: object } | undefined {
  const { name, input } = nativeForm(call, "anthropic") ?? {};
  const isNative = (name === editor || name === shell) && name !== call.name && isObject(input);
  return isNative ? { name, input } : undefined;
}

type RegistryCall = Pick<ToolCallBlock, "name" | "args" | "malformed">;

function fromShell({ command, restart }: ToolCallBlock["args"]): RegistryCall {
  if (command !== undefined || restart !== true) return { name: "run_bash", args: { command } };
  const malformed = "there is nothing to restart: each command runs in a new shell";
  return { name: "run_bash", args: {}, malformed };
}

function fromEditor(input: ToolCallBlock["args"]): RegistryCall {
  const { command, path } = input;
  switch (command) {
    case "view":
      return { name: "read_file", args: { path, ...rangeOf(input.view_range) } };
    case "create":
      return { name: "write_file", args: { path, content: input.file_text } };
    case "str_replace": {
      const edits = [{ old_text: input.old_str, new_text: input.new_str ?? "" }];
      return { name: "edit_file", args: { path, edits } };
    }
    case "insert":
      // Read first; the edit follows from what the file holds (insertText.ts).
      return { name: "read_file", args: { path } };
    default: {
      const malformed = `command: expected view, create, str_replace or insert, received ${command === undefined ? "nothing" : quote(command)}`;
      return { name: "read_file", args: {}, malformed };
    }
  }
}

/** Reads `[first, last]`, lines counted from 1; a last of -1 means the end. */
function rangeOf(range: unknown): Record<string, unknown> {
  if (!Array.isArray(range)) return range === undefined || range === null ? {} : { offset: range };
  const [first, last]: readonly unknown[] = range;
  if (typeof first !== "number" || typeof last !== "number" || last === -1) return { offset: first };
  return { offset: first, limit: last - first + 1 };
}
