import { readFileSync } from "node:fs";
import { Agent, isAgentError } from "@toolcrib/agent";
import { assertConversation } from "@toolcrib/agent/testing";
import { wireFaults } from "@toolcrib/testing/wireFaults";
import { answerWith, streamOf } from "@toolcrib/testing/wireReplies";
import { WireServer, wireFormats } from "@toolcrib/testing/wireServer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listRegistry, runFault, wireProvider } from "../../../packages/agent/testing/wireFaultRun.ts";

let server: WireServer;
beforeAll(async () => {
  server = await WireServer.start();
});
afterAll(() => server.close());

describe.each(wireFormats)("the %s wire", (format) => {
  const faults = wireFaults.filter(({ formats }) => formats?.includes(format) ?? true);

  test("has at least 20 kinds of fault in its table", () => {
    expect(faults.length).toBeGreaterThanOrEqual(20);
  });

  // `npm test` asks about the others that are streamed.
  for (const fault of faults) {
    for (const stream of [...(fault.silent ? [true] : []), ...(fault.streamOnly ? [] : [false])]) {
      test(`${fault.name}, ${stream ? "streamed" : "not streamed"}: the next request is a valid conversation`, () =>
        runFault(server, format, stream, fault));
    }
  }

  test("a recorded stream cut or dropped anywhere leaves a conversation that goes on", async () => {
    const bytes = readFileSync(
      new URL(`../../../packages/agent/src/providers/fixtures/${format}.sse`, import.meta.url),
    );
    const agent = new Agent(wireProvider(format, server.url), { tools: listRegistry(), attempts: 1 });
    // A prime number, so that the cuts fall at any place in characters and lines.
    for (let at = 0; at <= bytes.length; at += 53) {
      server.reset();
      const end = at % 2 === 0 ? "close" : "destroy";
      server.script(
        streamOf([bytes.subarray(0, at)], { end }),
        answerWith({ text: "Read." }),
        answerWith({ text: "Read." }),
      );
      const failure: unknown = await agent.chat("Read both.").then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure !== undefined)
        expect(isAgentError(failure) && failure.retryable, `cut at ${at}: ${failure}`).toBe(true);
      expect(await agent.chat("And now?")).toBe("Read.");
      assertConversation(agent.sessionContext as Parameters<typeof assertConversation>[0]);
      expect(server.problems(), `cut at ${at}`).toEqual([]);
      if (at % 7 === 0) agent.clearContext();
    }
  });
});
