import { createEventCounter } from "@toolcrib/kit/text";

/** `fetch` as the SDK calls it. */
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Makes the `fetch` for a server at `address`. A redirect to another origin is refused, because the headers and the conversation would go
 * there. One within the origin is returned: the SDK follows it, so this is not the `sameOriginFetch` of the agent, which
 * follows redirects itself. Reads no message beyond `maxBytes`, and calls `onTooLong` for a longer one.
 */
export function createServerFetch(address: URL, maxBytes: number, onTooLong: () => void): Fetch {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: "manual" });
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (location !== null) {
      const target = URL.parse(location, String(url));
      if (target?.origin === address.origin) return response;
      await response.body?.cancel();
      throw new Error(
        `${address.origin} redirects to ${target?.origin ?? "no valid address"}, which was not followed: ` +
          "the headers and the conversation would go there; if it is the right server, put its address into the entry",
      );
    }
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const body = response.body.pipeThrough(limitMessages(maxBytes, isStream, onTooLong));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

/** Passes bytes on until a message is longer than `maxBytes`: the whole body, or one event of a stream. */
function limitMessages(
  maxBytes: number,
  isStream: boolean,
  onTooLong: () => void,
): TransformStream<Uint8Array, Uint8Array> {
  let whole = 0;
  const countEvent = createEventCounter();
  const count = (chunk: Uint8Array): number => {
    whole += chunk.length;
    return isStream ? countEvent(chunk) : whole;
  };
  return new TransformStream({
    transform(chunk, controller) {
      if (count(chunk) <= maxBytes) {
        controller.enqueue(chunk);
        return;
      }
      onTooLong();
      controller.error(new Error(`it sent a message of more than ${maxBytes} bytes`));
    },
  });
}
