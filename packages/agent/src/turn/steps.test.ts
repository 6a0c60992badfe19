import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../messages.ts";
import { eventsOf, readAll, type Steps, until } from "./steps.ts";

const steering = (text: string): AgentEvent => ({ type: "steering", text });

/** Says what it does in `log`. */
function* work(log: string[]): Steps {
  try {
    log.push(yield* until(Promise.resolve("first")));
    yield steering("a");
    log.push("second");
    yield steering("b");
  } finally {
    yield* until(Promise.resolve());
    log.push("ended");
  }
}

describe("the events of steps", () => {
  test("are made as they are asked for, and the steps end with the last", async () => {
    const log: string[] = [];
    const events = eventsOf(work(log));
    expect(await events.next()).toEqual({ value: steering("a"), done: false });
    expect(log).toEqual(["first"]);
    expect(await events.next()).toEqual({ value: steering("b"), done: false });
    expect(await events.next()).toEqual({ value: undefined, done: true });
    expect(log).toEqual(["first", "second", "ended"]);
  });

  test("that nobody reads on are not made, and what the steps must still do is awaited", async () => {
    const log: string[] = [];
    for await (const event of eventsOf(work(log))) {
      expect(event).toEqual(steering("a"));
      break;
    }
    expect(log).toEqual(["first", "ended"]);
  });

  test("end with the error of a promise that the steps do not handle", async () => {
    const log: string[] = [];
    function* failing(): Steps {
      try {
        yield* until(Promise.reject(new Error("handled")));
      } catch (error) {
        log.push((error as Error).message);
      }
      yield* until(Promise.reject(new Error("not handled")));
    }
    await expect(eventsOf(failing()).next()).rejects.toThrow("not handled");
    await expect(readAll(eventsOf(failing()), () => {})).rejects.toThrow("not handled");
    expect(log).toEqual(["handled", "handled"]);
  });
});

test("steps wait for a promise of another realm too", async () => {
  const log: string[] = [];
  function* waiting(): Steps {
    log.push(yield* until(runInNewContext("Promise.resolve('waited')") as Promise<string>));
    yield steering("a");
  }
  expect(await eventsOf(waiting()).next()).toEqual({ value: steering("a"), done: false });
  await readAll(eventsOf(waiting()), () => {});
  expect(log).toEqual(["waited", "waited"]);
});

describe("reading all events", () => {
  test("gives the same events, also of a stream that somebody has begun or wrapped", async () => {
    const read = async (events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> => {
      const all: AgentEvent[] = [];
      await readAll(events, (event) => all.push(event));
      return all;
    };
    async function* wrapped(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void> {
      yield* events;
    }
    const log: string[] = [];
    expect(await read(eventsOf(work(log)))).toEqual([steering("a"), steering("b")]);
    expect(await read(wrapped(eventsOf(work(log))))).toEqual([steering("a"), steering("b")]);
    const begun = eventsOf(work(log));
    await begun.next();
    expect(await read(begun)).toEqual([steering("b")]);
    expect(log.filter((text) => text === "ended")).toHaveLength(3);
  });
});
