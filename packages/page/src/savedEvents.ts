import type { AgentEvent, AssistantMessage, Message, PendingCall, ToolMessage } from "@toolcrib/agent";

/** Returns what followed the last message of the user. */
export function lastReplies(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
}

/**
 * Returns the events that a turn would have told of replies and their results, a list for each reply, with the questions in the last one: so a
 * saved conversation is shown as a running one is.
 */
export function savedEvents(messages: readonly Message[], pending: readonly PendingCall[]): AgentEvent[][] {
  const steps: AgentEvent[][] = [];
  let results: Map<string, ToolMessage> = new Map();
  for (const message of messages.toReversed()) {
    if (message.role === "tool") results.set(message.callId, message);
    if (message.role !== "assistant") continue;
    steps.push([...eventsOf(message, results, pending)]);
    results = new Map();
  }
  const end = { type: "end", reason: "approval", text: "", pending } as const;
  if (pending.length > 0) steps[0] = [...(steps[0] ?? []), end];
  return steps.reverse();
}

function* eventsOf(
  { content }: AssistantMessage,
  results: ReadonlyMap<string, ToolMessage>,
  pending: readonly PendingCall[],
): Generator<AgentEvent, void> {
  yield { type: "step-start", step: 1 };
  let last = "";
  for (const block of content) {
    // Between two texts a running turn tells a blank line, too.
    if (block.type === "text")
      yield { ...block, type: "text-delta", text: (last === "text" ? "\n\n" : "") + block.text };
    else if (block.type === "reasoning") yield { type: "reasoning-delta", text: block.text };
    if (block.type === "tool-call" || block.text !== "") last = block.type;
    if (block.type !== "tool-call") continue;
    const { id, name } = block;
    const result = results.get(id);
    const asked = pending.filter(({ callId, within = callId }) => within === id);
    const isWaiting = result?.output === `Error executing ${name}: Not run: waiting for approval`;
    // It is told once the questions before it have their answers.
    if (asked.length === 0 && pending.length > 0 && isWaiting) continue;
    yield { type: "tool-call", id, name, args: { ...block.args } };
    for (const { callId, name, args, within } of asked)
      if (within !== undefined) yield { type: "tool-call", id: callId, name, args: { ...args }, within };
    if (result && asked.length === 0) yield { ...result, type: "tool-result", id };
  }
}
