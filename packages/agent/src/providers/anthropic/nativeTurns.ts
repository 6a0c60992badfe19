import type { MessageParam, ToolUseBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { callsOf } from "../../conversation/conversation.ts";
import { nativeForm } from "../../conversation/nativeForm.ts";
import type { AssistantMessage, Message, ToolCallBlock, ToolMessage } from "../../messages.ts";
import type { ModelRequest } from "../../provider.ts";
import { memoize } from "../shared/memoize.ts";
import { wellFormedJson, wireId } from "../shared/wireText.ts";
import { insertIdOf, insertProblem } from "./insertText.ts";
import { type AnthropicTurn, joinTurns, toAnthropicTurn, toToolUse } from "./mapping.ts";
import { nativeNames, shell } from "./nativeTools.ts";

/** Otherwise the model would take it for the shell that it knows, which keeps its state. */
const shellNote = "[each command runs in a new shell: directory and variables are not kept]";

interface NativeMessages {
  readonly messages: MessageParam[];
  /** The deferred tools that results of `search_tools` refer to. */
  readonly referenced: ReadonlySet<string>;
}

/**
 * The conversation as wire messages, with the native calls of `model` in their own form, as long as their tools are offered. Otherwise
 * they are calls of the registry's tools.
 */
export function createNativeMapping(model: string): (request: ModelRequest) => NativeMessages {
  const toTurn = memoize((message) => toAnthropicTurn(message, model));
  const toNativeTurn = memoize((message) => toAnthropicTurn(message, model, toNativeUse));
  const shown = new WeakMap<ToolMessage, ToolMessage>();
  return (request) => {
    const { messages, deferredTools = [] } = request;
    const own = ownReplies(messages, model, nativeNames(request));
    const deferred = new Set(deferredTools.map((tool) => tool.function.name));
    const referenced = new Set<string>();
    const calls = new Map([...own].flatMap((reply) => callsOf(reply).map((call) => [call.id, call])));
    const edits = findEdits(messages, own);
    const toResult = (message: ToolMessage): AnthropicTurn => {
      const found = foundIn(message, deferred);
      for (const name of found) referenced.add(name);
      if (found.length > 0) return referenceTurn(message, found);
      const call = calls.get(message.callId);
      if (!call || !nativeForm(call, "anthropic")) return toTurn(message);
      const inserted = insertResult(call, message, edits.byInsert.get(call.id));
      if (inserted) return toTurn(inserted);
      const native = shown.get(message) ?? nativeResult(call, message);
      shown.set(message, native);
      return toTurn(native);
    };
    const turns = messages.flatMap((message): AnthropicTurn[] => {
      if (edits.hidden.has(message)) return [];
      if (message.role === "tool") return [toResult(message)];
      return [message.role === "assistant" && own.has(message) ? toNativeTurn(message) : toTurn(message)];
    });
    return { messages: joinTurns(turns), referenced };
  };
}

/** The replies of `model` whose native calls are all of tools that are offered. */
function ownReplies(
  messages: readonly Message[],
  model: string,
  offered: ReadonlySet<unknown>,
): ReadonlySet<AssistantMessage> {
  const isOffered = (call: ToolCallBlock): boolean => {
    const name = nativeForm(call, "anthropic")?.name;
    return name === undefined || offered.has(name);
  };
  return new Set(
    messages.filter(
      (message) => message.role === "assistant" && message.model === model && callsOf(message).every(isOffered),
    ) as AssistantMessage[],
  );
}

/** A call in the form in which the model made it. */
function toNativeUse(call: ToolCallBlock): ToolUseBlockParam {
  const { name, input } = nativeForm(call, "anthropic") ?? {};
  if (typeof name !== "string") return toToolUse(call);
  return { type: "tool_use", id: wireId(call.id), name, input: wellFormedJson(input) };
}

interface Edits {
  /** The replies that edit, and their results: the model made neither, so it sees neither. */
  readonly hidden: ReadonlySet<Message>;
  /** The results, by the id of the insert that each belongs to. */
  readonly byInsert: ReadonlyMap<string, ToolMessage>;
}

/** The edits in which inserts ended. One whose insert is not in the conversation, or not in its own form, is an ordinary call. */
function findEdits(messages: readonly Message[], own: ReadonlySet<AssistantMessage>): Edits {
  const hidden = new Set<Message>();
  const inserts = new Map<string, string>();
  const known = new Set<string>();
  for (const reply of own) {
    const calls = callsOf(reply);
    const isEdit = calls.length > 0 && calls.every((call) => known.has(insertIdOf(call) ?? ""));
    if (isEdit) hidden.add(reply);
    for (const call of calls) {
      if (isEdit) inserts.set(call.id, insertIdOf(call) ?? "");
      else known.add(call.id);
    }
  }
  const byInsert = new Map<string, ToolMessage>();
  for (const message of messages) {
    const insert = message.role === "tool" ? inserts.get(message.callId) : undefined;
    if (message.role !== "tool" || insert === undefined) continue;
    hidden.add(message);
    byInsert.set(insert, message);
  }
  return { hidden, byInsert };
}

/** The result of an insert: that of its edit, or why there was none. Undefined for any other call. */
function insertResult(call: ToolCallBlock, read: ToolMessage, edit: ToolMessage | undefined): ToolMessage | undefined {
  if (edit) return { ...read, output: edit.output, isError: edit.isError };
  const problem = insertProblem(call, read);
  return problem === undefined ? undefined : { ...read, output: `Not inserted: ${problem}`, isError: true };
}

/** A result as the native tool would give it: a file with the numbers of its lines, a command with a word about its shell. */
function nativeResult(call: ToolCallBlock, result: ToolMessage): ToolMessage {
  if (result.isError) return result;
  if (nativeForm(call, "anthropic")?.name === shell) return { ...result, output: `${result.output}\n${shellNote}` };
  if (result.name !== "read_file" || result.content) return result;
  const first = typeof call.args.offset === "number" ? call.args.offset : 1;
  const lines = result.output.split("\n");
  const notice = lines.findIndex((line) => line.startsWith("[truncated: "));
  // An empty line comes before the notice, and after the end of the last line.
  const end = notice < 0 ? lines.length - (lines.at(-1) === "" ? 1 : 0) : notice - 1;
  const numbered = lines.map((line, index) => (index < end ? `${first + index}: ${line}` : line));
  return { ...result, output: numbered.join("\n") };
}

/** The deferred tools that a result of `search_tools` names, each at the beginning of a line. */
function foundIn(result: ToolMessage, deferred: ReadonlySet<string>): readonly string[] {
  if (result.name !== "search_tools" || result.isError || deferred.size === 0) return [];
  return result.output.split("\n").flatMap((line) => {
    const name = line.slice(0, Math.max(0, line.indexOf(": ")));
    return deferred.has(name) ? [name] : [];
  });
}

function referenceTurn({ callId }: ToolMessage, names: readonly string[]): AnthropicTurn {
  const content = names.map((tool_name) => ({ type: "tool_reference", tool_name }) as const);
  return { role: "user", content: [{ type: "tool_result", tool_use_id: wireId(callId), content }], results: true };
}
