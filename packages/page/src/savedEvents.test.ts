import type { Message } from "@toolcrib/agent";
import { expect, test } from "vitest";
import { toAgUiMessages } from "./agUi/writeRun.ts";

test("texts of one reply that follow each other are paragraphs, as while they came", () => {
  const content = [
    { type: "text", text: "Let me look.", phase: "commentary" },
    { type: "reasoning", text: "" },
    { type: "text", text: "Done.", phase: "final_answer" },
    { type: "reasoning", text: "a thought" },
    { type: "text", text: "More." },
  ];
  const messages = [{ role: "assistant", content }] as unknown as readonly Message[];
  const shown = toAgUiMessages({ messages, pending: [] } as unknown as Parameters<typeof toAgUiMessages>[0], true);
  expect(shown.map((message) => "content" in message && message.content)).toEqual([
    "Let me look.\n\nDone.",
    "a thought",
    "More.",
  ]);
});
