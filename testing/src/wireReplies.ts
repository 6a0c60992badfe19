import type { WireAnswer, WireFormat, WireRequest, WireScript } from "./wireServer.ts";

/** A call in a reply; `args` is the text as the model wrote it, whole or not. */
export interface WireCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: string;
}

/** A reply in words, for any wire format. */
export interface WireReply {
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  /** In the words of the wire: `completed`, `max_output_tokens`, `end_turn`, `length`, … Default: the one that fits. */
  readonly stop?: string;
  readonly refusal?: string;
  /** Further output items of the Responses API, as they are. */
  readonly items?: readonly Record<string, unknown>[];
}

/** One event of a stream: its JSON data, and its name where the format names events. */
export interface WireEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** The events of a reply's stream, in order. */
export function replyEvents(format: WireFormat, reply: WireReply): WireEvent[] {
  return builders[format].events(reply);
}

/** The reply whole, as it comes without streaming. */
export function wholeReply(format: WireFormat, reply: WireReply): Record<string, unknown> {
  return builders[format].whole(reply);
}

export function sse(events: readonly WireEvent[]): string[] {
  return events.map(({ event, data }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
  });
}

/** A complete answer: a stream or the whole reply, as the request asks. */
export function answerWith(reply: WireReply): WireScript {
  return (request) =>
    isStreamed(request) ? streamOf(sse(replyEvents(request.format, reply))) : jsonOf(wholeReply(request.format, reply));
}

export function isStreamed(request: WireRequest): boolean {
  return request.body.stream === true;
}

export function streamOf(chunks: readonly (string | Uint8Array)[], rest: Partial<WireAnswer> = {}): WireAnswer {
  return { headers: { "content-type": "text/event-stream" }, chunks, ...rest };
}

export function jsonOf(body: unknown, rest: Partial<WireAnswer> = {}): WireAnswer {
  return { headers: { "content-type": "application/json" }, chunks: [JSON.stringify(body)], ...rest };
}

interface Builder {
  events(reply: WireReply): WireEvent[];
  whole(reply: WireReply): Record<string, unknown>;
}

let count = 0;
function fresh(prefix: string): string {
  count += 1;
  return `${prefix}_${count}`;
}

function halves(text: string): [string, string] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

const chatUsage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

const chat: Builder = {
  events({ text, calls = [], stop, refusal }) {
    const base = { id: fresh("chatcmpl"), object: "chat.completion.chunk", created: 1, model: "m" };
    const chunk = (delta: unknown, finish_reason: string | null = null): WireEvent => ({
      data: { ...base, choices: [{ index: 0, delta, finish_reason }] },
    });
    const deltas = [
      ...(text === undefined ? [] : halves(text).map((content) => ({ content }))),
      ...(refusal === undefined ? [] : [{ refusal }]),
      ...calls.flatMap(({ id = fresh("call"), name, args }, index) => {
        const [head, tail] = halves(args);
        return [
          { tool_calls: [{ index, id, type: "function", function: { name, arguments: head } }] },
          { tool_calls: [{ index, function: { arguments: tail } }] },
        ];
      }),
    ];
    const finish = stop ?? (calls.length > 0 ? "tool_calls" : "stop");
    return [
      chunk({ role: "assistant", content: "" }),
      ...deltas.map((delta) => chunk(delta)),
      chunk({}, finish),
      { data: { ...base, choices: [], usage: chatUsage } },
      { data: "[DONE]" },
    ];
  },
  whole({ text, calls = [], stop, refusal }) {
    const tool_calls = calls.map(({ id = fresh("call"), name, args }) => ({
      id,
      type: "function",
      function: { name, arguments: args },
    }));
    const message = {
      role: "assistant",
      content: text ?? null,
      refusal: refusal ?? null,
      ...(calls.length > 0 && { tool_calls }),
    };
    const finish_reason = stop ?? (calls.length > 0 ? "tool_calls" : "stop");
    const choices = [{ index: 0, message, finish_reason, logprobs: null }];
    return { id: fresh("chatcmpl"), object: "chat.completion", created: 1, model: "m", choices, usage: chatUsage };
  },
};

