import {
  answerWith,
  isStreamed,
  jsonOf,
  replyEvents,
  sse,
  streamOf,
  type WireCall,
  type WireEvent,
  type WireReply,
  wholeReply,
} from "./wireReplies.ts";
import type { WireAnswer, WireFormat, WireRequest, WireScript } from "./wireServer.ts";

/** The required outcome of a fault: a typed error, an end with a reason, or a turn that goes on to its answer. */
export type FaultOutcome =
  | { readonly error: string; readonly retryable: boolean }
  | { readonly end: string }
  | { readonly answered: true };

/** One way in which a model service misbehaves. */
export interface WireFault {
  readonly name: string;
  readonly script: WireScript;
  readonly outcome: FaultOutcome | ((format: WireFormat) => FaultOutcome);
  /** The wire formats in which it can happen. Default: all. */
  readonly formats?: readonly WireFormat[];
  readonly streamOnly?: boolean;
  /** The provider needs a time limit to end it. */
  readonly silent?: boolean;
}

/** The key that the faults' requests carry; some services echo it. */
export const faultKey = "sk-loopback-0123456789abcdef";

const goodCall: WireCall = { name: "list_dir", args: '{"path":"."}' };
const answered: FaultOutcome = { answered: true };
const badReply: FaultOutcome = { error: "bad_reply", retryable: true };

function status(code: number, body: unknown, headers: Record<string, string> = {}): WireAnswer {
  return jsonOf(body, { status: code, headers: { "content-type": "application/json", ...headers } });
}

function failure(message: string, type: string, code?: string): Record<string, unknown> {
  return { type: "error", error: { type, message, ...(code !== undefined && { code }) } };
}

function refused(code: number, type: string, error: string, retryable: boolean): WireFault {
  return {
    name: `status ${code} ${type}`,
    script: status(code, failure(`Something about ${type}`, type)),
    outcome: { error, retryable },
  };
}

/** A reply with two sentences and a call, to be cut or broken. */
const longReply: WireReply = { text: "A first sentence. A second one.", calls: [goodCall] };

function pieces(request: WireRequest, reply: WireReply = longReply): string[] {
  return isStreamed(request)
    ? sse(replyEvents(request.format, reply))
    : [JSON.stringify(wholeReply(request.format, reply))];
}

/** The reply up to the middle, then `rest`. */
function halfOf(request: WireRequest, rest: string[], end: Partial<WireAnswer> = {}): WireAnswer {
  const all = pieces(request);
  const [only = ""] = all;
  const head = isStreamed(request) ? all.slice(0, Math.floor(all.length / 2)) : [only.slice(0, only.length / 2)];
  const answer = isStreamed(request) ? streamOf : jsonOf;
  return { ...answer([], end), chunks: [...head, ...rest] };
}

function limitStop(format: WireFormat): string {
  return { chat: "length", messages: "max_tokens", responses: "max_output_tokens" }[format];
}

function replying(name: string, reply: (format: WireFormat) => WireReply, outcome: WireFault["outcome"]): WireFault {
  return {
    name,
    script: (request) => answerWith(reply(request.format))(request),
    outcome,
  };
}

function calling(name: string, ...calls: WireCall[]): WireFault {
  return replying(name, () => ({ calls }), answered);
}

const statusFaults: readonly WireFault[] = [
  refused(400, "invalid_request_error", "invalid_request", false),
  refused(401, "authentication_error", "authentication", false),
  refused(402, "billing_error", "rate_limit", false),
  refused(403, "permission_error", "authentication", false),
  refused(404, "not_found_error", "not_found", false),
  refused(408, "timeout_error", "timeout", true),
  refused(409, "conflict_error", "server", true),
  refused(422, "unprocessable", "invalid_request", false),
  refused(429, "rate_limit_error", "rate_limit", true),
  refused(500, "api_error", "server", true),
  refused(529, "overloaded_error", "server", true),
  {
    name: "status 503 with a web page",
    script: { status: 503, headers: { "content-type": "text/html" }, chunks: ["<html>Back soon</html>"] },
    outcome: { error: "server", retryable: true },
  },
  {
    name: "status 400 for a full context window",
    script: status(
      400,
      failure("prompt is too long: 300000 tokens > 200000 maximum", "invalid_request_error", "context_length_exceeded"),
    ),
    outcome: answered,
  },
  {
    name: "status 401 that echoes the key",
    script: status(401, failure(`Incorrect API key provided: ${faultKey}`, "authentication_error"), {
      "x-echo": faultKey,
    }),
    outcome: { error: "authentication", retryable: false },
  },
];

