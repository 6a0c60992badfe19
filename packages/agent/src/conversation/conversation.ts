import { invalidArgument } from "@toolcrib/core";
import { isLegalName, withLegalCharacters } from "@toolcrib/core/internal";
import { clip, messageOf } from "@toolcrib/core/text";
import { memoize } from "../memoize.ts";
import type {
  AssistantMessage,
  ImageBlock,
  Message,
  TextBlock,
  TextPhase,
  ToolCallBlock,
  ToolMessage,
  UserMessage,
} from "../messages.ts";
import { seamBetween } from "../textSeams.ts";
import { frozenJson } from "./frozenJson.ts";
import { parseArguments } from "./parseArguments.ts";

const longestReason = 1000;

/** The reason why a call was answered without being run. */
export type NotRunReason = "cut off" | "aborted" | "step limit" | "waiting for approval" | "not answered" | "repeated";

/** Returns a user message as history keeps it: frozen, without lone surrogates. */
export function userMessage(content: string | readonly (TextBlock | ImageBlock)[]): UserMessage {
  return frozenJson({
    role: "user",
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  });
}

/** Returns a reply as history keeps it: no empty text, legal names, plain arguments, ids not in `takenIds`, which grows. May end up empty. */
export function toValidReply(reply: AssistantMessage, takenIds: Set<string>): AssistantMessage {
  // Not a list that grows, which would keep room for 17 blocks in history.
  const blocks = reply.content.map((block) => toValidBlock(block, takenIds));
  const content = blocks.every((block) => block !== undefined) ? blocks : blocks.filter((block) => block !== undefined);
  return Object.freeze({ ...reply, content: Object.freeze(content) });
}

type Block = AssistantMessage["content"][number];

function toValidBlock(block: Block, takenIds: Set<string>): Block | undefined {
  if (block.type === "tool-call") return Object.freeze(toValidCall(block, takenIds));
  if (block.text === "" && !block.opaque) return undefined;
  return Object.freeze({ ...block, text: block.text.toWellFormed() });
}

function toValidCall(call: ToolCallBlock, takenIds: Set<string>): ToolCallBlock {
  const id = freeId(call.id, takenIds);
  takenIds.add(id);
  const sent = toValidArguments(call.args);
  const valid = { ...call, id, name: legalName(call.name), args: sent.args };
  if (call.malformed !== undefined) return { ...valid, args: {}, malformed: call.malformed.toWellFormed() };
  return sent.malformed === undefined ? valid : { ...valid, malformed: sent.malformed };
}

/** Parses arguments that are still the text that the model sent. */
function toValidArguments(sent: unknown): Pick<ToolCallBlock, "args" | "malformed"> {
  const { args, malformed } = parseArguments(sent);
  if (malformed !== undefined) return { args, malformed };
  try {
    return { args: frozenJson(args) };
  } catch (error) {
    return { args: {}, malformed: messageOf(error) };
  }
}

function freeId(id: string, takenIds: ReadonlySet<string>): string {
  // A provider of the user's own may leave it out.
  if (typeof id === "string" && isLegalName(id) && !takenIds.has(id)) return id;
  for (let number = takenIds.size + 1; ; number += 1) {
    const candidate = `call_${number}`;
    if (!takenIds.has(candidate)) return candidate;
  }
}

// Some models write the namespace `functions.` before the name.
function legalName(name: string): string {
  if (isLegalName(name)) return name;
  const plain = withLegalCharacters(String(name).replace(/^functions\./, "")).slice(0, 64);
  return plain === "" ? "unnamed" : plain;
}

export function callsOf(reply: AssistantMessage): readonly ToolCallBlock[] {
  const { content } = reply;
  const [first] = content;
  // Mostly the only block. A list that grows, as that of filter does, has room for 17.
  if (first?.type === "tool-call" && content.length === 1) return [first];
  return callsAmong(reply);
}

/** Each of thousands of calls asks for all of its reply. */
const callsAmong = memoize(({ content }: AssistantMessage) => content.filter((block) => block.type === "tool-call"));

/** Returns the text of a message. A blank line stands between texts that something else, or another phase, separates. */
export function textOf(message: AssistantMessage | UserMessage): string {
  return joinTexts(message.content);
}

/** Returns the answer in a reply: what the model said on the way to it is left out, unless it said nothing else. */
export function answerOf({ content }: AssistantMessage): string {
  const answer = joinTexts(content, "commentary");
  return answer.trim() === "" ? joinTexts(content) : answer;
}

function joinTexts(content: (AssistantMessage | UserMessage)["content"], without?: TextPhase): string {
  let text = "";
  let run = "";
  let before: (typeof content)[number] | undefined;
  const join = (): void => {
    if (text === "" || /[^\n]/.test(run)) text += seamBetween(text, run) + run;
    run = "";
  };
  for (const block of content) {
    const continues = before?.type === "text" && block.type === "text" && before.phase === block.phase;
    if (!continues) join();
    if (block.type === "text" && (without === undefined || block.phase !== without)) run += block.text;
    before = block;
  }
  join();
  return text;
}

/** Returns the calls of the last reply that have no result yet. */
export function openCalls(messages: readonly Message[]): readonly ToolCallBlock[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const [reply, ...later] = at < 0 ? [] : messages.slice(at);
  const answered = new Set(later.map((message) => message.role === "tool" && message.callId));
  return reply?.role === "assistant" ? callsOf(reply).filter((call) => !answered.has(call.id)) : [];
}

export function toolMessage(
  call: Pick<ToolCallBlock, "id" | "name">,
  result: Pick<ToolMessage, "output" | "isError"> & { readonly content?: ToolMessage["content"] | undefined },
): ToolMessage {
  const { output, isError, content } = result;
  const message: ToolMessage = {
    role: "tool",
    callId: call.id,
    name: call.name,
    output: output.isWellFormed() ? output : output.toWellFormed(),
    isError,
  };
  return Object.freeze(content && content.length > 0 ? { ...message, content } : message);
}

export function notRun(call: ToolCallBlock, reason: NotRunReason): ToolMessage {
  return failed(call, `Not run: ${reason}`);
}

export function denied(call: ToolCallBlock, reason: string): ToolMessage {
  return failed(call, `Permission denied: ${clip(reason, longestReason)}`);
}

/** Returns the result of a call whose process ended while it ran. */
export function interrupted(call: ToolCallBlock, more = ""): ToolMessage {
  return failed(call, `Interrupted; may have run${more}`);
}

export function malformedCall(call: ToolCallBlock): ToolMessage {
  return failed(call, invalidArgument("", call.malformed ?? "expected a JSON object").message);
}

function failed(call: ToolCallBlock, message: string): ToolMessage {
  return toolMessage(call, { output: `Error executing ${call.name}: ${message}`, isError: true });
}
