import type {
  ToolBash20250124,
  ToolTextEditor20250728,
  ToolUnion,
  ToolChoice as WireToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import { toAnthropicTool } from "@toolcrib/core";
import { withNativeForm } from "../../conversation/nativeForm.ts";
import type { AssistantMessage, ToolCallBlock } from "../../messages.ts";
import type { ModelRequest, ToolChoice } from "../../provider.ts";
import { toolWith } from "../shared/nativeTools.ts";
import { toAnthropicToolChoice } from "./mapping.ts";

/** The tools that Anthropic's models are trained on, by the names that the wire fixes. */
export const editor = "str_replace_based_edit_tool" as const;
export const shell = "bash" as const;

const editorTool: ToolTextEditor20250728 = { type: "text_editor_20250728", name: editor };
const shellTool: ToolBash20250124 = { type: "bash_20250124", name: shell };

/** Which native tool stands for a tool of the registry. */
type Forms = ReadonlyMap<string, ToolTextEditor20250728 | ToolBash20250124>;
type OfferedTools = Pick<ModelRequest, "tools" | "deferredTools">;

/** The native tools to offer: each only where every tool behind it is there, and no other tool has its name. */
function nativeFormsOf({ tools: all, deferredTools = [] }: OfferedTools): Forms {
  const tools = all.filter((tool) => !deferredTools.includes(tool));
  const isTaken = (name: string): boolean => [...all, ...deferredTools].some((tool) => tool.function.name === name);
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

/** The names of the native tools that are offered. */
export function nativeNames(offered: OfferedTools): ReadonlySet<unknown> {
  return new Set([...nativeFormsOf(offered).values()].map((form) => form.name));
}

/**
 * The tools of a request, each native one in place of the first tool behind it. Deferred tools are all sent, marked, so that the list never
 * changes: the service shows the model those that results refer to. One that was found, but that no result refers to any more (after a
 * compaction), is sent unmarked.
 */
export function toNativeTools(offered: OfferedTools, referenced: ReadonlySet<string>): ToolUnion[] {
  const { tools, deferredTools = [] } = offered;
  const forms = nativeFormsOf(offered);
  const deferred = new Set(deferredTools.map((tool) => tool.function.name));
  const found = new Set(tools.map((tool) => tool.function.name));
  const isHidden = (name: string): boolean => !found.has(name) || referenced.has(name);
  const wire = new Set<ToolUnion>();
  for (const tool of tools.filter(({ function: { name } }) => !deferred.has(name)))
    wire.add(forms.get(tool.function.name) ?? toAnthropicTool(tool));
  for (const tool of deferredTools)
    wire.add({ ...toAnthropicTool(tool), ...(isHidden(tool.function.name) && { defer_loading: true }) });
  return [...wire];
}

export function toNativeToolChoice(choice: ToolChoice, offered: OfferedTools): WireToolChoice {
  const form = typeof choice === "object" ? nativeFormsOf(offered).get(choice.name) : undefined;
  return toAnthropicToolChoice(form ? { name: form.name } : choice);
}

/** A reply with its native calls as calls of the registry's tools; what they were is kept beside them. */
export function fromNativeReply(message: AssistantMessage, offered: OfferedTools): AssistantMessage {
  const names = nativeNames(offered);
  const content = message.content.map((block) =>
    block.type === "tool-call" && names.has(block.name) ? fromNativeCall(block) : block,
  );
  return { ...message, content };
}

function fromNativeCall(call: ToolCallBlock): ToolCallBlock {
  const { name, args: input, malformed } = call;
  const made = name === shell ? fromShell(input) : fromEditor(input);
  const read = { ...call, ...made, ...(malformed !== undefined && { args: {}, malformed }) };
  return withNativeForm(read, "anthropic", { name, input });
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
      const malformed = `command: expected view, create, str_replace or insert, received ${shown(command)}`;
      return { name: "read_file", args: {}, malformed };
    }
  }
}

/** `[first, last]`, lines counted from 1; a last of -1 means the end. */
function rangeOf(range: unknown): Record<string, unknown> {
  if (!Array.isArray(range)) return range === undefined || range === null ? {} : { offset: range };
  const [first, last] = range as unknown[];
  if (typeof first !== "number" || typeof last !== "number" || last === -1) return { offset: first };
  return { offset: first, limit: last - first + 1 };
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : String(JSON.stringify(value)).slice(0, 80);
}
