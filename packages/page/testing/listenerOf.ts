import { once } from "node:events";
import type { RequestListener } from "node:http";
import { Readable } from "node:stream";
import type { PageHandler } from "../src/index.ts";

/** Makes a handler of requests a listener of Node's server. */
export function listenerOf(handler: PageHandler): RequestListener {
  return async (incoming, outgoing) => {
    const { method = "GET", url, headers } = incoming;
    const sent = { method, headers: headers as Record<string, string> };
    const body = { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" } as const;
    const request = new Request(`http://${headers.host}${url}`, method === "GET" ? sent : { ...sent, ...body });
    const reply = await handler(request);
    outgoing.writeHead(reply.status, Object.fromEntries(reply.headers));
    const reader = reply.body?.getReader();
    outgoing.once("close", () => void reader?.cancel());
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      if (!outgoing.write(next.value)) await once(outgoing, "drain");
    outgoing.end();
  };
}
