import { describe, expect, test } from "vitest";
import { sleep } from "../../fixtures/tools.ts";
import { defineTool } from "../defineTool.ts";
import type { Middleware, ToolCall } from "../interface.ts";
import { limitOutput } from "./middleware.ts";
import { ToolRegistry } from "./registry.ts";

const echo = defineTool({
  name: "echo",
  description: "Echoes.",
  parameters: { type: "object", properties: { n: { type: "number" } }, additionalProperties: false },
  execute: ({ n }) => `n=${n}`,
});

function registryWith(...middlewares: Middleware[]): ToolRegistry {
  const registry = new ToolRegistry();
  registry.register(echo);
  for (const middleware of middlewares) registry.use(middleware);
  return registry;
}

describe("use", () => {
  test("wraps outermost first, and each sees repaired arguments", async () => {
    const order: string[] = [];
    const mark =
      (name: string): Middleware =>
      async (call, next) => {
        order.push(`${name} in ${JSON.stringify(call.args)}`);
        const outcome = await next();
        order.push(`${name} out`);
        return outcome;
      };
    expect(await registryWith(mark("a"), mark("b")).execute("echo", { n: "1" })).toBe("n=1");
    expect(order).toEqual(['a in {"n":1}', 'b in {"n":1}', "b out", "a out"]);
  });

  test("every call passes, also to an unknown or a disabled tool or with bad arguments", async () => {
    const seen: ToolCall[] = [];
    const registry = registryWith((call, next) => {
      seen.push(call);
      return next();
    });
    await registry.execute("none", { x: 1 });
    await registry.execute("echo", { n: "x" });
    registry.disable("echo");
    await registry.execute("echo", {});
    expect(seen.map((call) => [call.name, call.refusal?.code])).toEqual([
      ["none", "not_found"],
      ["echo", "invalid_arguments"],
      ["echo", "not_available"],
    ]);
  });

  test("may answer itself, change the call, or fail; changed arguments are checked again", async () => {
    expect(await registryWith(async () => "cached").execute("echo", {})).toBe("cached");
    expect(await registryWith((call, next) => next({ ...call, args: { n: 5 } })).execute("echo", {})).toBe("n=5");
    expect(await registryWith((call, next) => next({ ...call, args: { n: "x" } })).execute("echo", {})).toContain(
      "Invalid arguments: n",
    );
    expect(
      await registryWith(async () => {
        throw new Error("policy");
      }).execute("echo", {}),
    ).toBe("Error executing echo: policy");
  });

  test("may change the arguments in place; these are checked again too", async () => {
    let value: unknown = "5";
    const registry = registryWith((call, next) => {
      call.args.n = value;
      return next();
    });
    expect(await registry.execute("echo", {})).toBe("n=5");
    expect(await registry.execute("echo", { n: "x" })).toBe("n=5");
    value = "five";
    expect(await registry.execute("echo", { n: 1 })).toMatch(/^Error executing echo: Invalid arguments: n: /);
  });

  test("whether a tool is enabled is checked again just before it starts", async () => {
    const registry = registryWith(async (_, next) => {
      registry.disable("echo");
      return next();
    });
    expect(await registry.execute("echo", {})).toBe("Tool not available: echo");
  });

  test("the time limit does not run while a middleware waits", async () => {
    const slow: Middleware = async (_, next) => {
      await sleep(40);
      return next();
    };
    expect(await registryWith(slow).execute("echo", { n: 1 }, { timeoutMs: 20 })).toBe("n=1");
  });
});

