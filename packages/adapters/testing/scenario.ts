import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineTool, ToolRegistry, toolOutput } from "@toolcrib/core";

export interface Scenario {
  registry: ToolRegistry;
  /** Settles when `hold` runs. */
  held: Promise<void>;
  /** Settles with the reason when the signal of `hold` fires. */
  released: Promise<unknown>;
}

/** A PNG of one pixel in base64. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** `add` (needs repair for "2"), `fail` (always), `picture` (an image), `hold` (until aborted) and `spare`, which is disabled. */
export function createScenario(): Scenario {
  const registry = new ToolRegistry();
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<unknown>();
  const none = { type: "object", properties: {}, additionalProperties: false } as const;
  const number = { type: "number" } as const;
  const operands = { a: number, b: number };
  const parameters = {
    type: "object",
    properties: operands,
    required: ["a", "b"],
    additionalProperties: false,
  } as const;
  registry.register(
    defineTool({ name: "add", description: "Adds.", parameters, execute: ({ a, b }) => String(a + b), readOnly: true }),
  );
  registry.register(
    defineTool({
      name: "fail",
      description: "Fails.",
      parameters: none,
      execute: () => {
        throw new Error("the disk is full");
      },
    }),
  );
  registry.register(
    defineTool({
      name: "picture",
      description: "Draws a dot.",
      parameters: none,
      execute: () => toolOutput("a dot", { content: [{ type: "image", data: pixel, mimeType: "image/png" }] }),
    }),
  );
  registry.register(
    defineTool({
      name: "hold",
      description: "Waits.",
      parameters: none,
      execute: (_args, { signal }) => {
        signal?.addEventListener("abort", () => released.resolve(signal.reason));
        held.resolve();
        return released.promise;
      },
    }),
  );
  registry.register(
    defineTool({ name: "spare", description: "Spare.", parameters: none, execute: () => "ran", destructive: true }),
  );
  registry.disable("spare");
  return { registry, held: held.promise, released: released.promise };
}

/** The tools that `createScenario` shows at first, and after `add` is disabled. */
export const shownAtFirst = ["add", "fail", "picture", "hold"];
export const shownWithoutAdd = ["fail", "picture", "hold"];

export interface ScriptedServer<Body> extends AsyncDisposable {
  url: string;
  /** The bodies of the requests so far. */
  requests: Body[];
}

/** A server on loopback that answers the n-th request with what the n-th step returns, as JSON. */
export async function serveScript<Body>(steps: ReadonlyArray<(body: Body) => unknown>): Promise<ScriptedServer<Body>> {
  const requests: Body[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
      requests.push(body);
      const step = steps[requests.length - 1];
      response.writeHead(step ? 200 : 400, { "content-type": "application/json" });
      response.end(JSON.stringify(step ? step(body) : { error: { message: "the script is over" } }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
