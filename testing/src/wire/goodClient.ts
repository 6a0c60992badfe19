import { expect } from "vitest";
import { replyEvents, sse } from "../wireReplies.ts";
import type { WireReply } from "./builder.ts";
import type { Fields } from "./checks.ts";
import { sentBlocks, sentChatBlocks, sentItems } from "./sentReply.ts";
import { type Judgement, ModelService, type WireFormat } from "./service.ts";

/** The body of a conversation, which grows, with its tool `look`. */
interface Conversation extends Fields {
  messages: Fields[];
  input: Fields[];
  tools: Fields[];
}

const parameters = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};

/** A tool as each format writes it. */
export function toolOf(format: WireFormat, name: string): Fields {
  if (format === "messages") return { name, description: "Look at it.", input_schema: parameters };
  const own = { name, description: "Look at it.", parameters };
  return format === "chat" ? { type: "function", function: own } : { type: "function", ...own, strict: false };
}

/** A client that keeps all rules of a service, until a test makes it break one. */
export class GoodClient {
  readonly service = new ModelService();
  readonly format: WireFormat;
  readonly body: Conversation;
  headers: Record<string, string> = {};

  constructor(format: WireFormat, model: string) {
    this.format = format;
    const tools = [toolOf(format, "look")];
    const user = { role: "user", content: "Go." };
    const system = format === "chat" ? [{ role: "system", content: "Be brief." }] : [];
    const own = {
      messages: { max_tokens: 32_000, system: "Be brief.", messages: [user] },
      responses: { store: false, instructions: "Be brief.", input: [user] },
      chat: { messages: [...system, user] },
    };
    this.body = { model, tools, ...own[format] } as unknown as Conversation;
  }

  judge(): Judgement {
    return this.service.judge(this.format, this.headers, this.body);
  }

  /** Gets a reply and adds it to the conversation, with the results of its calls. */
  ask(reply: WireReply): Judgement {
    const judged = this.judge();
    expect(judged.problems).toEqual([]);
    const text = sse(replyEvents(this.format, reply, { body: this.body, ...judged })).join("");
    this.service.sent(this.format, this.body, text);
    // The next request is another body, as over the wire.
    (this as { body: Conversation }).body = structuredClone(this.body);
    this.#add(text, reply);
    return judged;
  }

  say(text: string): void {
    (this.format === "responses" ? this.body.input : this.body.messages).push({ role: "user", content: text });
  }

  #add(text: string, { calls = [] }: WireReply): void {
    const { body } = this;
    if (this.format === "messages") {
      const content = sentBlocks(text);
      body.messages.push({ role: "assistant", content });
      const uses = content.filter(({ type }) => type === "tool_use");
      if (uses.length > 0)
        body.messages.push({
          role: "user",
          content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "one.txt" })),
        });
    } else if (this.format === "responses") {
      const items = sentItems(text);
      body.input.push(...items.map(({ status: _, ...item }) => item));
      for (const { type, call_id } of items)
        if (type === "function_call") body.input.push({ type: "function_call_output", call_id, output: "one.txt" });
    } else {
      const details = sentChatBlocks(text)
        .filter(({ type }) => type === "thinking")
        .map((detail) => ({ ...detail, type: "reasoning.text" }));
      const tool_calls = calls.map(({ name, args }, index) => ({
        id: `call_${body.messages.length}_${index}`,
        type: "function",
        function: { name, arguments: args },
      }));
      body.messages.push({
        role: "assistant",
        content: "Yes.",
        reasoning_details: details,
        ...(calls.length > 0 && { tool_calls }),
      });
      for (const { id } of tool_calls) body.messages.push({ role: "tool", tool_call_id: id, content: "one.txt" });
    }
  }
}
