import { clip, isObject } from "@toolcrib/core/text";
import type { ResponseFunctionShellCallOutputContent, ResponseInputItem } from "openai/resources/responses/responses";
import { callsOf } from "../../conversation/conversation.ts";
import { nativeForm } from "../../conversation/nativeForm.ts";
import type { AssistantMessage, Message, ToolCallBlock, ToolMessage } from "../../messages.ts";
import { memoize } from "../shared/memoize.ts";
import { wellFormed, wellFormedJson, wireId } from "../shared/wireText.ts";
import { toResponsesItems } from "./mapping.ts";
import { type NativeCall, toolBehind } from "./nativeTools.ts";

/**
 * Makes mappings of a request's messages, in order, with the native calls of `model` in their own form where `isKnown` says that the model
 * was told of the tool behind them. Otherwise they are calls of the registry's tools.
 */
export function createNativeMapping(
  model: string,
): (isKnown: (toolName: string) => boolean) => (message: Message) => ResponseInputItem[] {
  const toItems = memoize((message) => toResponsesItems(message, model));
  const toNativeItems = memoize((message) => toResponsesItems(message, model, nativeItem));
  return (isKnown) => {
    const isOwn = (message: AssistantMessage): boolean =>
      message.model === model &&
      callsOf(message).every((call) => {
        const native = nativeCallOf(call);
        return native === undefined || isKnown(toolBehind(native));
      });
    const open = new Map<string, OpenCall>();
    return (message) => {
      if (message.role === "tool") return outputOf(message, open) ?? toItems(message);
      if (message.role === "user" || !isOwn(message)) return toItems(message);
      for (const [id, call] of nativeCalls(message)) open.set(id, call);
      return toNativeItems(message);
    };
  };
}

function nativeCallOf(call: ToolCallBlock): NativeCall | undefined {
  const data = nativeForm(call, "openai");
  return isNativeCall(data) ? data : undefined;
}

function isNativeCall(data: unknown): data is NativeCall {
  return isObject(data) && (data.type === "apply_patch_call" || data.type === "shell_call");
}

/** Returns a native call as the model made it. The commands of a shell call are one item, which goes back with the first. */
function nativeItem(call: ToolCallBlock): ResponseInputItem[] | undefined {
  const native = nativeCallOf(call);
  if (!native) return undefined;
  if (native.type === "shell_call" && native.index > 0) return [];
  const { index: _, ...item } = wellFormedJson(native) as Record<string, unknown>;
  return [{ ...item, call_id: wireId(call.id) } as unknown as ResponseInputItem];
}

/** A native call whose output is still to come. The calls of one shell call share it. */
interface OpenCall {
  readonly callId: string;
  readonly native: NativeCall;
  readonly outputs: ResponseFunctionShellCallOutputContent[];
  /** The number of outputs to come. */
  count: number;
}

/** Returns the native calls of a reply, by the ids of their calls in the registry's form. */
function nativeCalls(message: AssistantMessage): readonly [string, OpenCall][] {
  const calls: [string, OpenCall][] = [];
  for (const call of callsOf(message)) {
    const native = nativeCallOf(call);
    if (!native) continue;
    const first = native.type === "shell_call" && native.index > 0 ? calls.at(-1)?.[1] : undefined;
    const shared = first ?? { callId: wireId(call.id), native, outputs: [], count: 0 };
    shared.count += 1;
    calls.push([call.id, shared]);
  }
  return calls;
}

/** Returns the output of a native call; none before the last of its commands has ended. Undefined for any other result. */
function outputOf(result: ToolMessage, open: ReadonlyMap<string, OpenCall>): ResponseInputItem[] | undefined {
  const call = open.get(result.callId);
  if (!call) return undefined;
  const { callId: call_id, native, outputs, count } = call;
  if (native.type === "apply_patch_call") {
    const status = result.isError ? "failed" : "completed";
    return [{ type: "apply_patch_call_output", call_id, status, output: wellFormed(result.output) }];
  }
  const { max_output_length } = native.action;
  outputs.push(shellOutput(result, max_output_length ?? Number.POSITIVE_INFINITY));
  if (outputs.length < count) return [];
  return [
    { type: "shell_call_output", call_id, output: outputs, ...(max_output_length != null && { max_output_length }) },
  ];
}

/** Converts the result of `run_bash` to the parts of the wire. */
function shellOutput({ output, isError }: ToolMessage, longest: number): ResponseFunctionShellCallOutputContent {
  const short = (text: string): string => clip(wellFormed(text), longest);
  if (isError) return { stdout: "", stderr: short(output), outcome: { type: "exit", exit_code: 1 } };
  const { stdout, stderr, exit_code } = parse(output);
  if (typeof stdout !== "string" || typeof stderr !== "string" || typeof exit_code !== "number") {
    // It was cut, or another tool of that name answered in its own way.
    const note = "(the exit code is not known, since the answer was cut)";
    return { stdout: short(output), stderr: note, outcome: { type: "exit", exit_code: 1 } };
  }
  const outcome = exit_code === -1 ? ({ type: "timeout" } as const) : ({ type: "exit", exit_code } as const);
  return { stdout: short(stdout), stderr: short(stderr), outcome };
}

function parse(output: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(output);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