const transportFaults: readonly WireFault[] = [
  {
    name: "a connection closed before the answer",
    script: { chunks: [], refuse: true },
    outcome: { error: "network", retryable: true },
  },
  {
    name: "a connection dropped in the middle",
    script: (request) => halfOf(request, [], { end: "destroy" }),
    outcome: { error: "network", retryable: true },
  },
  { name: "a clean end in the middle", script: (request) => halfOf(request, []), outcome: badReply },
  {
    name: "silence in the middle",
    silent: true,
    script: (request) => halfOf(request, [], { end: "hang" }),
    outcome: { error: "timeout", retryable: true },
  },
  {
    name: "silence after the headers",
    silent: true,
    script: (request) => ({
      ...streamOf([], { end: "hang" }),
      ...(isStreamed(request) ? {} : jsonOf({}, { chunks: [], end: "hang" })),
    }),
    outcome: { error: "timeout", retryable: true },
  },
  {
    name: "an empty body",
    script: (request) => (isStreamed(request) ? streamOf([]) : jsonOf({}, { chunks: [] })),
    outcome: badReply,
  },
  {
    name: "a web page with status 200",
    script: { headers: { "content-type": "text/html; charset=utf-8" }, chunks: ["<!doctype html><p>Sign in</p>"] },
    outcome: { error: "bad_reply", retryable: false },
  },
  {
    name: "a broken chunk",
    script: (request) => halfOf(request, [`event: message_delta\ndata: {"broken": \n\n`]),
    outcome: badReply,
  },
  {
    name: "a chunk of another shape",
    script: (request) => {
      const odd = {
        chat: { choices: [5, { delta: 1 }] },
        messages: { type: "content_block_start" },
        responses: { type: "response.completed" },
      };
      const data = odd[request.format];
      const event = "type" in data ? `event: ${data.type}\n` : "";
      return isStreamed(request)
        ? halfOf(request, [`${event}data: ${JSON.stringify(data)}\n\n`])
        : jsonOf({ choices: 5, content: 5, output: 5 });
    },
    outcome: badReply,
  },
  {
    name: "a chunk that is null",
    script: (request) =>
      isStreamed(request) ? halfOf(request, ["event: message_delta\ndata: null\n\n"]) : jsonOf(null),
    outcome: badReply,
  },
  {
    name: "an error in the middle",
    script: (request) => {
      const body = failure("Overloaded, try later", "overloaded_error");
      const data =
        request.format === "responses" ? { type: "error", code: "server_error", message: "Overloaded" } : body;
      return isStreamed(request) ? halfOf(request, sse([{ event: "error", data }])) : jsonOf(body);
    },
    outcome: { error: "server", retryable: true },
  },
  {
    name: "a rate limit in the middle",
    script: (request) => {
      const body = failure("Slow down", "rate_limit_error", "rate_limit_exceeded");
      const data =
        request.format === "responses" ? { type: "error", code: "rate_limit_exceeded", message: "Slow down" } : body;
      return isStreamed(request) ? halfOf(request, sse([{ event: "error", data }])) : jsonOf(body);
    },
    outcome: { error: "rate_limit", retryable: true },
  },
  {
    name: "a reply with nothing in it",
    script: (request) => {
      const empty = {
        chat: { choices: [] },
        messages: { content: [], stop_reason: null },
        responses: { output: [], status: "in_progress" },
      };
      const whole = { ...wholeReply(request.format, {}), ...empty[request.format] };
      const events = replyEvents(request.format, {}).slice(0, request.format === "chat" ? 0 : 2);
      const chat: WireEvent[] =
        request.format === "chat" ? [{ data: { ...empty.chat, id: "x" } }, { data: "[DONE]" }] : [];
      return isStreamed(request) ? streamOf(sse([...events, ...chat])) : jsonOf(whole);
    },
    outcome: badReply,
  },
  {
    name: "a whole reply where a stream was asked for",
    script: (request) => jsonOf(wholeReply(request.format, { text: "All at once." })),
    outcome: answered,
    streamOnly: true,
  },
];