const messages: Builder = {
  events({ text, calls = [], stop }) {
    const usage = { input_tokens: 20, cache_read_input_tokens: 4, cache_creation_input_tokens: 3, output_tokens: 1 };
    const message = {
      id: fresh("msg"),
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage,
    };
    const blocks = [
      ...(text === undefined
        ? []
        : [
            {
              start: { type: "text", text: "" },
              deltas: halves(text).map((half) => ({ type: "text_delta", text: half })),
            },
          ]),
      ...calls.map(({ id = fresh("toolu"), name, args }) => ({
        start: { type: "tool_use", id, name, input: {} },
        deltas: ["", ...halves(args)].map((partial_json) => ({ type: "input_json_delta", partial_json })),
      })),
    ];
    const events: { type: string }[] = [
      { type: "message_start", message } as { type: string },
      { type: "ping" },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      {
        type: "message_delta",
        delta: { stop_reason: stop ?? (calls.length > 0 ? "tool_use" : "end_turn"), stop_sequence: null },
        usage: { output_tokens: 5 },
      } as { type: string },
      { type: "message_stop" },
    ];
    return events.map((data) => ({ event: data.type, data }));
  },
  whole({ text, calls = [], stop }) {
    const content = [
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map(({ id = fresh("toolu"), name, args }) => ({ type: "tool_use", id, name, input: parsed(args) })),
    ];
    const stop_reason = stop ?? (calls.length > 0 ? "tool_use" : "end_turn");
    const usage = { input_tokens: 20, cache_read_input_tokens: 4, cache_creation_input_tokens: 3, output_tokens: 5 };
    return { id: fresh("msg"), type: "message", role: "assistant", model: "m", content, stop_reason, usage };
  },
};

/** Without streaming this format carries an object. Text that is not JSON is sent as it is. */
function parsed(args: string): unknown {
  try {
    return args === "" ? {} : JSON.parse(args);
  } catch {
    return args;
  }
}

const responses: Builder = {
  events(reply) {
    const response = responses.whole(reply);
    const started = { ...response, status: "in_progress", output: [], usage: null };
    let sequence_number = 0;
    const event = (type: string, fields: Record<string, unknown>): WireEvent => {
      sequence_number += 1;
      return { event: type, data: { type, sequence_number, ...fields } };
    };
    const items = response.output as Record<string, unknown>[];
    return [
      event("response.created", { response: started }),
      event("response.in_progress", { response: started }),
      ...items.flatMap((item, output_index) => [
        event("response.output_item.added", { output_index, item: emptied(item) }),
        ...itemDeltas(item).map(([type, delta]) =>
          event(type, { output_index, item_id: item.id, content_index: 0, delta }),
        ),
        event("response.output_item.done", { output_index, item }),
      ]),
      event(`response.${String(response.status)}`, { response }),
    ];
  },
  whole({ text, calls = [], stop, refusal, items = [] }) {
    const incomplete = stop === "max_output_tokens" || stop === "content_filter";
    const parts = [
      ...(text === undefined ? [] : [{ type: "output_text", text, annotations: [] }]),
      ...(refusal === undefined ? [] : [{ type: "refusal", refusal }]),
    ];
    const output = [
      {
        type: "reasoning",
        id: fresh("rs"),
        summary: [{ type: "summary_text", text: "Hm." }],
        encrypted_content: "opaque==",
      },
      ...(parts.length === 0
        ? []
        : [{ type: "message", id: fresh("msg"), role: "assistant", status: "completed", content: parts }]),
      ...calls.map(({ id = fresh("call"), name, args }, index) => ({
        type: "function_call",
        id: fresh("fc"),
        call_id: id,
        name,
        arguments: args,
        status: incomplete && index === calls.length - 1 ? "incomplete" : "completed",
      })),
      ...items.map((item) => ({ id: fresh("item"), ...item })),
    ];
    return {
      id: fresh("resp"),
      object: "response",
      created_at: 1,
      model: "m",
      error: null,
      status: incomplete ? "incomplete" : "completed",
      incomplete_details: incomplete ? { reason: stop } : null,
      output,
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 25,
      },
    };
  },
};

function emptied(item: Record<string, unknown>): Record<string, unknown> {
  if (item.type === "message") return { ...item, content: [], status: "in_progress" };
  if (item.type === "function_call") return { ...item, arguments: "", status: "in_progress" };
  return item.type === "reasoning" ? { ...item, summary: [] } : { ...item, status: "in_progress" };
}

function itemDeltas(item: Record<string, unknown>): [type: string, delta: string][] {
  if (item.type === "reasoning") return [["response.reasoning_summary_text.delta", "Hm."]];
  if (item.type === "function_call") {
    return halves(String(item.arguments)).map((delta) => ["response.function_call_arguments.delta", delta]);
  }
  if (item.type !== "message") return [];
  return (item.content as Record<string, string>[]).flatMap((part): [string, string][] =>
    part.type === "refusal"
      ? [["response.refusal.delta", part.refusal ?? ""]]
      : halves(part.text ?? "").map((half) => ["response.output_text.delta", half]),
  );
}

const builders: Record<WireFormat, Builder> = { chat, messages, responses };
