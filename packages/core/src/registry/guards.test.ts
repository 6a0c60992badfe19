import { describe, expect, test, vi } from "vitest";
import { sleep, turn } from "../../fixtures/tools.ts";
import { defineTool } from "../defineTool.ts";
import type {
  ExecutableTool,
  ExecuteOptions,
  Guard,
  GuardDecision,
  GuardedCall,
  Middleware,
  ToolListing,
} from "../interface.ts";
import { ToolRegistry } from "./registry.ts";
import { toolFingerprint } from "./toolFingerprint.ts";

const ran: string[] = [];

/** A tool that writes down the arguments it ran with. */
function pay(answer = "paid", extra: object = {}): ExecutableTool {
  ran.length = 0;
  return {
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
  };
}

function guarded(...guards: Guard[]): ToolRegistry {
  const registry = new ToolRegistry([pay()]);
  for (const guard of guards) registry.guard(guard);
  return registry;
}

const never = new Promise<never>(() => undefined);
const asks = (ask: unknown): Guard => (() => ({ ask })) as unknown as Guard;
const approve = (answer: unknown): ExecuteOptions => ({ approve: () => answer as boolean });
const deniedPlainly = "Error executing pay: Permission denied: this call was not approved";

describe("a guard's answer", () => {
  test("true lets the call run, false and a reason deny it", async () => {
    expect(await guarded(() => true).execute("pay", { to: "me" })).toBe("paid");
    expect(ran).toEqual(['{"to":"me"}']);
    expect(await guarded(() => false).execute("pay", {})).toBe(deniedPlainly);
    expect(await guarded(() => "not on Sundays").execute("pay", {})).toBe(
      "Error executing pay: Permission denied: not on Sundays",
    );
    const outcome = await guarded(async () => "no").invoke("pay", {});
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "permission_denied", toolName: "pay", recoverable: false },
    });
    expect(ran).toEqual([]);
  });

  const throwing = {
    get ask(): string {
      throw new Error("no");
    },
  };
  const others: [string, unknown][] = [
    ["undefined", undefined],
    ["null", null],
    ["an empty reason", ""],
    ["1", 1],
    ["'true' in an object", { ok: true }],
    ["a Boolean object", Object(true)],
    ["an array", [true]],
    ["a function", () => true],
    ["a question without words", { ask: "" }],
    ["a question of another type", { ask: 1 }],
    ["a question without text", { ask: { data: 1 } }],
    ["a question that cannot be read", throwing],
    ["a denial without words", { deny: "" }],
    ["a denial of another type", { deny: true }],
    ["a question with data that cannot be read", { ask: { text: "?", data: throwing } }],
  ];
  test.each(others)("%s denies, from a guard and from approve", async (_name, answer) => {
    const decide = (() => answer) as unknown as Guard;
    expect(await guarded(decide).execute("pay", {})).toBe(deniedPlainly);
    expect(await guarded(asks("Pay?")).execute("pay", {}, { approve: decide as never })).toBe(deniedPlainly);
    expect(ran).toEqual([]);
  });

  test("a throw or a rejection denies, from a guard and from approve, without its words", async () => {
    const fail = (): never => {
      throw new Error("a secret");
    };
    for (const decide of [fail, async () => fail()]) {
      expect(await guarded(decide).execute("pay", {})).toBe(deniedPlainly);
      expect(await guarded(asks("Pay?")).execute("pay", {}, { approve: decide })).toBe(deniedPlainly);
    }
    expect(ran).toEqual([]);
  });

  test("anything but a function is refused at once", () => {
    expect(() => new ToolRegistry().guard(undefined as never)).toThrow("guard expects a function");
  });
});

