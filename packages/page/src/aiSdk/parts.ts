// What becomes of a conversation in the protocol of the AI SDK's UI: the parts of its messages, and the chunks that make a page add one.
import type { AgentEvent, PendingCall, ToolMessage } from "@toolcrib/agent";
import type { UIMessage, UIMessageChunk } from "ai";
import { approvalIdOf } from "../approvalId.ts";

export type Part = UIMessage["parts"][number];
export type CallPart = Extract<Part, { type: "dynamic-tool" }>;

/** A call of a tool, or one within another. */
export type Call = Omit<Extract<AgentEvent, { type: "tool-call" }>, "type">;
type Result = Pick<ToolMessage, "output" | "isError">;

export function callPart({ id, name, args, within }: Call): CallPart {
  const toolMetadata = within === undefined ? undefined : { within };
  return {
    ...{ type: "dynamic-tool", toolCallId: id, toolName: name, ...(toolMetadata && { toolMetadata }) },
    ...{ state: "input-available", input: args },
  };
}

/** Returns the fields that a result gives the part of its call. */
export function resultOf({ output, isError }: Result): Pick<CallPart, "state"> {
  const result = isError ? { state: "output-error", errorText: output } : { state: "output-available", output };
  return result as Pick<CallPart, "state">;
}

/** Shows a call that has others within it while it runs: a tool part without a result would keep the page from sending answers. */
export function programPart({ id, name, args }: Call, state: "running" | "done"): Part {
  return { type: "data-program", id, data: { toolName: name, input: args, state } };
}

export function questionPart(call: PendingCall): Part {
  const { callId, name, args, question, answer, within, effects } = call;
  const { text: requestReason, data, needs, refused } = question;
  const descriptor = JSON.parse(JSON.stringify({ text: requestReason, data, needs, refused, effects }));
  const approval = { id: approvalIdOf(call), descriptor, requestReason };
  const part = callPart({ id: callId, name, args: { ...args }, ...(within !== undefined && { within }) });
  if (answer === undefined) return { ...part, state: "approval-requested", approval } as Part;
  const isText = typeof answer === "string";
  const given = { ...approval, approved: answer !== false && !isText, ...(isText && { reason: answer }) };
  return { ...part, state: "approval-responded", approval: given } as Part;
}

/** Returns the pictures of a result. */
export function fileParts({ content = [] }: Pick<ToolMessage, "content">): Part[] {
  return content.flatMap((block) =>
    block.type === "text" ? [] : [{ type: "file", url: dataUrl(block), mediaType: block.mimeType } as const],
  );
}

export function dataUrl({ data, mimeType }: { readonly data: string; readonly mimeType: string }): string {
  return `data:${mimeType};base64,${data}`;
}

/** Returns the chunks that make a page show a part, or the state that it has now. */
export function chunksOf(part: Part): UIMessageChunk[] {
  if (part.type === "data-program")
    return [{ type: "data-program", id: String("id" in part && part.id), data: part.data }];
  if (part.type !== "dynamic-tool") return [part as UIMessageChunk];
  const { toolCallId, toolName, input, toolMetadata, approval } = part;
  const call = { type: "tool-input-available", toolCallId, toolName, input, dynamic: true } as const;
  const chunks: UIMessageChunk[] = [{ ...call, ...(toolMetadata && { toolMetadata }) }];
  if (!approval) return chunks;
  const { id: approvalId, descriptor: approvalDescriptor, requestReason, approved, reason } = approval;
  const asked = { approvalId, toolCallId, reason: requestReason, approvalDescriptor };
  chunks.push({ type: "tool-approval-request", ...asked } as UIMessageChunk);
  if (approved === undefined) return chunks;
  return [...chunks, { type: "tool-approval-response", approvalId, approved, ...(reason !== undefined && { reason }) }];
}

export function resultChunk(toolCallId: string, { output, isError }: Result): UIMessageChunk {
  return isError
    ? { type: "tool-output-error", toolCallId, errorText: output, dynamic: true }
    : { type: "tool-output-available", toolCallId, output, dynamic: true };
}
