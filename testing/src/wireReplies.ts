import type { Asked, Builder, WireEvent, WireReply } from "./wire/builder.ts";
import { chatReplies } from "./wire/chatReplies.ts";
import { messagesReplies } from "./wire/messagesReplies.ts";
import { responsesReplies } from "./wire/responsesReplies.ts";
import type { WireAnswer, WireFormat, WireRequest } from "./wireServer.ts";

export type { WireCall, WireEvent, WireReply } from "./wire/builder.ts";

/** The events of a reply's stream, in order. With the request that it answers, Anthropic's models think before they speak. */
export function replyEvents(format: WireFormat, reply: WireReply, request?: Asked): WireEvent[] {
  return builders[format].events(reply, request);
}

/** The reply whole, as it comes without streaming. */
export function wholeReply(format: WireFormat, reply: WireReply, request?: Asked): Record<string, unknown> {
  return builders[format].whole(reply, request);
}

export function sse(events: readonly WireEvent[]): string[] {
  return events.map(({ event, data }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
  });
}

/** A complete answer: a stream or the whole reply, as the request asks. */
export function answerWith(reply: WireReply): (request: WireRequest) => WireAnswer {
  return (request) =>
    isStreamed(request)
      ? streamOf(sse(replyEvents(request.format, reply, request)))
      : jsonOf(wholeReply(request.format, reply, request));
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

const builders: Record<WireFormat, Builder> = {
  chat: chatReplies,
  messages: messagesReplies,
  responses: responsesReplies,
};
