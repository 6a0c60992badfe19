import { expect, test } from "vitest";
import { mounted, path } from "../../fixtures/mounting.ts";

interface Opened {
  readonly call: () => Promise<string>;
  /** Has the server do something; returns how many lists it was asked for so far. */
  readonly tell: (what: "hold" | "release" | "flood" | "turn" | "lists") => Promise<number>;
}

async function open(): Promise<Opened> {
  const entry = { command: process.execPath, args: [path("changingServer.mjs")] };
  const { registry } = await mounted({ s: entry }, { resources: true });
  return {
    call: () => registry.execute("mcp__s__hello"),
    tell: async (uri) => Number(await registry.execute("read_resource", { server: "s", uri })),
  };
}

test("a flood of changes makes one list for all calls that follow it", async () => {
  const { call, tell } = await open();
  expect(await tell("flood")).toBe(1);
  expect(await tell("lists")).toBe(1);
  expect(new Set(await Promise.all(Array.from({ length: 20 }, call)))).toEqual(new Set(["hello"]));
  expect(await tell("lists")).toBe(2);
});

test("while a list is under way, one more waits, however many changes and calls follow", async () => {
  const { call, tell } = await open();
  await tell("turn");
  await tell("hold");
  const calls = [call()];
  await expect.poll(() => tell("lists")).toBe(2);
  for (const _round of [1, 2, 3]) {
    await tell("flood");
    calls.push(call(), call());
  }
  expect(await tell("lists")).toBe(2);
  await tell("release");
  for (const answer of await Promise.all(calls)) expect(answer).toMatch(/has changed since it was accepted/);
  expect(await tell("lists")).toBe(3);
});

test("a change during a list counts for the calls that follow it", async () => {
  const { call, tell } = await open();
  await tell("flood");
  await tell("hold");
  const first = call();
  await expect.poll(() => tell("lists")).toBe(2);
  await tell("turn");
  const second = call();
  await tell("release");
  expect(await first).toBe("hello");
  expect(await second).toMatch(/has changed since it was accepted/);
});
