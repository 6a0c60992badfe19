/** The last event of a whole answer of `createUIHandler`. */
const lastEvent = "data: [DONE]\n\n";

/**
 * A `fetch` for the transport of `useChat`, in the browser: an answer that ends before its last event is an error of the network, as
 * `useChat` has it. By itself it takes any end for the end of the answer, for instance that of a proxy whose server was stopped.
 */
export async function fetchWhole(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (!response.body || !response.headers.has("x-vercel-ai-ui-message-stream")) return response;
  const decoder = new TextDecoder();
  let end = "";
  const checked = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      end = (end + decoder.decode(chunk, { stream: true })).slice(-lastEvent.length);
      controller.enqueue(chunk);
    },
    flush() {
      if (end !== lastEvent)
        throw new TypeError("network error: the connection was cut off before the end of the answer");
    },
  });
  return new Response(response.body.pipeThrough(checked), response);
}
