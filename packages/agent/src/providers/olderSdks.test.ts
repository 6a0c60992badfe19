import { answerWith, jsonOf, sharedWireServer, type WireFormat, wireFaults, wireFormats } from "@toolcrib/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { listRegistry, runFault, wireProvider } from "../../testing/wireFaultRun.ts";
import { Agent } from "../agent.ts";

// The oldest versions that the peer ranges admit; all other tests run with the newest.
vi.mock("openai", () => import("openai-6"));
vi.mock("@anthropic-ai/sdk", () => import("anthropic-sdk-0"));

const server = await sharedWireServer();
beforeEach(() => {
  // This old SDK of Anthropic prints a broken chunk, whatever log level it is given.
  vi.spyOn(console, "error").mockReturnValue(undefined);
});
afterEach(() => vi.restoreAllMocks());

const agents: Record<WireFormat, RegExp> = {
  responses: /^OpenAI\/JS 6\./,
  chat: /^OpenAI\/JS 6\./,
  messages: /^Anthropic\/JS 0\./,
};

describe.each(wireFormats)("with an older SDK the %s wire", (format) => {
  test.each([true, false])(
    "runs turns with tools (streamed: %s), and sends only fields that the service accepts",
    async (stream) => {
      const agent = new Agent(wireProvider(format, server.url, { stream }), { tools: listRegistry() });
      server.script(
        answerWith({ text: "Looking. ", calls: [{ name: "list_dir", args: '{"path":"."}' }] }),
        answerWith({ text: "Two files." }),
      );
      expect(await agent.chat("List it.")).toBe("Two files.");
      expect(server.problems()).toEqual([]);
      expect(server.requests[0]?.headers["user-agent"]).toMatch(agents[format]);
      expect(server.requests[0]?.headers.authorization ?? server.requests[0]?.headers["x-api-key"]).toContain("sk-");
    },
  );

  test("tries again after a dropped connection and a failure of the service, each once", async () => {
    const agent = new Agent(wireProvider(format, server.url), { baseDelayMs: 1 });
    server.script(
      { chunks: [], refuse: true },
      jsonOf({ error: { message: "oh" } }, { status: 500 }),
      answerWith({ text: "At last." }),
    );
    expect(await agent.chat("Hello")).toBe("At last.");
    expect(server.requests).toHaveLength(3);
  });

  // What the SDK itself reads; a whole reply is read by the same code of ours whatever SDK brings it.
  const read = /connection|middle|headers|body|page|chunk|streamed|asked for|status (?:401|429|500)|half a surrogate/;
  for (const fault of wireFaults.filter(({ name }) => read.test(name)))
    test(`ends well after: ${fault.name}`, () => runFault(server, format, true, fault));
});
