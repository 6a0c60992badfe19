const newline = 0x0a;
const carriageReturn = 0x0d;

/** `fetch` as the SDK calls it. */
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for a server at `address`. A redirect to another origin is refused, because the headers and the conversation would go
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
  let message = 0;
  let line = 0;
  let last: number | undefined;
  const count = (chunk: Uint8Array): void => {
    message += chunk.length;
    if (!isStream) return;
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      const length = line + at - from;
      // An empty line ends an event.
      if (length === 0 || (length === 1 && (at > 0 ? chunk[at - 1] : last) === carriageReturn))
        message = chunk.length - at - 1;
      line = 0;
      from = at + 1;
    }
    line += chunk.length - from;
    last = chunk.at(-1);
  };
  return new TransformStream({
    transform(chunk, controller) {
      count(chunk);
      if (message <= maxBytes) {
        controller.enqueue(chunk);
        return;
      }
      onTooLong();
      controller.error(new Error(`it sent a message of more than ${maxBytes} bytes`));
    },
  });
}
