// What becomes of a conversation in the protocol of the AI SDK's UI: the chunks of calls, questions and saved replies, and the parts that a page makes of them.
import type { AgentEvent, AssistantMessage, Message, PendingCall, ToolMessage } from "@toolcrib/agent";
import type { UIMessage, UIMessageChunk } from "ai";
import { approvalIdOf } from "../approvalId.ts";
import type { SessionState } from "../protocol.ts";

export type Part = UIMessage["parts"][number];

/** A call of a tool, or one within another. */
export type Call = Omit<Extract<AgentEvent, { type: "tool-call" }>, "type">;
type Result = Pick<ToolMessage, "output" | "isError">;

export function callChunk({ id, name, args, within }: Call): UIMessageChunk {
  const toolMetadata = within === undefined ? undefined : { within };
  return {
    ...{ type: "tool-input-available", toolCallId: id, toolName: name, input: args, dynamic: true },
    ...(toolMetadata && { toolMetadata }),
  };
}

export function resultChunk(id: string, { output, isError }: Result): UIMessageChunk {
  return isError
    ? { type: "tool-output-error", toolCallId: id, errorText: output, dynamic: true }
    : { type: "tool-output-available", toolCallId: id, output, dynamic: true };
}

/** Shows a call that has others within it while it runs: a tool part without a result would keep the page from sending answers. */
export function programChunk({ id, name, args }: Call, state: "running" | "done"): UIMessageChunk {
  return { type: "data-program", id, data: { toolName: name, input: args, state } };
}

/** Returns whether calls of this tool have others within them. */
export function isComposite(name: string, { tools }: Pick<SessionState, "tools">): boolean {
  return tools?.get(name)?.composite === true;
}

export function questionChunks(call: PendingCall): UIMessageChunk[] {
  const { callId, name, args, question, answer, within, effects } = call;
  const { text, data, needs, refused } = question;
  const approvalId = approvalIdOf(call);
  const approvalDescriptor = JSON.parse(JSON.stringify({ text, data, needs, refused, effects }));
  const isYes = answer !== false && typeof answer !== "string";
  const reason = typeof answer === "string" && { reason: answer };
  return [
    callChunk({ id: callId, name, args: { ...args }, ...(within !== undefined && { within }) }),
    { type: "tool-approval-request", approvalId, toolCallId: callId, reason: text, approvalDescriptor },
    ...(answer === undefined
      ? []
      : [{ type: "tool-approval-response", approvalId, approved: isYes, ...reason } as const]),
  ];
}

/** Returns the pictures of a result. */
export function fileChunks({ content = [] }: Pick<ToolMessage, "content">): UIMessageChunk[] {
  return content.flatMap((block) =>
    block.type === "text" ? [] : [{ type: "file", url: dataUrl(block), mediaType: block.mimeType } as const],
  );
}

export function dataUrl({ data, mimeType }: { readonly data: string; readonly mimeType: string }): string {
  return `data:${mimeType};base64,${data}`;
}

/** Returns the chunks of what followed a user's message, a list for each reply that shows something. */
export function savedSteps(messages: readonly Message[], state: SessionState): UIMessageChunk[][] {
  const results = new Map(messages.flatMap((one) => (one.role === "tool" ? [[one.callId, one] as const] : [])));
  const open = new Set(state.pending.map(({ callId, within = callId }) => within));
  const isLeftOut = ({ output, name }: ToolMessage): boolean =>
    open.size > 0 && output === `Error executing ${name}: Not run: waiting for approval`;
  const replies = messages.filter((one) => one.role === "assistant");
  const steps = replies.map((reply, index) => {
    const chunks = textChunks(reply, index);
    const files: UIMessageChunk[] = [];
    for (const block of reply.content) {
      if (block.type !== "tool-call") continue;
      const result = results.get(block.id);
      const call = { id: block.id, name: block.name, args: { ...block.args } };
      const asked = state.pending.filter(({ callId, within = callId }) => within === block.id);
      if (open.has(block.id)) {
        if (isComposite(block.name, state) || asked.some(({ within }) => within !== undefined))
          chunks.push(programChunk(call, "running"));
        chunks.push(...asked.flatMap(questionChunks));
      } else if (!result) chunks.push(callChunk(call));
      else if (!isLeftOut(result)) {
        if (isComposite(block.name, state)) chunks.push(programChunk(call, "done"));
        chunks.push(callChunk(call), resultChunk(block.id, result));
        files.push(...fileChunks(result));
      }
    }
    return [...chunks, ...files];
  });
  return steps.filter((chunks) => chunks.length > 0).map((chunks) => [{ type: "start-step" }, ...chunks]);
}

