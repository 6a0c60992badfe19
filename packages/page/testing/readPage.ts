import type { AgentEvent } from "@toolcrib/agent";
import type { RandomTurn } from "@toolcrib/testing-agent/randomTurns";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect } from "vitest";
import { toUIMessageStream, toUIMessages } from "../src/aiSdk.ts";

/** Reads a stream as a page does, with the AI SDK. `message` is the one that it goes on with. */
export async function readMessage(
  stream: ReadableStream<UIMessageChunk>,
  message?: UIMessage,
): Promise<{ readonly message: UIMessage | undefined; readonly errors: readonly string[] }> {
  const errors: string[] = [];
  let last = message;
  const read = readUIMessageStream({
    stream,
    ...(message && { message }),
    onError: (error) => errors.push(String(error)),
  });
  for await (const next of read) last = next;
  return { message: last, errors };
}

/** Returns the parts that a session can hold: no empty steps, no word of how a question was answered. */
export function comparable(message: UIMessage | undefined): unknown[] {
  const parts = (message?.parts ?? []).filter(
    (part, index, all) => part.type !== "step-start" || ![undefined, "step-start"].includes(all[index + 1]?.type),
  );
  return parts.map((part) => {
    if (part.type === "text" || part.type === "reasoning") return [part.type, part.text, part.state];
    if (part.type !== "dynamic-tool") return part.type;
    const { toolCallId, toolName, state, input, output, errorText, approval } = part;
    const asked = state === "approval-requested" ? approval : undefined;
    return JSON.parse(JSON.stringify({ toolCallId, toolName, state, input, output, errorText, asked }));
  });
}

/** Reads a turn as a page does, and compares what it shows then to what it would load. */
export async function checkTurn({ agent, continues, events }: RandomTurn, label: string): Promise<void> {
  const before = toUIMessages(agent).at(-1);
  const { length } = agent.sessionContext;
  let isShortened = false;
  async function* watched(): AsyncGenerator<AgentEvent, void> {
    for await (const event of events) {
      if (event.type === "compaction") isShortened = true;
      yield event;
    }
  }
  const stream = toUIMessageStream(watched(), { agent, continues, explain: String });
  const { message, errors } = await readMessage(stream, continues ? before : undefined);
  const last = toUIMessages(agent).at(-1);
  // A message that the service refused is taken back.
  const isTakenBack = !isShortened && !continues && agent.sessionContext.length <= length;
  const wanted = comparable(isTakenBack || last?.role === "user" ? undefined : last);
  // Of a conversation that was shortened, the session holds the end.
  const shown = comparable(message);
  expect(isShortened ? shown.slice(shown.length - wanted.length) : shown, label).toEqual(wanted);
  expect(errors.length, label).toBeLessThan(2);
}
