import { callsOf } from "../../conversation/conversation.ts";
import type { Message, ToolCallBlock, ToolMessage } from "../../messages.ts";
import { insertIdOf, insertProblem } from "./insertText.ts";
import { nativeUse, shell } from "./nativeTools.ts";

/** Otherwise the model would take it for the shell that it knows, which keeps its state. */
const shellNote = "[each command runs in a new shell: directory and variables are not kept]";

/** The edits in which inserts ended: the model made neither them nor their replies. */
export interface InsertEdits {
  /** The ids of the inserts, by that of the edit. */
  readonly inserts: ReadonlyMap<string, string>;
  /** The results of the edits, by the id of the insert. */
  readonly results: ReadonlyMap<string, ToolMessage>;
}

export function findInsertEdits(messages: readonly Message[]): InsertEdits {
  const inserts = new Map<string, string>();
  const results = new Map<string, ToolMessage>();
  for (const message of messages) {
    for (const call of message.role === "assistant" ? callsOf(message) : []) {
      const insert = insertIdOf(call);
      if (insert !== undefined) inserts.set(call.id, insert);
    }
    const insert = message.role === "tool" ? inserts.get(message.callId) : undefined;
    if (insert !== undefined && message.role === "tool") results.set(insert, message);
  }
  return { inserts, results };
}

type ToNativeResult = (call: ToolCallBlock, result: ToolMessage, edits: InsertEdits) => ToolMessage;

/** Makes a function that gives a result as the native tool would. It keeps each, as long as no edit can change it. */
export function createToNativeResult(): ToNativeResult {
  const kept = new WeakMap<ToolMessage, ToolMessage>();
  return (call, result, edits) => {
    const edit = edits.results.get(call.id);
    if (edit) return { ...result, output: edit.output, isError: edit.isError };
    const problem = insertProblem(call, result);
    if (problem !== undefined) return { ...result, output: `Not inserted: ${problem}`, isError: true };
    const native = kept.get(result) ?? nativeResult(call, result);
    kept.set(result, native);
    return native;
  };
}

/** Returns a file with the numbers of its lines, a command with a word about its shell. */
function nativeResult(call: ToolCallBlock, result: ToolMessage): ToolMessage {
  if (result.isError) return result;
  if (nativeUse(call)?.name === shell) return { ...result, output: `${result.output}\n${shellNote}` };
  return result.name !== "read_file" || result.content ? result : { ...result, output: numbered(call, result.output) };
}

function numbered(call: ToolCallBlock, output: string): string {
  const first = typeof call.args.offset === "number" ? call.args.offset : 1;
  const lines = output.split("\n");
  const notice = lines.findIndex((line) => line.startsWith("[truncated: "));
  // An empty line comes before the notice, and after the end of the last line.
  const end = notice < 0 ? lines.length - (lines.at(-1) === "" ? 1 : 0) : notice - 1;
  return lines.map((line, index) => (index < end ? `${first + index}: ${line}` : line)).join("\n");
}