/** Returns the texts before the calls of a reply. Neighbours of one kind are one part, as they are while they come. */
function textChunks({ content }: AssistantMessage, step: number): UIMessageChunk[] {
  const runs: { type: "text" | "reasoning"; phase: string | undefined; text: string }[] = [];
  for (const block of content) {
    if (block.type === "tool-call" || block.text === "") continue;
    const phase = block.type === "text" ? block.phase : undefined;
    const last = runs.at(-1);
    if (last?.type === block.type && last.phase === phase) last.text += block.text;
    else runs.push({ type: block.type, phase, text: block.text });
  }
  return runs.flatMap(({ type, text }, index) => {
    const id = `${step}-${index}`;
    return [
      { type: `${type}-start`, id } as const,
      { type: `${type}-delta`, id, delta: text } as const,
      endChunk(type, id),
    ];
  });
}

export function endChunk(type: "text" | "reasoning", id: string): UIMessageChunk {
  return { type: `${type}-end`, id };
}

/** Does to the parts of a message what a page does on a chunk of ours. */
export function applyChunk(parts: Part[], chunk: UIMessageChunk): void {
  switch (chunk.type) {
    case "start-step":
      parts.push({ type: "step-start" });
      break;
    case "reset-step":
      parts.splice(parts.findLastIndex(({ type }) => type === "step-start") + 1);
      break;
    case "text-start":
      parts.push({ type: "text", text: "", state: "streaming" });
      break;
    case "reasoning-start":
      parts.push({ type: "reasoning", id: chunk.id, text: "", state: "streaming" });
      break;
    case "text-delta":
    case "reasoning-delta": {
      const part = parts.at(-1);
      if (part?.type === "text" || part?.type === "reasoning") part.text += chunk.delta;
      break;
    }
    case "text-end":
    case "reasoning-end": {
      const part = parts.at(-1);
      if (part?.type === "text" || part?.type === "reasoning") part.state = "done";
      break;
    }
    case "file":
      parts.push({ type: "file", url: chunk.url, mediaType: chunk.mediaType });
      break;
    case "steering-message":
      parts.push(chunk);
      break;
    case "data-program": {
      const there = parts.find((part) => part.type === "data-program" && part.id === chunk.id);
      if (there) Object.assign(there, { data: chunk.data });
      else parts.push({ type: "data-program", id: String(chunk.id), data: chunk.data });
      break;
    }
    default:
      applyToCall(parts, chunk);
  }
}

function applyToCall(parts: Part[], chunk: UIMessageChunk): void {
  const partOf = (fits: (part: Part & { type: "dynamic-tool" }) => boolean): Part | undefined =>
    parts.findLast((part) => part.type === "dynamic-tool" && fits(part));
  const change = (part: Part | undefined, more: object): void => void Object.assign(part ?? {}, more);
  switch (chunk.type) {
    case "tool-input-available": {
      const { toolCallId, toolName, input, toolMetadata } = chunk;
      const state = { state: "input-available", input } as const;
      const part = partOf((one) => one.toolCallId === toolCallId);
      if (part) change(part, state);
      else parts.push({ type: "dynamic-tool", toolName, toolCallId, ...(toolMetadata && { toolMetadata }), ...state });
      break;
    }
    case "tool-approval-request": {
      const { toolCallId, approvalId: id, approvalDescriptor: descriptor, reason: requestReason } = chunk;
      const approval = { id, descriptor, requestReason };
      change(
        partOf((one) => one.toolCallId === toolCallId),
        { state: "approval-requested", approval },
      );
      break;
    }
    case "tool-approval-response": {
      const { approvalId, approved, reason } = chunk;
      const part = partOf((one) => one.approval?.id === approvalId);
      const { approval } = part as { approval?: object };
      const given = { ...approval, approved, ...(reason !== undefined && { reason }) };
      change(part, { state: "approval-responded", approval: given });
      break;
    }
    case "tool-output-available":
      change(
        partOf((one) => one.toolCallId === chunk.toolCallId),
        { state: "output-available", output: chunk.output },
      );
      break;
    case "tool-output-error":
      change(
        partOf((one) => one.toolCallId === chunk.toolCallId),
        { state: "output-error", errorText: chunk.errorText },
      );
  }
}