describe("a question", () => {
  test("without approve ends the call with approval_required", async () => {
    expect(await guarded(asks("Pay?")).execute("pay", {})).toBe("Error executing pay: Approval required: Pay?");
    const outcome = await guarded(asks({ text: "Pay?", data: { sum: [1] } })).invoke("pay", {});
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: "approval_required",
        recoverable: false,
        details: { question: { text: "Pay?", data: { sum: [1] } } },
      },
    });
    expect(ran).toEqual([]);
  });

  test("tells which tool and arguments it is about: those that a middleware has made of the call", async () => {
    const registry = guarded(asks("Pay?")).use((call, next) => next({ ...call, args: { to: "you" } }));
    const outcome = await registry.invoke("pay", { to: "me" });
    const { error } = outcome as Extract<typeof outcome, { ok: false }>;
    const [listing] = registry.listTools();
    expect(error.details).toEqual({
      question: { text: "Pay?" },
      args: { to: "you" },
      tool: toolFingerprint(listing as ToolListing),
    });
  });

  test("names the tool as it was registered, whatever its getSchema answers later", async () => {
    const tool = pay();
    const registry = new ToolRegistry([tool]).guard(asks("Pay?"));
    const fingerprint = toolFingerprint(registry.listTools()[0] as ToolListing);
    const { function: definition } = tool.getSchema();
    Object.assign(tool, {
      getSchema: () => ({ type: "function", function: { ...definition, parameters: { type: "object" } } }),
    });
    expect(await registry.invoke("pay")).toMatchObject({ error: { details: { tool: fingerprint } } });
    expect(toolFingerprint(tool)).toBe(fingerprint);
  });

  test("is answered by approve: true runs, false and a reason deny", async () => {
    const registry = guarded(asks({ text: "Pay?", data: 5 }));
    const seen: unknown[] = [];
    const yes: ExecuteOptions["approve"] = async (call, question) => {
      seen.push([call.name, call.args, question]);
      return true;
    };
    expect(await registry.execute("pay", { to: "me" }, { approve: yes })).toBe("paid");
    expect(seen).toEqual([["pay", { to: "me" }, { text: "Pay?", data: 5 }]]);
    expect(await registry.execute("pay", {}, approve(false))).toBe(deniedPlainly);
    expect(await registry.execute("pay", {}, approve("too much"))).toBe(
      "Error executing pay: Permission denied: too much",
    );
    expect(ran).toHaveLength(1);
  });

  test("comes after every guard has spoken: the first denial ends it, then each question needs a yes", async () => {
    const order: string[] = [];
    const say =
      (name: string, decision: GuardDecision): Guard =>
      () => {
        order.push(name);
        return decision;
      };
    const asking = vi.fn(() => true);
    const denying = guarded(say("a", { ask: "A?" }), say("b", "no"), say("c", true));
    expect(await denying.execute("pay", {}, { approve: asking })).toBe("Error executing pay: Permission denied: no");
    expect(order).toEqual(["a", "b"]);
    expect(asking).not.toHaveBeenCalled();

    const two = guarded(asks("A?"), asks("B?"));
    const asked: string[] = [];
    const only = (text: string) => async (_: GuardedCall, question: { text: string }) => {
      asked.push(question.text);
      return question.text === text;
    };
    expect(await two.execute("pay", {}, { approve: only("A?") })).toBe(deniedPlainly);
    expect(await two.execute("pay", {}, { approve: only("B?") })).toBe(deniedPlainly);
    expect(asked).toEqual(["A?", "B?", "A?"]);
    expect(ran).toEqual([]);
    expect(await two.execute("pay", {}, approve(true))).toBe("paid");
  });
});

