import { describe, expect, test, vi } from "vitest";
import { never, registryOf, sleep, throwing, thrownBy, tool } from "../../fixtures/tools.ts";
import { ToolError } from "../errors.ts";
import type { ExecutableTool, ToolOutcome } from "../interface.ts";
import { toolOutput } from "./outcome.ts";
import { ToolRegistry } from "./registry.ts";

/** The same tool with another function schema. */
const withSchema = (change: object): ExecutableTool => ({
  ...tool("a"),
  getSchema: () => ({
    type: "function",
    function: { name: "a", description: "d", parameters: { type: "object" }, ...change },
  }),
});

describe("register", () => {
  test("adds a tool, enabled, in order; a taken name throws and suggests a free one", () => {
    const registry = registryOf([tool("b"), tool("a")]);
    expect(registry.getToolNames()).toEqual(["b", "a"]);
    expect(registry.isToolEnabled("b")).toBe(true);
    const error = thrownBy(() => registry.register(tool("a"))) as ToolError;
    expect(error.message).toMatch(/^Tool already exists: a\b/);
    expect(error.message).toContain("a_2");
    expect(error.code).toBe("already_exists");
  });

  test.each([
    ["an empty name", tool("")],
    ["a blank name", tool("  ")],
    ["an illegal name", tool("a b")],
    ["a long name", tool("x".repeat(65))],
    ["an empty description", withSchema({ description: " " })],
    ["another name in the schema", withSchema({ name: "b" })],
    ["parameters that are not an object schema", withSchema({ parameters: { type: "string" } })],
    ["no schema", { ...tool("a"), getSchema: () => undefined }],
    ["a schema that throws", { ...tool("a"), getSchema: throwing(new Error("x")) }],
    ["no getSchema", { ...tool("a"), getSchema: undefined }],
    ["no execute", { ...tool("a"), execute: undefined }],
    ["nothing", undefined],
  ])("refuses %s with a typed error", (_, bad) => {
    const registry = new ToolRegistry();
    const error = thrownBy(() => registry.register(bad as never)) as ToolError;
    expect(error).toBeInstanceOf(ToolError);
    expect(error.code).toBe("invalid_tool");
    expect(error.message).toMatch(/^Invalid tool /);
    expect(registry.getToolNames()).toEqual([]);
    if (String((bad as ExecutableTool | undefined)?.name).trim() === "") expect(error.toolName).toBe("<unnamed>");
  });

  test("tells an object without getSchema what it lacks", () => {
    for (const other of [
      { ...tool("a"), getSchema: undefined },
      { name: "a", execute: () => "", description: "A.", parameters: {} },
    ])
      expect(() => new ToolRegistry([other as never])).toThrow('Invalid tool "a": getSchema must be a function');
  });

  test("reads the schema once, freezes it and fills in strict", () => {
    const getSchema = vi.fn(tool("a").getSchema);
    const registry = registryOf({ ...tool("a"), getSchema });
    registry.getEnabledSchemas();
    registry.listTools();
    expect(getSchema).toHaveBeenCalledTimes(1);
    const [schema] = registry.getEnabledSchemas();
    expect(schema?.function.strict).toBe(false);
    expect(Object.isFrozen(schema?.function.parameters)).toBe(true);
  });

  test("a tool may be an instance of a class, and is called as a method", async () => {
    class Counter implements ExecutableTool {
      readonly name = "count";
      #count = 0;
      getSchema = tool("count").getSchema;
      async execute(): Promise<string> {
        this.#count += 1;
        return String(this.#count);
      }
    }
    const counter = new Counter();
    const registry = registryOf(counter);
    expect(registry.get("count")).toBe(counter);
    await registry.execute("count", {});
    expect(await registry.execute("count", {})).toBe("2");
  });
});

describe("toggles and introspection", () => {
  test("enable and disable move a tool in and out of the schemas, and say whether it is registered", () => {
    const registry = registryOf([tool("a"), tool("b")]);
    const both = registry.getEnabledSchemas();
    expect(registry.getEnabledSchemas()).toBe(both);
    expect(registry.disable("a")).toBe(true);
    expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).toEqual(["b"]);
    expect(registry.isToolEnabled("a")).toBe(false);
    expect(registry.hasTool("a")).toBe(true);
    expect(registry.enable("a")).toBe(true);
    expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).toEqual(["a", "b"]);
    expect(registry.enable("none")).toBe(false);
    expect(registry.disable("none")).toBe(false);
    registry.unregister("none");
    registry.unregister("a");
    expect(registry.getToolNames()).toEqual(["b"]);
    expect(registry.get("a")).toBe(undefined);
    expect(registry.isToolEnabled("a")).toBe(false);
  });

  test("an empty registry answers with empty lists", () => {
    const registry = new ToolRegistry();
    expect([registry.getToolNames(), registry.listTools(), registry.getEnabledSchemas()]).toEqual([[], [], []]);
  });

  test("listTools gives name, description, parameters and enabled for each, and traits that the tool has", () => {
    const registry = registryOf(tool("a", undefined, { readOnly: true, openWorld: undefined }));
    registry.disable("a");
    const parameters = { type: "object" };
    expect(registry.listTools()).toStrictEqual([
      { name: "a", description: "Does a.", parameters, enabled: false, readOnly: true, origin: "own" },
    ]);
  });

  test("listTools gives the origin of a tool, and its hints apart from its traits", () => {
    const registry = registryOf(tool("a"));
    registry.register({ ...tool("b"), origin: "mcp:s", hints: { readOnly: true } });
    const [own, claimed] = registry.listTools();
    expect([own?.origin, claimed?.origin]).toEqual(["own", "mcp:s"]);
    expect(claimed?.hints).toEqual({ readOnly: true });
    expect(claimed?.readOnly).toBeUndefined();
  });

  test("a clone has the same tools, toggles and middleware and is independent", async () => {
    const registry = registryOf([tool("a"), tool("b")]);
    registry.disable("b");
    registry.use(async (_, next) => ((await next()).ok ? "wrapped" : "failed"));
    const copy = registry.clone();
    expect(copy.getToolNames()).toEqual(["a", "b"]);
    expect(copy.isToolEnabled("b")).toBe(false);
    expect(await copy.execute("a")).toBe("wrapped");
    copy.enable("b");
    copy.unregister("a");
    copy.use(async () => "twice");
    expect(registry.isToolEnabled("b")).toBe(false);
    expect(await registry.execute("a")).toBe("wrapped");
  });
});

