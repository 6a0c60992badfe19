import type { CallLog, ExecutableTool } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { WaitingCall } from "../conversation/waiting.ts";
import type { AgentEvent, ToolCallBlock } from "../messages.ts";
import type { EventQueue } from "./eventQueue.ts";

/** The record of a call that has others within it. */
export interface CallRecord extends CallLog {
  /** All lines, those of earlier runs first. */
  readonly kept: readonly object[];
}

/**
 * Returns the record of a call that has others within it, with the answers to those; undefined for any other tool. What happens within is told by
 * `events` as it is written, with the id of the call around it.
 */
export function recordOf(
  { id, name }: ToolCallBlock,
  waited: WaitingCall | undefined,
  tools: { get(name: string): ExecutableTool | undefined },
  events: EventQueue,
): CallRecord | undefined {
  if (attempt(() => tools.get(name)?.composite) !== true) return undefined;
  const kept: object[] = [...(waited?.log ?? [])];
  const within = waited?.within ?? [];
  const answers = within.flatMap(({ callId, answer }) => (answer === undefined ? [] : [[callId, answer] as const]));
  const names = new Map(within.map((call) => [call.callId, call.name]));
  for (const { callId, name: inner, args } of within)
    events.push({ type: "tool-call", id: callId, name: inner, args, within: id });
  return {
    ...{ lines: [...kept], kept, answers: Object.fromEntries(answers) },
    write(lines) {
      const copies = frozenJson(lines);
      kept.push(...copies);
      for (const line of copies) {
        const event = eventOf(line, id, names);
        if (event) events.push(event);
      }
    },
  };
}

/** Returns what a line says of a call within; undefined for a line that says nothing new of one. */
function eventOf(line: unknown, outer: string, names: Map<string, string>): AgentEvent | undefined {
  if (!isObject(line) || !(Number(line.number) > 0)) return undefined;
  const id = `${outer}:${Number(line.number)}`;
  if (line.type === "call") {
    const name = String(line.name);
    names.set(id, name);
    const args: unknown = attempt(() => JSON.parse(String(line.args)));
    return { type: "tool-call", id, name, args: isObject(args) ? args : {}, within: outer };
  }
  if (line.type !== "end") return undefined;
  const value: unknown = attempt(() => JSON.parse(String(line.text)));
  const isError = line.ok !== true;
  const told = isError && isObject(value) ? value.message : value;
  const output = typeof told === "string" ? told : String(line.text);
  return { type: "tool-result", id, name: names.get(id) ?? "", output, isError, within: outer };
}
