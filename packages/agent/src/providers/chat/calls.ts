import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { Carried } from "./carried.ts";

type CallDelta = NonNullable<ChatCompletionChunk.Choice.Delta["tool_calls"]>[number];

export interface CallState {
  readonly index: number | undefined;
  id: string;
  name: string;
  /** As text; some servers send an object. */
  args: unknown;
  readonly carried: Carried;
}

type Piece = Omit<CallState, "carried">;

/** Adds a piece of a call and returns the call. */
export function addCall(calls: CallState[], { index, id, function: called }: CallDelta): CallState {
  const piece: Piece = { index, id: id ?? "", name: called?.name ?? "", args: called?.arguments };
  const open = callOf(calls, piece);
  if (!open) {
    const call = { ...piece, carried: {} };
    calls.push(call);
    return call;
  }
  const { name, args } = piece;
  if (open.id === "") open.id = piece.id;
  if (name !== open.name) open.name += name;
  if (typeof args === "string") open.args = typeof open.args === "string" ? open.args + args : args || open.args;
  else if (args !== undefined && args !== null) open.args = args;
  return open;
}

/**
 * Returns the call that a piece belongs to; undefined for the first piece of a call. Servers differ: the index may be missing, always 0, or
 * another one for the arguments; the id may come once or in every piece, and so may the name.
 */
function callOf(calls: readonly CallState[], { index, id, name, args }: Piece): CallState | undefined {
  const atIndex = index === undefined ? undefined : calls.findLast((call) => call.index === index);
  if (id !== "") {
    const known = atIndex?.id === id ? atIndex : calls.findLast((call) => call.id === id);
    // Some servers give all calls of a reply one id.
    if (known) return known === atIndex || !beginsAnew(known, index, name) ? known : undefined;
    if (name !== "") return atIndex?.id === "" && (atIndex.name === "" || atIndex.name === name) ? atIndex : undefined;
    // The name may come after the id.
    if (index !== undefined && !atIndex && !args) return undefined;
  } else if (name !== "") {
    const isNext = index === undefined || (atIndex && (args || name !== atIndex.name) && isWhole(atIndex.args));
    return isNext ? undefined : atIndex;
  }
  return atIndex ?? calls.at(-1);
}

function beginsAnew(known: CallState, index: number | undefined, name: string): boolean {
  const isOther = known.name !== "" && known.name !== name;
  return name !== "" && index !== undefined && known.index !== undefined && (isOther || Boolean(known.args));
}

function isWhole(args: unknown): boolean {
  if (typeof args !== "string") return isObject(args);
  // Parsed after every piece, long arguments would cost too much.
  return args.trimEnd().endsWith("}") && isObject(attempt(() => JSON.parse(args)));
}
