import { type ChatTool, toOpenAIResponsesTool } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import type {
  ResponseFunctionShellToolCall,
  ResponseInputItem,
  ResponseOutputItem,
  Tool,
} from "openai/resources/responses/responses";
import { withNativeForm } from "../../conversation/nativeForm.ts";
import { cutOff } from "../../conversation/parseArguments.ts";
import type { ToolCallBlock } from "../../messages.ts";
import { toolWith } from "../shared/nativeTools.ts";

/** The kinds of call that OpenAI's models are trained on, and the tool of the registry behind each. */
const names = { apply_patch_call: "apply_patch", shell_call: "run_bash" } as const;

/**
 * A native call as its provider keeps it beside the call in the registry's form: the item. A shell call becomes a call for each
 * command.
 */
export type NativeCall =
  | { readonly type: "apply_patch_call"; readonly operation: ResponseInputItem.ApplyPatchCall["operation"] }
  | {
      readonly type: "shell_call";
      readonly action: ResponseInputItem.ShellCall["action"];
      /** The index of its command; the item goes back once, with the first. */
      readonly index: number;
    };

/** Returns the tool in the form that the model is trained on, where it has one and takes what that needs. */
export function toNativeTool(tool: ChatTool): Tool {
  if (toolWith([tool], names.apply_patch_call, "input")) return { type: "apply_patch" };
  if (toolWith([tool], names.shell_call, "command")) return { type: "shell", environment: { type: "local" } };
  return toOpenAIResponsesTool(tool);
}

/** Returns the name of the tool behind a native call. */
export function toolBehind(call: NativeCall): string {
  return names[call.type];
}

/** Returns a native call as calls of the registry's tools; undefined for any other item. `isCut`: the end of the reply cut it off. */
export function fromNativeItem(
  item: ResponseOutputItem,
  isCut: boolean,
  tools: readonly ChatTool[],
): ToolCallBlock[] | undefined {
  if (item.type !== "apply_patch_call" && item.type !== "shell_call") return undefined;
  const call = { type: "tool-call", id: item.call_id ?? "", name: names[item.type] } as const;
  if (isCut) return [{ ...call, args: {}, malformed: cutOff }];
  return item.type === "shell_call" ? fromShellCall(item, call, tools) : [fromPatchCall(item, call)];
}

type Begun = Pick<ToolCallBlock, "type" | "id" | "name">;

function fromShellCall(item: ResponseFunctionShellToolCall, call: Begun, tools: readonly ChatTool[]): ToolCallBlock[] {
  const { action } = item;
  const commands: unknown = action?.commands;
  if (!Array.isArray(commands) || commands.length === 0)
    return [{ ...call, args: {}, malformed: "commands: expected a list that is not empty" }];
  const takesTimeout = toolWith(tools, call.name, "timeout") !== undefined;
  const limit = takesTimeout && typeof action.timeout_ms === "number" ? { timeout: action.timeout_ms } : {};
  return commands.map((command: unknown, index) => {
    const id = index === 0 ? call.id : `${call.id.slice(0, 56)}_${index + 1}`;
    const data: NativeCall = { ...item, index };
    return withNativeForm({ ...call, id, args: { command, ...limit } }, "openai", data);
  });
}

function fromPatchCall(item: Extract<ResponseOutputItem, { type: "apply_patch_call" }>, call: Begun): ToolCallBlock {
  const { operation } = item;
  const patch = isObject(operation) ? patchOf(operation) : undefined;
  if (patch === undefined)
    return {
      ...call,
      args: {},
      malformed: "operation: expected create_file, update_file or delete_file with a path on one line",
    };
  return withNativeForm({ ...call, args: { input: patch } }, "openai", item);
}

/** Returns the operation as a patch in the V4A format, which `apply_patch` takes. */
function patchOf({ type, path, diff }: { type?: unknown; path?: unknown; diff?: unknown }): string | undefined {
  // A line break in a path would begin another part of the patch.
  if (typeof path !== "string" || /[\r\n]/.test(path)) return undefined;
  const body = typeof diff === "string" && diff !== "" ? `${diff.replace(/\n$/, "")}\n` : "";
  const part = parts[String(type)];
  return part === undefined ? undefined : `*** Begin Patch\n*** ${part}: ${path}\n${body}*** End Patch`;
}

const parts: Readonly<Record<string, string>> = {
  create_file: "Add File",
  update_file: "Update File",
  delete_file: "Delete File",
};
