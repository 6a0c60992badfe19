import type { ChatTool } from "@toolcrib/core";
import { expect, test } from "vitest";
import { userMessage } from "./conversation.ts";
import { announcement } from "./opening.ts";

const tool = (name: string): ChatTool => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object" }, strict: false },
});

test("a deferred tool that nobody found is told of when it is deferred no longer", () => {
  const [search, mail] = [tool("search_tools"), tool("send_mail")];
  const messages = [
    userMessage("hello"),
    { role: "assistant", content: [{ type: "text", text: "hi" }] } as const,
    userMessage("mail"),
  ];
  const opening = { systemPrompt: "", tools: [search], deferredTools: [mail] };
  const state = { messages, opening, openedAt: 1, changes: [], foundTools: new Set<string>() };
  const present = { systemPrompt: "", tools: [search, mail] };
  expect(announcement(state, present)).toEqual({ type: "change", addedTools: [mail] });
  expect(announcement({ ...state, foundTools: new Set(["send_mail"]) }, present)).toBeUndefined();
});