const replyFaults: readonly WireFault[] = [
  replying(
    "a token limit inside a call",
    (format) => ({ calls: [{ ...goodCall, args: '{"path":"so' }], stop: limitStop(format) }),
    { end: "token-limit" },
  ),
  replying(
    "a token limit before the arguments",
    (format) => ({ calls: [{ ...goodCall, args: "" }], stop: limitStop(format) }),
    { end: "token-limit" },
  ),
  replying("a token limit in the text", (format) => ({ text: "And so", stop: limitStop(format) }), {
    end: "token-limit",
  }),
  calling("arguments that are no JSON", { ...goodCall, args: '{"path": oops}' }),
  calling("arguments that end too early", { ...goodCall, args: '{"path":"' }),
  calling("arguments that are an array", { ...goodCall, args: '["."]' }),
  calling("arguments that are empty", { ...goodCall, args: "" }),
  calling("arguments that are no fit", { ...goodCall, args: '{"paht":1}' }),
  calling("half a surrogate pair", { ...goodCall, args: '{"path":"\\ud83d","\\udc00":1}' }),
  calling("a missing id", { ...goodCall, id: "" }),
  calling("an odd id", { ...goodCall, id: "functions.list_dir:0 ✓" }),
  calling("an id of 200 characters", { ...goodCall, id: "x".repeat(200) }),
  calling("the same id twice", { ...goodCall, id: "call_a" }, { ...goodCall, id: "call_a" }),
  calling("the id of the call before", { ...goodCall, id: "call_first" }),
  calling("a name that the wire forbids", { ...goodCall, name: "functions.list_dir" }),
  calling("a name that is empty", { ...goodCall, name: "" }),
  calling("the name of no tool", { ...goodCall, name: "rm_rf" }),
  calling("twenty calls", ...Array.from({ length: 20 }, () => goodCall)),
  replying("text with half a surrogate pair", () => ({ text: "so \ud83d and \udc00", calls: [goodCall] }), answered),
  replying(
    "an end without calls that says there are",
    (format) => ({ text: "Done.", stop: { chat: "tool_calls", messages: "tool_use", responses: "completed" }[format] }),
    (format) => (format === "responses" ? answered : badReply),
  ),
  {
    ...replying(
      "a refusal",
      (format) => (format === "messages" ? { text: "I", stop: "refusal" } : { refusal: "I will not." }),
      { end: "refusal" },
    ),
  },
  {
    ...replying(
      "a content filter",
      (format) => ({ text: "So", stop: format === "chat" ? "content_filter" : "content_filter" }),
      { end: "content-filter" },
    ),
    formats: ["chat", "responses"],
  },
  {
    ...replying(
      "a full context window in the reply",
      () => ({ text: "So", stop: "model_context_window_exceeded" }),
      answered,
    ),
    formats: ["messages"],
  },
  { ...replying("a pause", () => ({ text: "Thinking on.", stop: "pause_turn" }), answered), formats: ["messages"] },
];

/** Every kind of fault; the first call of each turn, with the id `call_first`, succeeds. */
export const wireFaults: readonly WireFault[] = [...statusFaults, ...transportFaults, ...replyFaults];
