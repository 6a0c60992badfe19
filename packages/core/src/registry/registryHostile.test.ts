import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { never, type Run, registryOf, tool as toolNamed, turn } from "../../fixtures/tools.ts";
import { isToolError, ToolError } from "../errors.ts";
import type { ExecutableTool, Middleware, ToolCallInfo, ToolOutcome } from "../interface.ts";

const tool = (run?: Run, extra?: object): ExecutableTool => toolNamed("a", run, extra);

/** The property answers `reads` times, then throws. */
function failingGetter<T extends object>(target: T, property: keyof T, reads = 0): T {
  const value = target[property];
  let left = reads;
  return Object.defineProperty(target, property, {
    get() {
      if (left === 0) throw new Error("cannot be read");
      left -= 1;
      return value;
    },
  });
}

test("a tool that changes its name keeps the registered one in errors", async () => {
  const own = { ...tool(() => Promise.reject(new Error("boom"))), name: "a" };
  const registry = registryOf(own);
  own.name = "other";
  expect(await registry.invoke("a")).toMatchObject({ ok: false, error: { toolName: "a" } });
});

describe("errors that are hard to read", () => {
  test.each(["code", "details", "recoverable", "cause", "message"] as const)(
    "a ToolError whose %s cannot be read is an error of the call",
    async (property) => {
      const error = failingGetter(new ToolError({ code: "timeout", message: "slow" }), property);
      const registry = registryOf(tool(() => Promise.reject(error)));
      expect(await registry.execute("a")).toMatch(/^Error executing a: ./);
      registry.use(async () => ({ ok: false, error }));
      expect(await registry.execute("a")).toMatch(/^Error executing a: ./);
    },
  );

  test("an Error of another realm keeps its message", async () => {
    const foreign: unknown = runInNewContext("new TypeError('boom')");
    expect(foreign).not.toBeInstanceOf(Error);
    expect(await registryOf(tool(() => Promise.reject(foreign))).execute("a")).toBe("Error executing a: boom");
  });

  test("a ToolError of another realm is recognised by its marker", () => {
    const marked: unknown = runInNewContext(
      "Object.assign(new Error('m'), { code: 'timeout', [Symbol.for('toolcrib.ToolError')]: true })",
    );
    expect(isToolError(marked)).toBe(true);
    expect(isToolError({ [Symbol.for("toolcrib.ToolError")]: true })).toBe(false);
  });

  test.each([[5], [failingGetter({ toString: () => "" }, "toString")], [Object.create(null)], [Symbol("s")]])(
    "a name that is not a string is answered in words, behind a middleware that fails too",
    async (name) => {
      const registry = registryOf(tool());
      const { signal } = new AbortController();
      expect(await registry.execute(name as never, {}, { signal })).toMatch(/^Tool not found: ./);
      registry.use(() => Promise.reject(new Error("boom")));
      expect(await registry.execute(name as never, {}, { signal })).toMatch(/^Error executing .*: boom$/);
    },
  );
});

describe("what a middleware returns becomes an outcome of the promised types", () => {
  test.each<[unknown, string]>([
    [undefined, "Error executing a: a middleware returned nothing; return the result of next(), or a string"],
    [null, "null"],
    [{ ok: true }, '{"ok":true}'],
    [{ ok: true, output: 5 }, "5"],
    [{ ok: false }, '{"ok":false}'],
    [{ ok: false, error: null }, "Error executing a: null"],
    [{ ok: false, error: new Error("plain") }, "Error executing a: plain"],
  ])("%j", async (returned, answer) => {
    const registry = registryOf(tool(), async () => returned as ToolOutcome);
    expect(await registry.execute("a")).toBe(answer);
    const outcome = await registry.invoke("a");
    expect(outcome.ok ? typeof outcome.output === "string" : isToolError(outcome.error)).toBe(true);
  });
});

