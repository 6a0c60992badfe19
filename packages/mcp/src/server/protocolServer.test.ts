import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { createProtocolServer } from "./protocolServer.ts";
import { RegistriesByRoots } from "./registriesByRoots.ts";

const identity = { name: "test", version: "1" };

/** Counts who listens, now. */
class CountedRegistries extends RegistriesByRoots {
  listening = 0;

  override onChange(listener: () => void): () => void {
    const stop = super.onChange(listener);
    this.listening += 1;
    return () => {
      this.listening -= 1;
      stop();
    };
  }
}

/** A client of the 2026 protocol, every request of which has a server of its own. */
async function connect(registries: RegistriesByRoots): Promise<Client> {
  const handler = createMcpHandler(() => createProtocolServer(registries, identity), { legacy: "reject" });
  const client = new Client(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => handler.fetch(new Request(url, init));
  await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch }));
  return client;
}

test("a server made for one request leaves no listener behind", async () => {
  const registries = new CountedRegistries(createFixtureRegistry());
  const client = await connect(registries);
  for (let round = 0; round < 5; round += 1) {
    await client.callTool({ name: "echo", arguments: { text: "x" } });
    await client.callTool({ name: "fail", arguments: {} });
  }
  expect(registries.listening).toBe(0);
});

test("a factory that fails is an error result, and is asked again the next time", async () => {
  let working = false;
  const client = await connect(
    new RegistriesByRoots(() => {
      if (!working) throw new Error("no such directory");
      return createFixtureRegistry();
    }),
  );
  expect(await client.callTool({ name: "echo", arguments: { text: "x" } })).toMatchObject({
    isError: true,
    content: [{ type: "text", text: "Error executing echo: no such directory" }],
  });
  working = true;
  expect(await client.callTool({ name: "echo", arguments: { text: "x" } })).toMatchObject({
    content: [{ type: "text", text: "x" }],
  });
});

test("progress never goes back, and is counted for a tool that gives only lines", async () => {
  const registry = new ToolRegistry();
  registry.register({
    name: "reports",
    getSchema: () => ({
      type: "function",
      function: { name: "reports", description: "Reports.", parameters: { type: "object" } },
    }),
    async execute(_args, call) {
      for (const report of [{ message: "a" }, { message: "b" }, { progress: 5 }, { progress: 3 }, { message: "c" }]) {
        call?.onProgress?.(report);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      return "done";
    },
  });
  const client = await connect(new RegistriesByRoots(registry));
  const seen: unknown[] = [];
  await client.callTool({ name: "reports" }, { onprogress: ({ progress, message }) => seen.push([progress, message]) });
  expect(seen).toEqual([
    [0, "a"],
    [1, "b"],
    [5, undefined],
    [6, "c"],
  ]);
});
