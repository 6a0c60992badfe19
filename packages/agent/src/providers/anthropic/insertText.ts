import { isObject } from "@toolcrib/core/text";
import { nativeForm } from "../../conversation/nativeForm.ts";
import type { AssistantMessage, Message, ToolCallBlock, ToolMessage } from "../../messages.ts";
import type { ReplyEvent } from "../../provider.ts";
import { editor, nativeUse } from "./nativeTools.ts";

/** The result of an `insert` of the text editor once its file was read: a call, or why there can be none. */
type Insertion = { readonly name: string; readonly args: Record<string, unknown> } | { readonly problem: string };

/** Returns the text editor's `insert` in a call, if it is one. */
function insertOf(call: ToolCallBlock): Record<string, unknown> | undefined {
  const { name, input } = nativeUse(call) ?? {};
  return name === editor && isObject(input) && input.command === "insert" ? input : undefined;
}

/** Returns the id of the `insert` whose second half a call is. */
export function insertIdOf(call: ToolCallBlock): string | undefined {
  const id = nativeForm(call, "anthropic")?.insertOf;
  return typeof id === "string" ? id : undefined;
}

/**
 * Returns the reply that edits, once the conversation ends with what was read: an `insert` is a read and an edit. No model is
 * asked for it, but its calls go through the registry like any other's. Undefined when there is nothing to insert.
 */
export function replyThatInserts(messages: readonly Message[], model: string): ReplyEvent | undefined {
  const last = messages.findLastIndex((message) => message.role !== "tool");
  const reply = messages[last];
  if (reply?.role !== "assistant" || reply.model !== model) return undefined;
  const results = messages.slice(last + 1).filter((message) => message.role === "tool");
  const content: AssistantMessage["content"] = reply.content.flatMap((block) => {
    const input = block.type === "tool-call" ? insertOf(block) : undefined;
    const read = block.type === "tool-call" ? results.find(({ callId }) => callId === block.id) : undefined;
    if (!input || !read || read.isError || block.type !== "tool-call") return [];
    const insertion = insertionFor(input, read.output);
    if ("problem" in insertion) return [];
    const opaque = { provider: "anthropic", data: { insertOf: block.id } };
    return [{ type: "tool-call", id: `${block.id.slice(0, 58)}_edit`, ...insertion, opaque }];
  });
  if (content.length === 0) return undefined;
  return { type: "reply", message: { role: "assistant", content, model }, stop: "tool-calls" };
}

/** Returns why nothing was inserted after a read that succeeded. Undefined for any other call. */
export function insertProblem(call: ToolCallBlock, read: ToolMessage): string | undefined {
  const input = insertOf(call);
  if (!input || read.isError) return undefined;
  const insertion = insertionFor(input, read.output);
  return "problem" in insertion ? insertion.problem : "the turn ended between reading and editing; insert again";
}

/** Returns the edit that puts `insert_text` behind line `insert_line` (0: before the first) of a text. */
function insertionFor(input: Record<string, unknown>, output: string): Insertion {
  const { path, insert_line: line, insert_text: given = input.new_str } = input;
  if (typeof given !== "string") return { problem: "insert_text: expected a string" };
  if (!Number.isInteger(line) || Number(line) < 0)
    return { problem: "insert_line: expected a whole number, 0 for the beginning" };
  const at = Number(line);
  if (output === "" && at === 0) return { name: "write_file", args: { path, content: given } };
  const { lines, isWhole } = linesOf(output);
  if (at > lines.length) {
    const why = isWhole ? `the file has ${lines.length} lines` : `only ${lines.length} lines could be read at once`;
    return { problem: `insert_line: ${why}; use str_replace with the text around the place` };
  }
  const text = lines.join("");
  const { from, to } = uniqueWindow(lines, at, text);
  const before = lines.slice(from, at).join("");
  const after = lines.slice(at, to).join("");
  const isLast = before !== "" && !before.endsWith("\n");
  const added = isLast ? `\n${given.replace(/\n$/, "")}` : given.endsWith("\n") ? given : `${given}\n`;
  const edits = [{ old_text: before + after, new_text: before + added + after }];
  return { name: "edit_file", args: { path, edits } };
}

/** Returns the lines of a file, each with its end, up to where the reading was cut. */
function linesOf(output: string): { readonly lines: readonly string[]; readonly isWhole: boolean } {
  const lines = output.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const cut = lines.findIndex((line) => line.startsWith("[truncated: "));
  // The line before the notice is empty, and the one before that may have been cut.
  return cut < 0 ? { lines, isWhole: true } : { lines: lines.slice(0, Math.max(0, cut - 2)), isWhole: false };
}

/** Returns the fewest lines around a place that occur once: an edit needs a text that is unique. */
function uniqueWindow(lines: readonly string[], at: number, text: string): { from: number; to: number } {
  let [from, to] = [Math.max(0, at - 1), Math.min(lines.length, at + 1)];
  while (from > 0 || to < lines.length) {
    const window = lines.slice(from, to).join("");
    const first = text.indexOf(window);
    if (text.indexOf(window, first + 1) < 0) break;
    [from, to] = [Math.max(0, from - 1), Math.min(lines.length, to + 1)];
  }
  return { from, to };
}
