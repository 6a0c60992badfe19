import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { createHandler } from "./handle.ts";
import { openAgent, PageSessions } from "./index.ts";
import type { PageProtocol, Turn } from "./protocol.ts";

/** Writes the text of a turn, and no more. */
const plain: PageProtocol = {
  headers: {},
  read: () => ({ id: "one", action: () => ({ type: "send", content: "hi" }), stream }),
  join: () => ({ stream }),
  history: () => ({}),
};

async function* stream(turn: Turn): AsyncGenerator<string, void> {
  for await (const event of turn.events()) if (event.type === "text-delta") yield event.text;
}

test("a reader that leaves is counted once: the turn goes on for the other one", async () => {
  const [left, waited] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const provider = new ScriptedProvider([
    async function* ({ signal }) {
      yield { type: "text-delta", text: "Both " };
      await left.promise;
      yield { type: "text-delta", text: "read, one " };
      await waited.promise;
      signal.throwIfAborted();
      yield { type: "text-delta", text: "to the end." };
    },
  ]);
  const journal = join(temporaryFolder("page"), "one.jsonl");
  const open = () => ({ journal, agent: () => openAgent(provider, journal) });
  const handle = createHandler(new PageSessions({ open, lingerMs: 1 }), plain);
  const address = "http://page.test/one";
  const headers = { "content-type": "application/json" };
  const leaver = (await handle(new Request(address, { method: "POST", headers, body: "{}" }))).body?.getReader();
  const stayer = (await handle(new Request(`${address}/stream`))).body?.getReader();
  const read = async (reader: typeof leaver) => new TextDecoder().decode((await reader?.read())?.value);
  expect([await read(leaver), await read(stayer)]).toEqual(["Both ", "Both "]);
  const waiting = leaver?.read();
  await leaver?.cancel();
  await waiting;
  left.resolve();
  await sleep(50);
  waited.resolve();
  expect([await read(stayer), await read(stayer)]).toEqual(["read, one ", "to the end."]);
});