describe("listeners that fail asynchronously", () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => process.on("unhandledRejection", note));
  afterEach(() => process.off("unhandledRejection", note));

  test("disturb neither the call nor the process", async () => {
    const fail = async (): Promise<void> => {
      throw new Error("listener");
    };
    const registry = registryOf(tool((_, call) => call?.onProgress?.({ progress: 1 }) ?? "ok"));
    registry.onChange(fail as () => void);
    registry.disable("a");
    registry.enable("a");
    expect(await registry.execute("a", {}, { onOutcome: fail as () => void, onProgress: fail as () => void })).toBe(
      "ok",
    );
    await turn();
    expect(unhandled).toEqual([]);
  });
});

describe("while a tool's own check of the arguments runs", () => {
  const checking = (check: () => Promise<unknown>, run: Run = () => "ok"): ExecutableTool =>
    tool(run, { parseArguments: async (value: unknown) => ({ value: (await check()) ?? value }) });

  test.each([[0], [1]])("an abort ends the call, behind %i middlewares", async (count) => {
    let asked = 0;
    const ask: Middleware = (_, next) => {
      asked += 1;
      return next();
    };
    const registry = registryOf(checking(never), ...Array.from({ length: count }, () => ask));
    expect(await registry.execute("a", {}, { signal: AbortSignal.timeout(5) })).toBe("Error executing a: Aborted");
    expect(asked).toBe(0);
  });

  test("an abort keeps the tool and the middlewares from running afterwards", async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const seen: string[] = [];
    const registry = registryOf(
      checking(
        () => held,
        () => void seen.push("tool"),
      ),
      (_, next) => {
        seen.push("middleware");
        return next();
      },
    );
    const controller = new AbortController();
    const running = registry.execute("a", {}, { signal: controller.signal });
    controller.abort();
    expect(await running).toBe("Error executing a: Aborted");
    letGo();
    await turn();
    expect(seen).toEqual([]);
  });

  test("a tool that is disabled or removed does not start", async () => {
    for (const [change, answer] of [
      ["disable", "Tool not available: a"],
      ["unregister", "Tool not found: a"],
    ] as const) {
      const registry = registryOf(checking(turn));
      const running = registry.execute("a");
      registry[change]("a");
      expect(await running).toBe(answer);
    }
  });

  test("a tool that is disabled during the second check, of changed arguments, does not start", async () => {
    const registry = registryOf(checking(turn), (call, next) => {
      const checkedAgain = next({ ...call, args: { other: 1 } });
      registry.disable("a");
      return checkedAgain;
    });
    expect(await registry.execute("a")).toBe("Tool not available: a");
  });

  test("the tool gets its value, even null", async () => {
    const registry = registryOf(tool((args) => String(args), { parseArguments: () => ({ value: null }) }));
    expect(await registry.execute("a")).toBe("null");
  });
});

test("a spread copy of the call has its signal, id, labels and progress", async () => {
  let copy: ToolCallInfo = {};
  const registry = registryOf(
    tool((_, call) => {
      copy = { ...call };
      return never();
    }),
  );
  await registry.execute("a", {}, { timeoutMs: 5, callId: "1", labels: { chat: 2 } });
  expect(copy).toMatchObject({ callId: "1", labels: { chat: 2 }, onProgress: expect.any(Function) });
  expect(copy.signal?.aborted).toBe(true);
});

test("JSON text of a typed error has its message", () => {
  const error = new ToolError({ code: "not_found", message: "Tool not found: x", toolName: "x" });
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: "not_found", message: "Tool not found: x" });
});

test("a misspelt option of a call ends it; a tool may pass on its own call", async () => {
  const registry = registryOf(tool());
  expect(await registry.execute("a", {}, { timeoutMS: 5 } as never)).toBe(
    'Error executing a: execute: unknown option "timeoutMS"; did you mean "timeoutMs"?',
  );
  const outer = registryOf(tool((args, call) => registry.execute("a", args, call)));
  expect(await outer.execute("a", {})).toBe("ok");
});
