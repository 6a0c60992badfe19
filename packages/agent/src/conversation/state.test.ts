import { expect, test } from "vitest";
import { apply, emptyState } from "./state.ts";
import { waitingResult } from "./waiting.ts";

test("a call that began and then waits for an answer has not run where the conversation goes on without one", () => {
  const state = emptyState();
  const call = { type: "tool-call", id: "c1", name: "pay", args: {} } as const;
  apply(state, { type: "message", message: { role: "assistant", content: [call] } });
  apply(state, { type: "tool-start", callIds: ["c1"] });
  const pending = { callId: "c1", step: 1, question: { text: "Pay?" } };
  apply(state, { type: "message", message: waitingResult(call), pending });
  apply(state, { type: "message", message: { role: "user", content: [{ type: "text", text: "Never mind." }] } });
  expect(state.messages[1]).toMatchObject({ callId: "c1", output: expect.stringContaining("Not run: aborted") });
});
