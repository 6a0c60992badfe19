import type { SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { isObject } from "@toolcrib/core/text";

/** Tells an answer that we make in place of one that cannot come any more from those of servers. */
const lost = Symbol("lost");

/**
 * Answers a request with an error once the stream of its answer has ended and cannot be resumed: the SDK tells nobody, and the request
 * would wait for its time limit. The SDK drops the answer to a request that has one.
 */
export function answerLostRequests(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(message, {
      ...options,
      onRequestStreamEnd() {
        options?.onRequestStreamEnd?.();
        for (const one of [message].flat()) {
          const error = { code: -32000, message: "its answer ended before it was whole", data: { [lost]: true } };
          if ("method" in one && "id" in one) transport.onmessage?.({ jsonrpc: "2.0", id: one.id, error });
        }
      },
    });
}

/**
 * Ends the connection when its stream breaks: the SDK opens another one, and the answers to what was asked before never come. Called
 * before the client connects.
 */
export function endWithStream(transport: SSEClientTransport): void {
  transport.onerror = (error) => {
    // Others are those of one message.
    if ("event" in error) void transport.close();
  };
}

/** Returns whether a request has failed because its answer is lost. */
export function isLostAnswer(error: unknown): boolean {
  return isObject(error) && isObject(error.data) && lost in error.data;
}
