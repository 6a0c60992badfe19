import { setTimeout as sleep } from "node:timers/promises";
import type { Provider, ProviderEvent } from "@toolcrib/agent";

/** Text that must stay text. */
export const hostile = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

/** A model that does what the user's message says: one word after the other, calls, or something hostile. */
export const chatModel: Provider = {
  name: "scripted",
  model: "script",
  async *send({ messages, signal }): AsyncGenerator<ProviderEvent, void> {
    const asked = messages.findLast(({ role }) => role === "user");
    const block = asked?.role === "user" ? asked.content.find(({ type }) => type === "text") : undefined;
    const [word = "", ...rest] = block?.type === "text" ? block.text.split(" ") : [];
    const isFirst = messages.at(-1)?.role === "user";
    const call = function* (name: string, args: Record<string, unknown>): Generator<ProviderEvent, void> {
      const said = [
        { type: "reasoning", text: `It needs ${name}.` },
        { type: "text", text: `I call ${name}.` },
      ] as const;
      for (const { type, text } of said) yield { type: `${type}-delta`, text };
      const content = [...said, { type: "tool-call", id: "", name, args } as const];
      yield { type: "reply", stop: "tool-calls", message: { role: "assistant", content } };
    };
    if (isFirst && word === "write")
      return yield* call("write_file", { path: rest[0] ?? "note.txt", content: "one\n" });
    if (isFirst && word === "read") return yield* call("read_file", { path: rest[0] });
    if (isFirst && word === "choose")
      return yield* call("ask_user", { question: "Which one?", choices: ["this", "that"] });
    const text = word === "slow" ? Array.from({ length: 60 }, (_, index) => `word${index} `) : [`Done. ${hostile}`];
    for (const piece of text) {
      yield { type: "text-delta", text: piece };
      if (text.length > 1) await sleep(50, undefined, { signal });
    }
    yield {
      type: "reply",
      stop: "stop",
      message: { role: "assistant", content: [{ type: "text", text: text.join("") }] },
    };
  },
};
