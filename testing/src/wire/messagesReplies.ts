import { isObject } from "../isObject.ts";
import { type Asked, type Builder, fresh, halves, type WireEvent, type WireReply } from "./builder.ts";
import type { Fields } from "./checks.ts";
import { messagesRules } from "./rules.ts";

/** Replies of the Messages API. A model that thinks does so before it answers; the text is empty unless the request asks for it. */
export const messagesReplies: Builder = {
  events(reply, request) {
    const whole = wholeMessage(reply, request);
    const { content, stop_reason, usage, ...rest } = whole;
    const start = { ...rest, content: [], stop_reason: null, usage: { ...(usage as Fields), output_tokens: 1 } };
    const events: (Fields & { type: string })[] = [
      { type: "message_start", message: start },
      { type: "ping" },
      ...(content as Fields[]).flatMap((block, index) => [
        { type: "content_block_start", index, content_block: emptied(block) },
        ...deltasOf(block, reply).map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      {
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: (usage as Fields).output_tokens },
      },
      { type: "message_stop" },
    ];
    return events.map((data): WireEvent => ({ event: data.type, data }));
  },
  whole: wholeMessage,
};

function wholeMessage({ text, calls = [], stop, thinking = "Hm." }: WireReply, request?: Asked): Fields {
  const content: Fields[] = [
    ...thinkingBlocks(thinking, calls.length > 0, request?.body),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...calls.map(({ id = fresh("toolu"), name, args }) => ({ type: "tool_use", id, name, input: parsed(args) })),
  ];
  return {
    id: fresh("msg"),
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_reason: stop ?? (calls.length > 0 ? "tool_use" : "end_turn"),
    usage: usageOf(request),
    ...(request?.transformations && { input_transformations: request.transformations }),
  };
}

function thinkingBlocks(text: string, hasCalls: boolean, body: Fields | undefined): Fields[] {
  if (!body) return [];
  const rules = messagesRules(body.model);
  const settings = isObject(body.thinking) ? body.thinking : {};
  const { type = rules.thinksByDefault ? "adaptive" : "disabled", display } = settings;
  const isOff = type === "disabled" || (type === "between_tools" && !hasCalls);
  if (isOff) return [];
  const isShown =
    type === "between_tools" || (display ?? (rules.showsThinking ? "summarized" : "omitted")) !== "omitted";
  return [{ type: "thinking", thinking: isShown ? text : "", signature: `${fresh("sig")}==` }];
}

function usageOf(request: Asked | undefined): Fields {
  const { tokens } = request ?? {};
  if (!tokens)
    return { input_tokens: 20, cache_read_input_tokens: 4, cache_creation_input_tokens: 3, output_tokens: 5 };
  const { plain, read, write, write1h, output } = tokens;
  return {
    input_tokens: plain,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: write,
    cache_creation: { ephemeral_5m_input_tokens: write - write1h, ephemeral_1h_input_tokens: write1h },
    output_tokens: output,
  };
}

function emptied(block: Fields): Fields {
  if (block.type === "text") return { ...block, text: "" };
  return block.type === "tool_use" ? { ...block, input: {} } : { ...block, thinking: "", signature: "" };
}

function deltasOf(block: Fields, { calls = [] }: WireReply): Fields[] {
  if (block.type === "text") return halves(String(block.text)).map((text) => ({ type: "text_delta", text }));
  if (block.type === "thinking")
    return [
      ...(block.thinking === "" ? [] : [{ type: "thinking_delta", thinking: block.thinking }]),
      { type: "signature_delta", signature: block.signature },
    ];
  // The text as the model wrote it, which may be no JSON.
  const written = calls.find(
    ({ name, args, id }) => name === block.name && (id ?? block.id) === block.id && same(args, block.input),
  );
  return ["", ...halves(written?.args ?? JSON.stringify(block.input))].map((partial_json) => ({
    type: "input_json_delta",
    partial_json,
  }));
}

function same(args: string, input: unknown): boolean {
  return JSON.stringify(parsed(args)) === JSON.stringify(input);
}

/** Without streaming this format carries an object. Text that is not JSON is sent as it is. */
function parsed(args: string): unknown {
  try {
    return args === "" ? {} : JSON.parse(args);
  } catch {
    return args;
  }
}
