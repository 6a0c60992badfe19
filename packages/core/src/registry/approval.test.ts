import { describe, expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { ExecutableTool, Middleware, ToolCall } from "../interface.ts";
import { approval } from "./approval.ts";
import { ToolRegistry } from "./registry.ts";

const ran: string[] = [];
const make = (answer: string, extra: object = {}): ExecutableTool => ({
  ...defineTool({
    name: "pay",
    description: "Pays.",
    parameters: { type: "object", properties: { to: { type: "string" }, list: { type: "array" } } },
    execute: (args) => {
      ran.push(JSON.stringify(args));
      return answer;
    },
  }),
  ...extra,
});

function registryOf(tool: ExecutableTool, ...middlewares: Middleware[]): ToolRegistry {
  const registry = new ToolRegistry();
  registry.register(tool);
  for (const middleware of middlewares) registry.use(middleware);
  return registry;
}

const replaced = "Error executing pay: Permission denied: the tool was replaced after this call was approved";
const changed = "Error executing pay: Permission denied: its arguments were changed after this call was approved";

describe("what was approved is what runs", () => {
  test("a tool replaced while its approval waits does not run", async () => {
    for (const parseArguments of [undefined, (value: unknown) => ({ value })]) {
      const registry = registryOf(make("old", parseArguments && { parseArguments }));
      registry.use(
        approval(() => {
          registry.unregister("pay");
          registry.register(make("new", parseArguments && { parseArguments }));
          return true;
        }),
      );
      ran.length = 0;
      expect(await registry.execute("pay", { to: "me" })).toContain(replaced);
      expect(ran).toEqual([]);
    }
  });

  test("a tool replaced while its own check of the arguments waits does not run", async () => {
    let checks = 0;
    const slow = make("old", {
      parseArguments: async (value: unknown) => {
        checks += 1;
        if (checks === 2) {
          registry.unregister("pay");
          registry.register(make("new"));
        }
        return { value };
      },
    });
    const copying: Middleware = (call, next) => next({ ...call, args: { ...call.args } });
    const registry = registryOf(
      slow,
      approval(() => true),
      copying,
    );
    expect(await registry.execute("pay", { to: "me" })).toContain(replaced);
  });

  const mends: [string, Middleware][] = [
    ["passes on other arguments", (call, next) => next({ ...call, args: { to: "thief" } })],
    ["makes the call anew", ({ name }, next) => next({ name, args: { to: "thief" } } as unknown as ToolCall)],
    ["adds an argument", (call, next) => next({ ...call, args: { ...call.args, list: [] } })],
    [
      "changes them in place",
      (call, next) => {
        call.args.to = "thief";
        return next();
      },
    ],
    [
      "changes them in place, far down",
      (call, next) => {
        (call.args.list as { to: string }[])[0] = { to: "thief" };
        return next();
      },
    ],
  ];
  test.each(mends)("a middleware behind it that %s voids the yes", async (_name, mend) => {
    ran.length = 0;
    const args = { to: "me", list: [{ to: "me" }] };
    expect(
      await registryOf(
        make("paid"),
        approval(() => true),
        mend,
      ).execute("pay", args),
    ).toContain(changed);
    const parsed = make("paid", { parseArguments: (value: unknown) => ({ value }) });
    expect(
      await registryOf(
        parsed,
        approval(() => true),
        mend,
      ).execute("pay", args),
    ).toContain(changed);
    expect(ran).toEqual([]);
  });

  test("arguments changed while the question waits void the yes", async () => {
    const registry = registryOf(
      make("paid"),
      approval(async (call) => {
        call.args.to = "thief";
        return true;
      }),
    );
    expect(await registry.execute("pay", { to: "me" })).toContain(changed);
  });

  test("a middleware before it may change the call, and an equal call is the same", async () => {
    const before: Middleware = (call, next) => next({ ...call, args: { to: "you" } });
    const equal: Middleware = (call, next) => next({ ...call, args: { ...call.args, list: undefined } });
    expect(
      await registryOf(
        make("paid"),
        before,
        approval(() => true),
        equal,
      ).execute("pay", { to: "me" }),
    ).toBe("paid");
  });

  test("each of two approvals must hold, and each attempt of a retry is asked about anew", async () => {
    const mend = mends[0]?.[1] as Middleware;
    const two = registryOf(
      make("paid"),
      approval(() => true),
      mend,
      approval(() => true),
    );
    expect(await two.execute("pay", { to: "me" })).toContain(changed);
    const asked: unknown[] = [];
    const retry: Middleware = async (call, next) => {
      await next();
      return next({ ...call, args: { to: "again" } });
    };
    const ask = approval(({ args }) => {
      asked.push(args.to);
      return true;
    });
    expect(await registryOf(make("paid"), retry, ask).execute("pay", { to: "me" })).toBe("paid");
    expect(asked).toEqual(["me", "again"]);
  });

  test("what a tool's own check made of the arguments runs, dates too", async () => {
    const parsed = make("paid", { parseArguments: () => ({ value: { to: new Date(0) } }) });
    expect(
      await registryOf(
        parsed,
        approval(() => true),
      ).execute("pay", { to: "me" }),
    ).toBe("paid");
  });
});