describe("what a guard sees", () => {
  test("is the call as it will run, repaired, with where the tool comes from and what it would do", async () => {
    const calls: GuardedCall[] = [];
    const effects = [{ kind: "write", path: "/x", tree: true }];
    const tool = pay("paid", { origin: "bank", effects: async () => effects });
    const registry = new ToolRegistry([tool]).guard((call) => calls.push(call) > 0);
    const { signal } = new AbortController();
    const labels = { chat: 1 };
    await registry.execute("pay", { to: "me", list: "[1]" }, { callId: "c1", labels, signal });
    expect(calls).toEqual([
      { name: "pay", args: { to: "me", list: [1] }, tool, origin: "bank", effects, callId: "c1", labels, signal },
    ]);
    expect(calls[0]?.tool).toBe(tool);
    expect(calls[0]?.labels).toBe(labels);
    for (const part of [calls[0], calls[0]?.args, calls[0]?.args.list, calls[0]?.effects, calls[0]?.effects?.[0]]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("comes after every middleware, for each attempt anew", async () => {
    const seen: unknown[] = [];
    const registry = guarded(({ args }) => seen.push(args.to) > 0);
    registry.use(async (call, next) => {
      await next();
      return next({ ...call, args: { to: "again" } });
    });
    registry.use((call, next) => next({ ...call, args: { to: `${call.args.to}!` } }));
    expect(await registry.execute("pay", { to: "me" })).toBe("paid");
    expect(seen).toEqual(["me!", "again!"]);
    expect(ran).toEqual(['{"to":"me!"}', '{"to":"again!"}']);
  });

  test("is never a call that cannot run anyway", async () => {
    const decide = vi.fn(() => true);
    const registry = guarded(decide);
    expect(await registry.execute("none")).toBe("Tool not found: none");
    expect(await registry.execute("pay", { to: 1, list: { a: 1 } })).toContain("Invalid arguments");
    expect(await registry.invoke("pay", {}, { timeoutMs: -1 })).toMatchObject({ ok: false });
    registry.disable("pay");
    expect(await registry.execute("pay", {})).toBe("Tool not available: pay");
    expect(decide).not.toHaveBeenCalled();
  });

  test("lets no call run unasked that a middleware corrects, renames or enables", async () => {
    const decide = vi.fn(() => false);
    for (const middleware of [
      (call, next) => next({ ...call, args: { to: "me" }, refusal: undefined }),
      (call, next) => next({ ...call, name: "pay", args: {}, refusal: undefined }),
      ({ name }, next) => next({ name, args: { to: "thief" } } as never),
    ] satisfies Middleware[]) {
      const registry = guarded(decide).use(middleware);
      await registry.execute("pay", { to: {} });
      await registry.execute("none", {});
    }
    expect(decide.mock.calls.length).toBeGreaterThan(3);
    expect(ran).toEqual([]);
  });

  test("is each guard's own: one that writes to what it got changes nothing for the next, nor for the tool", async () => {
    const spoil: Guard = (call) => {
      for (const write of [
        () => Object.assign(call, { args: { to: "thief" } }),
        () => Object.assign(call.args, { to: "thief" }),
        () => (call.args.list as unknown[]).push("thief"),
        () => Object.assign((call.args.list as object[])[0] as object, { to: "thief" }),
        () => Object.setPrototypeOf(call.args, { to: "thief" }),
      ]) {
        expect(write).toThrow(TypeError);
      }
      return true;
    };
    const next = vi.fn((_: GuardedCall) => true);
    const args = { to: "me", list: [{ to: "me" }] };
    expect(await guarded(spoil, next).execute("pay", args)).toBe("paid");
    expect(next.mock.calls[0]?.[0].args).toEqual(args);
    expect(ran).toEqual([JSON.stringify(args)]);
  });
});

describe("what was allowed is what runs", () => {
  const replacedMessage = "Error executing pay: Permission denied: the tool was replaced after this call was approved";
  const replace = (registry: ToolRegistry): void => {
    registry.unregister("pay");
    registry.register(pay("new"));
  };
  const afterwards = async (act: () => void): Promise<true> => {
    await turn();
    act();
    return true;
  };
  const stages: [string, (act: () => void) => [Guard, ExecuteOptions]][] = [
    ["a guard decides", (act) => [() => act() === undefined, {}]],
    ["a guard waits", (act) => [() => afterwards(act), {}]],
    ["approve waits", (act) => [asks("Pay?"), { approve: () => afterwards(act) }]],
  ];

  test.each(stages)("a tool replaced while %s does not run", async (_name, stage) => {
    for (const parseArguments of [undefined, (value: unknown) => ({ value })]) {
      const registry = new ToolRegistry([pay("old", parseArguments && { parseArguments })]);
      const [guard, options] = stage(() => replace(registry));
      expect(await registry.guard(guard).execute("pay", { to: "me" }, options)).toContain(replacedMessage);
      expect(ran).toEqual([]);
    }
  });

  test.each(stages)("a tool whose execute is replaced in place while %s does not run", async (_name, stage) => {
    const tool = pay();
    const [guard, options] = stage(() => void Object.assign(tool, { execute: () => ran.push("other") }));
    const registry = new ToolRegistry([tool]).guard(guard);
    expect(await registry.execute("pay", { to: "me" }, options)).toContain(replacedMessage);
    expect(ran).toEqual([]);
  });

  test.each(stages)("a tool disabled or removed while %s does not run", async (_name, stage) => {
    const registry = guarded();
    const [guard, options] = stage(() => void registry.disable("pay"));
    expect(await registry.guard(guard).execute("pay", {}, options)).toBe("Tool not available: pay");
    const other = guarded();
    const [otherGuard, otherOptions] = stage(() => other.unregister("pay"));
    expect(await other.guard(otherGuard).execute("pay", {}, otherOptions)).toBe("Tool not found: pay");
    expect(ran).toEqual([]);
  });

  test("the same tool removed and registered again counts as the same", async () => {
    const registry = guarded();
    const tool = registry.get("pay") as ExecutableTool;
    registry.guard(() => {
      registry.unregister("pay");
      registry.register(tool);
      return true;
    });
    expect(await registry.execute("pay", {})).toBe("paid");
  });

  test("a middleware that keeps the arguments cannot change them after the guard has seen them", async () => {
    for (const parseArguments of [undefined, (value: unknown) => ({ value })]) {
      const registry = new ToolRegistry([pay("paid", parseArguments && { parseArguments })]);
      let change = (): void => undefined;
      registry.use((call, next) => {
        change = () => {
          call.args.to = "thief";
          (call.args.list as { to: string }[])[0] = { to: "thief" };
        };
        return next();
      });
      const seen: string[] = [];
      registry.guard(async ({ args }) => {
        seen.push(JSON.stringify(args));
        change();
        await turn();
        return true;
      });
      const args = { to: "me", list: [{ to: "me" }] };
      expect(await registry.execute("pay", args)).toBe("paid");
      expect(seen).toEqual([JSON.stringify(args)]);
      expect(ran).toEqual(seen);
    }
  });

  test("a tool that changes what it got changes nothing for a second run behind the same middleware", async () => {
    const execute = async (args: Record<string, unknown>): Promise<string> => {
      ran.push(JSON.stringify(args));
      args.to = "thief";
      return "paid";
    };
    const seen: string[] = [];
    const registry = new ToolRegistry([pay("paid", { execute })]).use((_, next) => next().then(() => next()));
    registry.guard(({ args }) => seen.push(JSON.stringify(args)) > 0);
    await registry.execute("pay", { to: "me" });
    expect(seen).toEqual(['{"to":"me"}', '{"to":"me"}']);
    expect(ran).toEqual(seen);
  });

  test("arguments with a getter are read once", async () => {
    const parseArguments = (): unknown => {
      let reads = 0;
      return {
        value: {
          get to() {
            reads += 1;
            return reads === 1 ? "me" : "thief";
          },
        },
      };
    };
    const seen: unknown[] = [];
    const registry = new ToolRegistry([pay("paid", { parseArguments })]).guard(({ args }) => seen.push(args.to) > 0);
    await registry.execute("pay", {});
    expect(seen).toEqual(["me"]);
    expect(ran).toEqual(['{"to":"me"}']);
  });
});

describe("waiting", () => {
  test("the time limit runs only while the tool runs", async () => {
    const slow: Guard = () => sleep(40).then(() => ({ ask: "Pay?" }));
    const later = (): Promise<boolean> => sleep(40).then(() => true);
    expect(await guarded(slow).execute("pay", {}, { timeoutMs: 20, approve: later })).toBe("paid");
  });

  test.each<[string, Guard, ExecuteOptions, object]>([
    ["a guard", () => never, {}, {}],
    ["approve", asks("Pay?"), { approve: () => never }, {}],
    ["effects", () => true, {}, { effects: () => never }],
  ])(
    "the signal ends a wait for %s that never answers, with middleware and without",
    async (_, guard, options, extra) => {
      for (const middlewares of [[], [(_call, next) => next()] satisfies Middleware[]]) {
        const registry = new ToolRegistry([pay("paid", extra)]).guard(guard);
        for (const middleware of middlewares) registry.use(middleware);
        const controller = new AbortController();
        const { signal } = controller;
        const waiting = registry.invoke("pay", {}, { ...options, signal });
        const checking = registry.check("pay", {}, { signal });
        await turn();
        controller.abort();
        expect(await waiting).toMatchObject({ ok: false, error: { code: "aborted" } });
        const code = "approve" in options ? "approval_required" : "aborted";
        expect(await checking).toMatchObject({ ok: false, error: { code } });
        expect(ran).toEqual([]);
      }
    },
  );

  test("after an abort nobody is asked, and the tool does not run", async () => {
    const controller = new AbortController();
    const second = vi.fn(() => true);
    const asking = vi.fn(() => true);
    const ask: Guard = async () => {
      controller.abort();
      await turn();
      return { ask: "Pay?" };
    };
    const outcome = await guarded(ask, second).invoke("pay", {}, { signal: controller.signal, approve: asking });
    await turn();
    expect(outcome).toMatchObject({ ok: false, error: { code: "aborted" } });
    expect(second).not.toHaveBeenCalled();
    expect(asking).not.toHaveBeenCalled();
    expect(ran).toEqual([]);
  });

  test.each<[string, Middleware[]]>([
    ["", []],
    [", also behind a middleware that drops the signal", [(call, next) => next({ ...call, signal: undefined })]],
  ])("a yes that comes after the abort asks and runs nothing more%s", async (_, middlewares) => {
    const controller = new AbortController();
    const second = vi.fn(() => true);
    let say: (answer: boolean) => void = () => undefined;
    const registry = guarded(
      () =>
        new Promise<boolean>((resolve) => {
          say = resolve;
        }),
      second,
    );
    for (const middleware of middlewares) registry.use(middleware);
    const waiting = registry.invoke("pay", {}, { signal: controller.signal });
    await turn();
    controller.abort();
    say(true);
    expect(await waiting).toMatchObject({ ok: false, error: { code: "aborted" } });
    await turn();
    expect(second).not.toHaveBeenCalled();
    expect(ran).toEqual([]);
  });
});

describe("effects", () => {
  const seenEffects = async (extra: object): Promise<GuardedCall> => {
    let seen: GuardedCall | undefined;
    const registry = new ToolRegistry([pay("paid", extra)]).guard((call) => {
      seen = call;
      return true;
    });
    expect(await registry.execute("pay", { to: "me" })).toBe("paid");
    return seen as GuardedCall;
  };

  test("are undefined, without an error, only where the tool has none", async () => {
    const call = await seenEffects({});
    expect(call.effects).toBeUndefined();
    expect("effectsError" in call).toBe(false);
    expect((await seenEffects({ effects: () => [] })).effects).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ["nothing", () => undefined],
    ["null", () => null],
    ["a promise of nothing", async () => undefined],
    ["an object", () => ({ kind: "read" })],
    ["an unknown kind", () => [{ kind: "sing" }]],
    ["a path that is no text", () => [{ kind: "read", path: ["/"] }]],
    ["with a hole", () => new Array(1)],
    ["without a kind", () => [{ path: "/" }]],
    ["variables that are no text", () => [{ kind: "execute", command: "ls", env: { A: 1 } }]],
    ["a confinement that is no text", () => [{ kind: "execute", command: "ls", confinement: ["sandbox"] }]],
    ["an input that is no text", () => [{ kind: "execute", input: 1 }]],
    ["a tree that is no boolean", () => [{ kind: "read", path: "/", tree: "no" }]],
  ])("that are %s are an error, never trusted", async (_, effects) => {
    const call = await seenEffects({ effects });
    expect(call.effects).toBeUndefined();
    expect(call.effectsError).toBeInstanceOf(TypeError);
  });

  test("that throw reach the guard as effectsError", async () => {
    const error = new Error("outside");
    const fail = (thrown: unknown) => () => {
      throw thrown;
    };
    expect((await seenEffects({ effects: fail(error) })).effectsError).toBe(error);
    expect((await seenEffects({ effects: async () => fail(error)() })).effectsError).toBe(error);
    expect((await seenEffects({ effects: fail(undefined) })).effectsError).toBeInstanceOf(Error);
  });

  test("are asked as a method of the tool, with frozen arguments, and only where a guard is set", async () => {
    let asked = 0;
    const effects = function (this: { origin: string }, args: Record<string, unknown>): unknown {
      asked += 1;
      expect(Object.isFrozen(args)).toBe(true);
      return [{ kind: "network", host: `${this.origin}/${args.to}` }];
    };
    const call = await seenEffects({ origin: "bank", effects });
    expect(call.effects).toEqual([{ kind: "network", host: "bank/me" }]);
    expect(asked).toBe(1);
    await new ToolRegistry([pay("paid", { effects })]).execute("pay", {});
    expect(asked).toBe(1);
  });

  test("have only the known fields, and nothing else of the tool is frozen", async () => {
    const client = { socket: {} };
    const effect = { kind: "network", host: "a", env: { A: "1" }, confinement: "b", path: undefined, client, more: 1 };
    const call = await seenEffects({ effects: () => [effect] });
    expect(call.effects).toStrictEqual([{ kind: "network", host: "a", env: { A: "1" }, confinement: "b" }]);
    expect(Object.isFrozen(call.effects?.[0]?.env)).toBe(true);
    for (const own of [effect, effect.env, client, client.socket]) expect(Object.isFrozen(own)).toBe(false);
  });

  test("of a tool that keeps its list cannot change after a guard has seen them", async () => {
    const list = [{ kind: "read", path: "/a" }];
    const call = await seenEffects({ effects: () => list });
    Object.assign(list[0] as object, { path: "/b" });
    expect(call.effects).toEqual([{ kind: "read", path: "/a" }]);
  });

  test("that are not a function are refused at register and by defineTool", () => {
    expect(() => new ToolRegistry([pay("paid", { effects: [] })])).toThrow("effects must be a function");
    const definition = { name: "a", description: "a", parameters: {}, effects: [] as never, execute: () => "" };
    expect(() => defineTool(definition)).toThrow("effects must be a function");
  });
});

describe("where no guard is set", () => {
  test("the tool gets the arguments themselves, not frozen", async () => {
    let got: object = {};
    const args = { to: "me" };
    const parseArguments = (): unknown => ({ value: args });
    const execute = async (given: object): Promise<string> => {
      got = given;
      return "";
    };
    await new ToolRegistry([pay("paid", { parseArguments, execute })]).execute("pay", {});
    expect(got).toBe(args);
    expect(Object.isFrozen(got)).toBe(false);
  });
});

describe("clone", () => {
  test("has the same guards, and its later ones are its own", async () => {
    const registry = guarded(() => true);
    const copy = registry.clone();
    copy.guard(() => "not in the copy");
    expect(await copy.execute("pay", {})).toContain("Permission denied: not in the copy");
    expect(await registry.execute("pay", {})).toBe("paid");
    expect(await copy.clone().execute("pay", {})).toContain("not in the copy");
  });
});
