import { expect, test } from "vitest";
import type { ProviderEvent } from "../../provider.ts";
import { createEventRedactor, redact } from "./redact.ts";

const key = "sk-test-abcdefgh12345678";

test("keys, texts that look like keys, and bearer tokens are removed from an error text, masked ones too", () => {
  const text = `Bad key ${key}; also sk-proj-****wxyz and Authorization: Bearer eyJhbGciOi.J9`;
  expect(redact(text, [key])).toBe("Bad key [redacted]; also [redacted] and Authorization: [redacted]");
});

test.each([
  ["as it is", key],
  ["in capitals", key.toUpperCase()],
  ["with spaces", [...key].join(" ")],
  ["with a line break", key.replace("abcd", "ab\n  cd")],
  ["with a row of spaces", key.replace("abcd", `ab${" ".repeat(60)}cd`)],
])("a key that a service echoes %s, in pieces of any size, is removed, and nothing else", (_, form) => {
  const echoed = `before ${form} after sk-te`;
  for (let size = 1; size <= echoed.length; size += 1) {
    const clean = createEventRedactor([key]);
    const events: ProviderEvent[] = [];
    for (let at = 0; at < echoed.length; at += size)
      events.push(...clean({ type: "text-delta", text: echoed.slice(at, at + size) }), ...clean({ type: "activity" }));
    const content = [{ type: "text", text: echoed }] as const;
    events.push(...clean({ type: "reply", stop: "stop", message: { role: "assistant", content } }));
    const shown = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
    expect(shown, `pieces of ${size}`).toBe("before [redacted] after sk-te");
    expect(events.at(-1)).toMatchObject({ message: { content: [{ text: "before [redacted] after sk-te" }] } });
    expect(JSON.stringify(events)).not.toContain(key);
  }
});

test("a key in a call's arguments and in opaque data is removed", () => {
  const clean = createEventRedactor([key]);
  const events = clean({
    type: "reply",
    stop: "tool-calls",
    message: {
      role: "assistant",
      content: [
        { type: "reasoning", text: "", opaque: { provider: "test", data: { note: [key] } } },
        { type: "tool-call", id: "a", name: "b", args: { [key]: { deep: `x${key}` } } },
      ],
    },
  });
  expect(JSON.stringify(events)).not.toContain(key);
});

test.each<ProviderEvent>([
  { type: "reasoning-delta", text: "hm" },
  { type: "text-delta", text: "hm", phase: "final_answer" },
  { type: "text-delta", text: "hm" },
])("text held back before %j comes before it, in its own phase", (next) => {
  const clean = createEventRedactor([key]);
  const held = { type: "text-delta", text: "sk-", phase: "commentary" } as const;
  expect([...clean(held), ...clean(next)]).toEqual([held, next]);
});
