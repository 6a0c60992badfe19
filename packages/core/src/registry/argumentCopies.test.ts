import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { ExecutableTool, Guard } from "../interface.ts";
import { ToolRegistry } from "./registry.ts";

class Money {
  readonly #cents: number;
  constructor(cents: number) {
    this.#cents = cents;
  }
  get cents(): number {
    return this.#cents;
  }
}

type Args = Record<string, unknown>;

/** A tool whose own check makes `value` of the arguments; what it and its effects got. */
function toolOf(value: unknown): { tool: ExecutableTool; got: Args[]; told: Args[] } {
  const got: Args[] = [];
  const told: Args[] = [];
  const tool = {
    ...defineTool({ name: "a", description: "a", parameters: { type: "object" }, execute: () => "" }),
    parseArguments: () => ({ value }),
    effects: (args: Args) => {
      told.push(args);
      return [];
    },
    execute: async (args: Args) => {
      got.push(args);
      return "ok";
    },
  };
  return { tool, got, told };
}

async function run(value: unknown, ...guards: Guard[]): Promise<{ answer: string; got: Args; told: Args }> {
  const { tool, got, told } = toolOf(value);
  const registry = new ToolRegistry([tool]);
  for (const guard of guards) registry.guard(guard);
  const answer = await registry.execute("a");
  return { answer, got: got[0] as Args, told: told[0] as Args };
}

const make = (): Args => ({
  date: new Date(5),
  map: new Map<unknown, unknown>([["k", { deep: [1] }]]),
  set: new Set([new Date(1)]),
  url: new URL("https://a.example/x"),
  bytes: Buffer.from("bytes"),
  numbers: new Float64Array([1, 2]),
  nothing: undefined,
  bare: Object.assign(Object.create(null), { a: 1 }),
  big: 10n,
  call: Math.max,
});

describe("arguments that a schema library has made into objects", () => {
  test("reach the tool, its effects and the guard as the same kind of object", async () => {
    let seen: Args = {};
    const { got, told } = await run(make(), ({ args }) => {
      seen = args;
      return true;
    });
    for (const args of [got, told, seen]) {
      expect(args).toEqual(make());
      expect(args).toStrictEqual(make());
      expect(Buffer.isBuffer(args.bytes)).toBe(true);
      expect(Object.getPrototypeOf(args.bare)).toBeNull();
      expect("nothing" in args).toBe(true);
      expect((args.date as Date).toISOString()).toBe("1970-01-01T00:00:00.005Z");
    }
    expect(Object.isFrozen(got)).toBe(false);
    expect(Object.isFrozen(told)).toBe(true);
  });

  test("are not changed for the tool by a guard that writes to them", async () => {
    const spoil: Guard = ({ args }) => {
      (args.date as Date).setTime(0);
      (args.map as Map<string, unknown>).set("k", "thief").set("more", 1);
      (args.set as Set<unknown>).clear();
      (args.url as URL).host = "thief.example";
      (args.bytes as Buffer).fill(0);
      (args.numbers as Float64Array)[0] = 9;
      return true;
    };
    const { answer, got } = await run(make(), spoil);
    expect(answer).toBe("ok");
    expect(got).toEqual(make());
  });

  test("cannot be changed by code that keeps the originals", async () => {
    const value = make();
    const { got } = await run(value, () => {
      (value.date as Date).setTime(0);
      (value.map as Map<string, unknown>).clear();
      (value.bytes as Buffer).fill(0);
      return true;
    });
    expect(got).toEqual(make());
  });

  test("an instance of a class reaches the tool and the guard as it is, with private fields", async () => {
    const money = new Money(500);
    let seen: unknown;
    const { got, told } = await run({ money }, ({ args }) => {
      seen = args.money;
      return true;
    });
    for (const given of [seen, got.money, told.money]) expect(given).toBe(money);
    expect(money.cents).toBe(500);
    expect(Object.isFrozen(money)).toBe(false);
  });

  test("a class derived from a built-in one is not copied either", async () => {
    class Day extends Date {
      readonly #zone = "UTC";
      get zone(): string {
        return this.#zone;
      }
    }
    class Bytes extends Uint8Array {}
    const value = { day: new Day(1), bytes: new Bytes(2) };
    const { got } = await run(value, () => true);
    expect((got.day as Day).zone).toBe("UTC");
    expect(got.bytes).toBe(value.bytes);
  });

  test("dates and maps of another realm keep their kind", async () => {
    const value = runInNewContext("({ date: new Date(7), map: new Map([[1, 2]]), list: [1] })") as Args;
    const { answer, got } = await run(value, ({ args }) => (args.date as Date).getTime() === 7);
    expect(answer).toBe("ok");
    expect((got.map as Map<number, number>).get(1)).toBe(2);
    expect(got.map).not.toBe(value.map);
  });

  test.each<[string, () => unknown]>([
    [
      "a getter that throws",
      () => ({
        get to(): string {
          throw new Error("no");
        },
      }),
    ],
    [
      "a cycle",
      () => {
        const value: Args = {};
        value.self = value;
        return value;
      },
    ],
    [
      "levels without end",
      () => {
        let value = {};
        for (let level = 0; level < 100_000; level += 1) value = { value };
        return value;
      },
    ],
  ])("with %s are denied, as it is unknown what would run", async (_, value) => {
    const { answer, got } = await run(value(), () => true);
    expect(answer).toBe(
      "Error executing a: Permission denied: its arguments cannot be copied, so it is not certain what would run",
    );
    expect(got).toBeUndefined();
  });
});
