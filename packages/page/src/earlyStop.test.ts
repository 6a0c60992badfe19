import { setTimeout as sleep } from "node:timers/promises";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { base, post, reloadPage, type Server, say, startServer, textOf } from "../testing/server.ts";
import { openAgent } from "./index.ts";

const stop = (): Request => new Request(`${base}/chat/stop`, { method: "POST" });

/** Stops a message that was sent before, and tells how both requests and the session ended. */
async function outcomeOf(server: Server, ready: () => void | Promise<void>): Promise<unknown[]> {
  const sent = server.handle(post(say("hi")));
  await sleep(1);
  const stopped = server.handle(stop());
  await ready();
  const [reply, { status }] = await Promise.all([sent, stopped]);
  const events = await reply.text();
  const { messages } = await reloadPage(server);
  return [reply.status, status, events.includes('"type":"abort"'), messages.map(textOf)];
}

const ended = [200, 204, true, ["hi"]];

test("a stop ends the turn of a message that waits for its session to open", async () => {
  const opened = Promise.withResolvers<void>();
  const server: Server = startServer(temporaryFolder("page"), [], {
    open: (_request, id) => ({
      journal: server.journalOf(id),
      agent: async () => {
        await opened.promise;
        return await openAgent(new ScriptedProvider(["Never."]), server.journalOf(id));
      },
    }),
  });
  expect(await outcomeOf(server, opened.resolve)).toEqual(ended);
});

test("a stop ends the turn of an earlier message that may open its session later", async () => {
  const allowed = Promise.withResolvers<void>();
  const server = startServer(temporaryFolder("page"), ["Never."]);
  const { open } = server.sessions.options;
  let isFirst = true;
  const slow = startServer(temporaryFolder("page"), [], {
    open: async (request, id) => {
      const waits = isFirst;
      isFirst = false;
      if (waits) await allowed.promise;
      return await open(request, id);
    },
  });
  const stopFirst = async (): Promise<void> => {
    await sleep(20);
    allowed.resolve();
  };
  expect(await outcomeOf(slow, stopFirst)).toEqual(ended);
});

test("a stop ends a turn that starts, and the next message has its turn", async () => {
  const server = startServer(temporaryFolder("page"), ["Next."]);
  const sent = server.handle(post(say("hi")));
  const stopped = server.handle(stop());
  expect((await stopped).status).toBe(204);
  expect(await (await sent).text()).toContain('"type":"abort"');
  expect(await (await server.handle(post(say("again")))).text()).toContain("Next.");
});