describe("a refusal stays", () => {
  const cycle: Record<string, unknown> = {};
  cycle.a = cycle;
  const unreadable: [string, unknown][] = [
    ["cut JSON", '{"path":'],
    ["an array as text", "[1]"],
    ["an array", [1]],
    ["a number", 5],
    ["a number as text", "5"],
    ["two objects in a row", '{"n":1}{"n":2}'],
    ["text", "list"],
    ["text nested too deeply", `${'{"a":'.repeat(600)}1${"}".repeat(600)}`],
    ["a cycle", cycle],
  ];
  const open = { type: "object", properties: { path: { type: "string" } } } as const;
  const ran: unknown[] = [];
  const list = defineTool({
    name: "list",
    description: "Lists.",
    parameters: open,
    execute: (args) => `${ran.push(args)}`,
  });
  const alias = {
    ...list,
    name: "dir",
    getSchema: () => ({ ...list.getSchema(), function: { ...list.getSchema().function, name: "dir" } }),
  };
  const middlewares: [string, Middleware][] = [
    ["limits the output", limitOutput(1000)],
    ["passes on", (_, next) => next()],
    ["copies the call and its arguments", (call, next) => next({ ...call, args: structuredClone(call.args) })],
    ["builds a call without the refusal", ({ name, args }, next) => next({ name, args } as never)],
    ["builds a call of the name alone", ({ name }, next) => next({ name } as never)],
    ["asks twice", (_, next) => next().then(() => next())],
  ];
  const pass: Middleware = (_, next) => next();
  const registryOf = (...used: Middleware[]): ToolRegistry => {
    ran.length = 0;
    const registry = new ToolRegistry([list, alias]);
    for (const middleware of used) registry.use(middleware);
    return registry;
  };

  test.each(middlewares)(
    "behind a middleware that %s: nobody is asked, nothing runs, the words are the same",
    async (_, middleware) => {
      for (const [what, args] of unreadable) {
        const words = await registryOf().execute("list", args);
        expect(words, what).toMatch(/^Error executing list: Invalid arguments: /);
        const asked: unknown[] = [];
        const look: Middleware = (call, next) => {
          expect(call).toMatchObject({ args: {}, refusal: { code: "invalid_arguments" } });
          return next();
        };
        const registry = registryOf(look, middleware);
        registry.guard((call) => ({ ask: `${asked.push(call)}` }));
        expect(await registry.execute("list", args, { approve: () => true }), what).toBe(words);
        expect(await registry.check("list", args), what).toMatchObject({
          ok: false,
          error: { code: "invalid_arguments" },
        });
        expect([asked, ran], what).toEqual([[], []]);
      }
    },
  );

  test("a cut write hears that its JSON is cut, not that a field is missing", async () => {
    const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;
    const write = defineTool({ name: "write", description: "Writes.", parameters, execute: () => "written" });
    const registry = new ToolRegistry([write]).use(limitOutput(1000));
    expect(await registry.execute("write", '{"path":"a.txt","content":"on')).toContain(
      "got text that is not valid JSON",
    );
  });

  test("also where the call goes to another tool, or its tool is replaced, enabled or registered meanwhile", async () => {
    const other = { ...list, execute: async () => `${ran.push("other")}` };
    const changes: [string, (registry: ToolRegistry) => void, Middleware?][] = [
      ["renamed", () => {}, (call, next) => next({ ...call, name: "dir" })],
      [
        "replaced",
        (registry) => {
          registry.unregister("list");
          registry.register(other);
        },
      ],
      ["enabled", (registry) => void registry.enable("list")],
    ];
    for (const [what, change, rename = pass] of changes) {
      const registry = registryOf();
      if (what === "enabled") registry.disable("list");
      registry
        .use((_, next) => {
          change(registry);
          return next();
        })
        .use(rename);
      for (const [, args] of unreadable)
        expect(await registry.execute("list", args), what).toMatch(/Invalid arguments: /);
      expect(ran, what).toEqual([]);
    }
    const late = new ToolRegistry();
    late.use((_, next) => {
      if (!late.hasTool("list")) late.register(list);
      return next();
    });
    expect(await late.execute("list", '{"path":')).toContain("not valid JSON");
  });

  test("until one takes it off, or passes on other arguments, which are checked anew", async () => {
    const fixes: Middleware[] = [
      (call, next) => next({ ...call, args: { path: "a" }, refusal: undefined }),
      (call, next) => next({ ...call, args: { path: "a" } }),
      (call, next) => {
        call.args.path = "a";
        return next();
      },
    ];
    for (const fix of fixes) {
      await registryOf(fix).execute("list", '{"path":');
      expect(ran).toEqual([{ path: "a" }]);
    }
    await registryOf((call, next) => next({ ...call, refusal: undefined })).execute("list", '{"path":');
    expect(ran).toEqual([{}]);
    expect(
      await registryOf((call, next) => next({ ...call, args: { path: 1 }, refusal: undefined })).execute("list", "[1]"),
    ).toContain("path: expected string");
  });
});

