import { describe, expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import { ToolError } from "../errors.ts";
import type { ExecutableTool, ToolCallInfo } from "../interface.ts";
import { limitOutput } from "./middleware.ts";
import { toolOutput } from "./outcome.ts";
import { ToolRegistry } from "./registry.ts";
import { createToolSearch } from "./toolSearch.ts";

const parameters = { type: "object" } as const;
const say = defineTool({ name: "say", description: "Says.", parameters, execute: () => "x".repeat(100) });

function compositeOf(work: (call: ToolCallInfo) => Promise<string>): ExecutableTool {
  const tool = defineTool({ name: "outer", description: "Calls.", parameters, execute: (_, call) => work(call) });
  return { ...tool, composite: true };
}

const callSay = compositeOf(async ({ caller }) => (await caller?.registry.execute("say")) ?? "no registry");

describe("a composite tool", () => {
  test("gets the registry that runs it, with the guards and toggles of a clone", async () => {
    const registry = new ToolRegistry([say, callSay]);
    expect(await registry.execute("outer")).toHaveLength(100);
    const without = registry.clone();
    without.disable("say");
    expect(await without.execute("outer")).toBe("Tool not available: say");
    const guarded = registry.clone().guard(({ name }) => (name === "say" ? "not today" : true));
    expect(await guarded.execute("outer")).toBe("Error executing say: Permission denied: not today");
    expect(await registry.execute("outer")).toHaveLength(100);
  });

  test("gets what the caller gives for the calls within, and cannot be given another registry", async () => {
    const other = new ToolRegistry();
    let seen: ToolCallInfo["caller"];
    const registry = new ToolRegistry([
      compositeOf(async ({ caller }) => {
        seen = caller;
        return "";
      }),
    ]);
    const approve = (): boolean => true;
    await registry.execute("outer", {}, { caller: { approve, registry: other } as never });
    expect(seen?.approve).toBe(approve);
    expect(seen?.registry).toBe(registry);
  });
});

test("a question that a tool throws stays one for a composite tool alone, with the questions within", async () => {
  const question = { text: "Go on?" };
  const within = [{ callId: "outer:1", name: "say", args: {}, question }];
  const ask = (): never => {
    throw new ToolError({ code: "approval_required", message: "Go on?", details: { question, within } });
  };
  const composite = await new ToolRegistry([compositeOf(async () => ask())]).invoke("outer");
  expect(composite).toMatchObject({
    error: { code: "approval_required", toolName: "outer", details: { question, within } },
  });
  const plain = defineTool({ name: "plain", description: "Asks.", parameters, execute: ask });
  expect(await new ToolRegistry([plain]).invoke("plain")).toMatchObject({ error: { code: "execution_failed" } });
});

describe("a composite tool that is stopped", () => {
  const stopped = (execute: ExecutableTool["execute"]): ToolRegistry =>
    new ToolRegistry([
      {
        ...defineTool({ name: "outer", description: "Calls others.", parameters, execute: () => "" }),
        execute,
        composite: true,
      },
    ]);
  const told: ExecutableTool["execute"] = (_, call) =>
    new Promise((_, reject) => call?.signal?.addEventListener("abort", () => reject(new Error("made: 1"))));
  const ways: [string, (registry: ToolRegistry) => unknown][] = [
    ["alone", () => {}],
    ["behind a guard", (registry) => registry.guard(() => true)],
    ["behind a middleware", (registry) => registry.use((_, next) => next())],
    [
      "behind a middleware that never ends",
      (registry) => registry.use((_, next) => next().then(() => new Promise(() => {}))),
    ],
    [
      "behind a middleware that takes the signal off",
      (registry) => registry.use((call, next) => next({ ...call, signal: undefined })),
    ],
  ];

  test.each(ways.slice(0, 4))("by an abort tells what it has done: %s", async (_, change) => {
    const registry = stopped(told);
    change(registry);
    const controller = new AbortController();
    const running = registry.invoke("outer", {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    expect(await running).toMatchObject({ ok: false, error: { code: "aborted", message: "Aborted\n\nmade: 1" } });
  });

  test.each(ways.slice(0, 3))("by a time limit, too: %s", async (_, change) => {
    const registry = stopped(told);
    change(registry);
    const output = await registry.execute("outer", {}, { timeoutMs: 5 });
    expect(output).toBe("Error executing outer: Timed out after 5 ms\n\nmade: 1");
  });

  test.each(ways)("ends all the same if it says nothing: %s", { timeout: 10_000 }, async (_, change) => {
    const registry = stopped(() => new Promise(() => {}));
    change(registry);
    const running = registry.execute("outer", {}, { signal: AbortSignal.timeout(5) });
    expect(await running).toBe("Error executing outer: Aborted");
  });

  test("says only that, if it ends for that reason or never began", async () => {
    const passedOn = stopped(
      async (_, call) =>
        call?.signal?.throwIfAborted() ??
        new Promise((_, reject) => call?.signal?.addEventListener("abort", () => reject(call.signal?.reason))),
    );
    expect(await passedOn.execute("outer", {}, { signal: AbortSignal.timeout(5) })).toBe(
      "Error executing outer: Aborted",
    );
    expect(await stopped(told).execute("outer", {}, { signal: AbortSignal.abort() })).toBe(
      "Error executing outer: Aborted",
    );
  });
});

describe("a call within a program", () => {
  const large = { list: Array.from({ length: 30_000 }, (_, at) => `entry ${at}`) };
  const data = defineTool({
    ...{ name: "data", description: "Gives data.", parameters, outputSchema: { type: "object" } },
    execute: () => toolOutput("much", { data: large }),
  });

  test("keeps its whole output, which a limit cuts for a model", async () => {
    const registry = new ToolRegistry([say]).use(limitOutput(10));
    expect(await registry.execute("say", {}, { within: "outer" })).toHaveLength(100);
    expect(await registry.execute("say")).toContain("[truncated: shown 10 of 100 bytes");
  });

  test("has data of up to 1 MiB, where other calls have 256 KB", async () => {
    const registry = new ToolRegistry([data]);
    expect(await registry.invoke("data", {}, { within: "outer" })).toMatchObject({ ok: true, data: large });
    expect(await registry.invoke("data")).toEqual({ ok: true, output: "much" });
    large.list.push("x".repeat(2 ** 20));
    expect(await registry.invoke("data", {}, { within: "outer" })).toEqual({ ok: true, output: "much" });
  });

  test("is told to middleware", async () => {
    const seen: unknown[] = [];
    const registry = new ToolRegistry([say]).use((call, next) => {
      seen.push(call.within);
      return next();
    });
    await registry.execute("say", {}, { within: "outer" });
    await registry.execute("say");
    expect(seen).toEqual(["outer", undefined]);
  });
});

describe("the callers of a tool", () => {
  const forPrograms = { ...say, callers: ["programs"] } as const;

  test("are listed as it states them", () => {
    expect(new ToolRegistry([forPrograms]).listTools()[0]?.callers).toEqual(["programs"]);
    expect(new ToolRegistry([say]).listTools()[0]).not.toHaveProperty("callers");
  });

  test.each<[unknown]>([[[]], [["programms"]], ["programs"], [null], [["model", 1]]])(
    "are refused as %j",
    (callers) => {
      const tool = { ...say, callers } as unknown as ExecutableTool;
      expect(() => new ToolRegistry([tool])).toThrow(
        'Invalid tool "say": callers must be an array of "model" and "programs"',
      );
    },
  );

  test("keep a tool for programs alone from every other caller", async () => {
    const ran: string[] = [];
    const tool = { ...forPrograms, execute: async () => `ran ${ran.push("ran")}` };
    const message = "Tool not available: say: only programs can call it";
    for (const change of [
      () => {},
      (registry: ToolRegistry) => void registry.guard(() => true),
      (registry: ToolRegistry) => void registry.use((_, next) => next()),
      (registry: ToolRegistry) =>
        void registry.use((call, next) => next({ ...call, within: "mine", refusal: undefined })),
    ]) {
      const registry = new ToolRegistry([tool]);
      change(registry);
      expect(await registry.execute("say", {}, { callId: "a" })).toBe(message);
      expect(await registry.invoke("say")).toMatchObject({ ok: false, error: { code: "not_available", message } });
      expect(await registry.check("say")).toMatchObject({ ok: false, error: { code: "not_available" } });
      expect(ran).toEqual([]);
      expect(await registry.execute("say", {}, { within: "outer" })).toBe("ran 1");
      ran.length = 0;
    }
    expect(await new ToolRegistry([{ ...tool, callers: ["programs", "model"] }]).execute("say")).toBe("ran 1");
  });

  test("keep a tool for programs alone out of what a model finds", async () => {
    const registry = new ToolRegistry([
      { ...forPrograms, deferred: true },
      { ...defineTool({ name: "say_it", description: "Says it.", parameters, execute: () => "" }), deferred: true },
    ]);
    registry.register(createToolSearch(registry));
    expect(await registry.invoke("search_tools", { query: "says" })).toMatchObject({ data: { tools: ["say_it"] } });
  });
});
