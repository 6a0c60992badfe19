import type { Tokens } from "./cache.ts";
import type { Fields } from "./checks.ts";

/** A call in a reply; `args` is the text as the model wrote it, whole or not. */
export interface WireCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: string;
}

/** A reply in words, for any wire format. */
export interface WireReply {
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  /** In the words of the wire: `completed`, `max_output_tokens`, `end_turn`, `length`, … Default: the one that fits. */
  readonly stop?: string;
  readonly refusal?: string;
  /** The model's thinking, shown if the request asks for it. Default: "Hm." */
  readonly thinking?: string;
}

/** One event of a stream: its JSON data, and its name where the format names events. */
export interface WireEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** The parts of a request on which its reply depends. */
export interface Asked {
  readonly body: Fields;
  readonly transformations?: readonly Fields[];
  readonly tokens?: Tokens;
}

/** Makes replies of a wire format. */
export interface Builder {
  events(reply: WireReply, request?: Asked): WireEvent[];
  whole(reply: WireReply, request?: Asked): Fields;
}

let count = 0;
export function fresh(prefix: string): string {
  count += 1;
  return `${prefix}_${count}`;
}

export function halves(text: string): [string, string] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
