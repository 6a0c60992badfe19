import { answerWith, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { wireProvider } from "../../testing/wireFaultRun.ts";
import { Agent } from "../agent.ts";
import { afterRefusal } from "./anthropic/thinkingBinding.ts";
import { withoutForeignReasoning } from "./openai/foreignReasoning.ts";

// It refuses thinking that it did not write.
const server = await sharedWireServer();

const thinking = { type: "thinking", thinking: "Hm.", signature: "theirs" } as const;
const reasoning = { type: "reasoning", id: "rs_1", summary: [] as never[], encrypted_content: "theirs" } as const;
const opaque = {
  messages: { provider: "anthropic", data: thinking },
  responses: { provider: "openai", data: reasoning },
};

describe.each(["messages", "responses"] as const)("over the %s wire", (format) => {
  /** A conversation with thinking that the same model wrote at another address. */
  const begun = () => {
    const { name, model } = wireProvider(format, server.url);
    const content = [
      { type: "reasoning", text: "Hm.", opaque: opaque[format] },
      { type: "text", text: "Blue." },
    ] as const;
    const asked = { role: "user", content: [{ type: "text", text: "Which?" }] } as const;
    const reply = { role: "assistant", content, model: `${name}/${model}` } as const;
    return { format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages: [asked, reply] } as const;
  };

  test.each([true, false])(
    "a conversation goes on without what another platform wrote (streamed: %s)",
    async (stream) => {
      server.script(answerWith({ text: "Red.", thinking: "Ours." }), answerWith({ text: "Green." }));
      const agent = await Agent.resume(wireProvider(format, server.url, { stream }), begun());
      expect([await agent.chat("And now?"), await agent.chat("Then?")]).toEqual(["Red.", "Green."]);
      expect(server.takeProblems()).toHaveLength(1);
      const bodies = server.requests.map(({ body }) => JSON.stringify(body));
      expect(bodies.map((body) => body.includes("theirs"))).toEqual([true, false, false]);
      // What this platform wrote goes back.
      expect(bodies[2]).toMatch(/"(?:signature|encrypted_content)":"/);
    },
  );
});

const refusal = (message: string) => Object.assign(new Error("400"), { status: 400, error: { message } });

test.each([
  ["messages.1.content.0: Invalid `signature` in `thinking` block", true],
  ["thinking blocks were created by another account", true],
  ["messages.1: `thinking` blocks must be signed by this organization", true],
  ["thinking.type.disabled is not supported", false],
  ["messages: at least one message is required", false],
])("%j is about thinking of elsewhere: %s", (message, isForeign) => {
  const messages = [{ role: "assistant", content: [thinking, { type: "text", text: "Blue." }] }] as const;
  const body = afterRefusal({ betas: [], messages: messages as never }, refusal(message), true);
  expect(body !== undefined).toBe(isForeign);
  expect(JSON.stringify(body ?? {})).not.toContain("theirs");
  expect(afterRefusal({ betas: [], messages: [] }, refusal(message), true)).toBeUndefined();
});

test.each([
  ["The encrypted content gAAA could not be verified.", true],
  ["reasoning `encrypted_content` was not issued to this caller", true],
  ["Invalid value: input[3]", false],
])("%j is about reasoning of elsewhere: %s", (message, isForeign) => {
  const said = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [] as never[],
  } as const;
  const body = withoutForeignReasoning({ input: [reasoning, said] }, refusal(message));
  const { id: _, ...rest } = said;
  expect(body?.input).toEqual(isForeign ? [rest] : undefined);
  expect(withoutForeignReasoning({ input: [said] }, refusal(message))).toBeUndefined();
});