describe("limitOutput", () => {
  const speaker = (text: string): ToolRegistry => {
    const registry = new ToolRegistry();
    registry.register(
      defineTool({ name: "say", description: "Says.", parameters: { type: "object" }, execute: () => text }),
    );
    return registry.use(limitOutput(20));
  };

  test("keeps whole lines of the head and says so", async () => {
    expect(await speaker("short").execute("say")).toBe("short");
    expect(await speaker("line one\nline two\nline three\n").execute("say")).toBe(
      "line one\nline two\n\n[truncated: shown 18 of 29 bytes]",
    );
  });

  test("never cuts a character in two", async () => {
    const answer = await speaker("é".repeat(30)).execute("say");
    expect(answer.startsWith("é".repeat(10))).toBe(true);
    expect(answer).not.toContain("\ufffd");
    expect(await speaker("x".repeat(19) + "😀".repeat(10)).execute("say")).toMatch(/^x{19}\n/);
  });

  test("refuses a limit that is not a positive number", () => {
    expect(() => limitOutput(0)).toThrow(/at least 1/);
  });
});

describe("beforeRun", () => {
  const before =
    (beforeRun: ToolCall["beforeRun"]): Middleware =>
    (call, next) =>
      next({ ...call, beforeRun });

  test("is called after the guards and the answer of the user, with what the tool gets, and the tool waits for it", async () => {
    const order: string[] = [];
    const registry = registryWith(
      before(async (args) => {
        order.push(`before ${JSON.stringify(args)}`);
        await sleep(5);
        order.push("ready");
      }),
    ).guard(() => ({ ask: "Echo?" }));
    registry.unregister("echo");
    registry.register({ ...echo, execute: async (args) => String(order.push(`run ${JSON.stringify(args)}`)) });
    const approve = (): boolean => order.push("asked") > 0;
    await registry.execute("echo", { n: "1" }, { approve });
    expect(order).toEqual(["asked", 'before {"n":1}', "ready", 'run {"n":1}']);
  });

  test("is not called for a call that is refused, denied or left waiting", async () => {
    let calls = 0;
    const registry = registryWith(
      before(() => {
        calls += 1;
      }),
    );
    await registry.execute("echo", { n: "x" });
    await registry.execute("none");
    await registry.guard(() => ({ ask: "Echo?" })).execute("echo");
    await registry.execute("echo", {}, { approve: () => false });
    expect(calls).toBe(0);
  });

  test("can change nothing of what was approved, and a throw ends the call", async () => {
    const changing = registryWith(
      before((args) => {
        (args as { n?: number }).n = 9;
      }),
    );
    expect(await changing.execute("echo", { n: 1 })).toContain("Error executing echo");
    const disabling = registryWith(before(() => void disabling.disable("echo")));
    expect(await disabling.execute("echo", { n: 1 })).toContain("not available");
    const replacing = registryWith(
      before(() => {
        replacing.unregister("echo");
        replacing.register({ ...echo, execute: async () => "another" });
      }),
    );
    expect(await replacing.invoke("echo", { n: 1 })).toMatchObject({ ok: false });
  });

  test("does not let a call start that was aborted meanwhile", async () => {
    const controller = new AbortController();
    const registry = registryWith(before(() => controller.abort()));
    let ran = false;
    registry.unregister("echo");
    registry.register({
      ...echo,
      async execute() {
        ran = true;
        return "ran";
      },
    });
    expect(await registry.execute("echo", {}, { signal: controller.signal })).toContain("Aborted");
    expect(ran).toBe(false);
  });
});
