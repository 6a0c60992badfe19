import { once } from "node:events";
import { Readable } from "node:stream";
import { temporaryServer } from "@toolcrib/testing";
import type { PageHandler } from "../src/index.ts";

/** Serves a handler on loopback for the rest of the test; resolves to its URL. */
export async function serve(handler: PageHandler): Promise<string> {
  return await temporaryServer(async (incoming, outgoing) => {
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
  });
}