describe("execute answers exactly", () => {
  test("the tool's string", async () => {
    expect(await registryOf(tool("a", () => "text")).execute("a", {})).toBe("text");
  });

  test.each([
    [{ x: 1 }, '{"x":1}'],
    [[1, null], "[1,null]"],
    [42, "42"],
    [null, "null"],
    [undefined, "(no output)"],
    ["", ""],
    [10n, "10"],
    [Symbol("s"), "Symbol(s)"],
    [() => 1, "[a function]"],
    [{ toJSON: throwing(new Error("x")) }, "[an object that cannot be written as JSON]"],
  ])("a value, %s, as it is, as JSON text or a short description", async (value, expected) => {
    expect(await registryOf(tool("a", () => value)).execute("a")).toBe(expected);
  });

  test.each([
    [new Error("broke"), "broke"],
    [new TypeError(""), "TypeError"],
    ["a string", "a string"],
    [null, "null"],
    [undefined, "undefined"],
    [{ code: 7 }, '{"code":7}'],
  ])("Error executing NAME: MESSAGE for a throw of %s", async (thrown, message) => {
    expect(await registryOf(tool("a", throwing(thrown))).execute("a")).toBe(`Error executing a: ${message}`);
  });

  test("an error for a hostile proxy, a revoked one too, and for a synchronous throw", async () => {
    const fail = throwing(new Error("trap"));
    const hostile = new Proxy({}, { get: fail, getPrototypeOf: fail, has: fail });
    const { proxy, revoke } = Proxy.revocable(() => undefined, {});
    revoke();
    for (const value of [hostile, proxy]) {
      expect(await registryOf({ ...tool("a"), execute: throwing(value) }).execute("a")).toMatch(/^Error executing a: /);
      const answer = await registryOf({ ...tool("b"), execute: () => value as never }).execute("b");
      expect(typeof answer).toBe("string");
    }
  });

  test("a message unchanged up to 8,192 characters, then cut with a notice", async () => {
    const fail = (length: number) => registryOf(tool("a", throwing(new Error("m".repeat(length))))).execute("a");
    expect(await fail(8192)).toBe(`Error executing a: ${"m".repeat(8192)}`);
    const long = await fail(100_000);
    expect(long).toContain(`${"m".repeat(8192)}\n`);
    expect(long).toContain("[truncated: shown 8192 of 100000 characters]");
  });

  test("Tool not found with the nearest enabled name, or without", async () => {
    const registry = registryOf([tool("read_file"), tool("read_files")]);
    registry.disable("read_files");
    expect(await registry.execute("raed_file")).toBe("Tool not found: raed_file. Did you mean read_file?");
    expect(await registry.execute("read_filez")).toBe("Tool not found: read_filez. Did you mean read_file?");
    expect(await registry.execute("other")).toBe("Tool not found: other");
    expect(await registry.execute("__proto__")).toBe("Tool not found: __proto__");
    expect(await registry.execute("x\n".repeat(10_000))).toMatch(/^Tool not found: "x\\nx/);
  });

  test("Tool not available for a disabled tool", async () => {
    const registry = registryOf(tool("a"));
    registry.disable("a");
    expect(await registry.execute("a", {})).toBe("Tool not available: a");
  });

  test("Invalid arguments before the tool runs", async () => {
    const run = vi.fn(() => "ran");
    const registry = registryOf(tool("a", run, {}, { properties: { n: { type: "number" } } }));
    expect(await registry.execute("a", { n: "x" })).toBe(
      'Error executing a: Invalid arguments: n: expected number, got string "x"',
    );
    expect(run).not.toHaveBeenCalled();
  });

  test("never changes the arguments it is given, even where the tool does", async () => {
    const args = { list: ["1"], deep: { x: { y: 1 } } };
    const vandal = tool("a", (mine) => {
      (mine.list as unknown[]).push(9);
      (mine.deep as { x: unknown }).x = 0;
      return "done";
    });
    await registryOf(vandal).execute("a", Object.freeze(args));
    expect(args).toEqual({ list: ["1"], deep: { x: { y: 1 } } });
  });
});

describe("time limits and aborts", () => {
  const hang = tool("hang", never);

  test("Timed out after N ms, and the tool's signal fires then", async () => {
    let signal: AbortSignal | undefined;
    const watching = tool("a", (_, call) => {
      signal = call?.signal;
      return never();
    });
    expect(await registryOf(watching).execute("a", {}, { timeoutMs: 20 })).toBe(
      "Error executing a: Timed out after 20 ms",
    );
    expect(signal?.aborted).toBe(true);
  });

  test("the caller's limit wins over the tool's, the tool's over the default", async () => {
    const own = { timeoutMs: (args: Record<string, unknown>) => Number(args.ms) };
    const registry = registryOf(tool("a", never, own, { properties: { ms: { type: "number" } } }));
    expect(await registry.execute("a", { ms: "15" })).toBe("Error executing a: Timed out after 15 ms");
    expect(await registry.execute("a", { ms: 60_000 }, { timeoutMs: 10 })).toMatch(/: Timed out after 10 ms$/);
    expect(await registryOf(tool("b", never, { timeoutMs: 5 })).execute("b")).toMatch(/: Timed out after 5 ms$/);
  });

  test("a limit beyond 2^31 - 1 ms, or none, does not fire at once; a senseless one is an error", async () => {
    const slow = registryOf(tool("a", () => sleep(5).then(() => "done")));
    for (const timeoutMs of [2 ** 31, 1e300, Number.POSITIVE_INFINITY])
      expect(await slow.execute("a", {}, { timeoutMs })).toBe("done");
    for (const timeoutMs of [0, -1, Number.NaN])
      expect(await slow.execute("a", {}, { timeoutMs })).toMatch(/^Error executing a: timeoutMs must be/);
  });

  test("an abort ends the call, also of a tool that ignores the signal; an earlier one prevents the start", async () => {
    const controller = new AbortController();
    const running = registryOf(hang).invoke("hang", {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    expect(await running).toMatchObject({ ok: false, error: { code: "aborted", toolName: "hang" } });
    const run = vi.fn(() => "ran");
    const pass = vi.fn((_: unknown, next: () => Promise<ToolOutcome>) => next());
    for (const middlewares of [[], [pass]])
      expect(await registryOf(tool("a", run), ...middlewares).execute("a", {}, { signal: AbortSignal.abort() })).toBe(
        "Error executing a: Aborted",
      );
    expect(run).not.toHaveBeenCalled();
    expect(pass).not.toHaveBeenCalled();
  });

  test("a late result and a late rejection are dropped", async () => {
    const rejections: unknown[] = [];
    const listener = (reason: unknown): void => void rejections.push(reason);
    process.on("unhandledRejection", listener);
    const late = tool("late", () => sleep(30).then(throwing(new Error("late"))));
    expect(await registryOf(late).execute("late", {}, { timeoutMs: 5 })).toContain("Timed out");
    await sleep(60);
    process.off("unhandledRejection", listener);
    expect(rejections).toEqual([]);
  });

  test("a change that has begun when the limit fires may have completed; after the end no change begins", async () => {
    let afterwards = "";
    const committing = tool("a", async (_, call) => {
      call?.beginCommit?.();
      await sleep(50);
      return "x";
    });
    expect(await registryOf(committing).execute("a", {}, { timeoutMs: 10 })).toContain("may have completed");
    const late = tool("b", async (_, call) => {
      await sleep(40);
      try {
        call?.beginCommit?.();
        afterwards = "committed";
      } catch {
        afterwards = "refused";
      }
      return "x";
    });
    await registryOf(late).execute("b", {}, { timeoutMs: 10 });
    await sleep(60);
    expect(afterwards).toBe("refused");
  });

  test("no timer is left behind that would keep the process alive", async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    await registryOf(tool("a")).execute("a", {}, { timeoutMs: 600_000 });
    expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBeLessThanOrEqual(before);
  });
});

describe("outcomes", () => {
  test("invoke gives the output or the typed error", async () => {
    const registry = registryOf([tool("a"), tool("b", throwing(new Error("no")))]);
    expect(await registry.invoke("a")).toEqual({ ok: true, output: "ok" });
    const error = { code: "execution_failed", toolName: "b", message: "no", recoverable: true };
    expect(await registry.invoke("b")).toMatchObject({ ok: false, error });
  });

  test("onOutcome is called once, before execute resolves, with what invoke returns", async () => {
    const seen: ToolOutcome[] = [];
    let resolved = false;
    const onOutcome = (outcome: ToolOutcome): void => {
      expect(resolved).toBe(false);
      seen.push(outcome);
    };
    const registry = registryOf(tool("a"));
    await registry.execute("a", {}, { onOutcome }).then(() => {
      resolved = true;
    });
    resolved = false;
    await registry.execute("none", {}, { onOutcome });
    expect(seen).toMatchObject([
      { ok: true, output: "ok" },
      { ok: false, error: { code: "not_found" } },
    ]);
    expect(await registry.execute("a", {}, { onOutcome: throwing(new Error("listener")) })).toBe("ok");
  });

  test("rich content travels beside the string", async () => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const outcome = await registryOf(tool("a", () => toolOutput("a picture", { content: [image] }))).invoke("a");
    expect(outcome).toEqual({ ok: true, output: "a picture", content: [image] });
  });

  test("a ToolError thrown by a tool keeps its code and details, and gets the tool's name", async () => {
    const details = { roots: ["/r"] };
    const denied = tool("a", throwing(new ToolError({ code: "permission_denied", message: "no way", details })));
    const error = { code: "permission_denied", toolName: "a", details };
    expect(await registryOf(denied).invoke("a")).toMatchObject({ ok: false, error });
    expect(await registryOf(denied).execute("a")).toBe("Error executing a: no way");
  });

  test("the call's id, labels and progress reach the tool", async () => {
    const onProgress = vi.fn();
    const seen: unknown[] = [];
    const reporting = tool("a", (_, call) => {
      seen.push(call?.callId, call?.labels);
      call?.onProgress?.({ progress: 1, total: 2 });
      return "x";
    });
    await registryOf(reporting).execute("a", {}, { callId: "c1", labels: { chat: 7 }, onProgress });
    expect(seen).toEqual(["c1", { chat: 7 }]);
    expect(onProgress).toHaveBeenCalledWith({ progress: 1, total: 2 });
  });
});

describe("calls in flight", () => {
  test("200 at once are independent, and changes to the registry do not disturb them", async () => {
    const registry = registryOf(
      tool("a", async ({ n }) => {
        await sleep(Number(n) % 7);
        return String(n);
      }),
    );
    const running = Array.from({ length: 200 }, (_, n) => registry.execute("a", { n }));
    registry.disable("a");
    registry.unregister("a");
    registry.register(tool("a", () => "new"));
    expect(await Promise.all(running)).toEqual(Array.from({ length: 200 }, (_, n) => String(n)));
    expect(await registry.execute("a")).toBe("new");
  });
});
