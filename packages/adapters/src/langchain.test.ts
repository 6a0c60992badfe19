import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { ToolRegistry as Registry, type ToolRegistry } from "@toolcrib/core";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createScenario, pixel, shownAtFirst, shownWithoutAdd } from "../testing/scenario.ts";
import { fromLangChainTool, registryMiddleware, toLangChainTools } from "./langchain.ts";

type Call = [name: string, args: Record<string, unknown>];

/** LangChain's fake model, which makes the calls of one step after the other, then says `done`. */
function scripted(steps: ReadonlyArray<() => readonly Call[]>) {
  const model = fakeModel();
  const shown: string[][] = [];
  const bindTools = model.bindTools.bind(model);
  model.bindTools = (tools) => {
    shown.push(tools.map((each) => String(each.name)));
    return bindTools(tools);
  };
  for (const [step, calls] of [...steps, () => []].entries()) {
    model.respond(() => {
      const tool_calls = calls().map(([name, args], at) => ({ name, args, id: `${step}-${at}` }));
      return new AIMessage({ content: tool_calls.length ? "" : "done", tool_calls });
    });
  }
  return { model, shown };
}

const results = (messages: readonly BaseMessage[]): ToolMessage[] =>
  messages.filter((each) => ToolMessage.isInstance(each));
const worded = (messages: readonly BaseMessage[]): unknown[] =>
  results(messages).map(({ status, content }) => [status ?? "success", content]);

const conversation = (registry: ToolRegistry): Array<() => readonly Call[]> => [
  () => [
    ["add", { a: "2", b: 3 }],
    ["fail", {}],
  ],
  () => {
    registry.disable("add");
    return [["add", { a: 1, b: 1 }]];
  },
];
const expected = [
  ["success", "5"],
  ["error", "Error executing fail: the disk is full"],
  ["error", "Tool not available: add"],
];

describe("toLangChainTools", () => {
  test("runs a conversation: repaired arguments, a failure marked as one, a tool disabled in mid-run refused", async () => {
    const { registry } = createScenario();
    const { model, shown } = scripted(conversation(registry));
    const { messages } = await createAgent({ model, tools: toLangChainTools(registry) }).invoke({ messages: "go" });
    expect(worded(messages)).toEqual(expected);
    expect(messages.at(-1)?.text).toBe("done");
    expect(shown[0]).toEqual(shownAtFirst);
  });

  test("throws the failure where a tool is invoked without a tool call", async () => {
    const [add, fail] = toLangChainTools(createScenario().registry);
    expect(await add?.invoke({ a: "1", b: 2 })).toBe("3");
    await expect(fail?.invoke({})).rejects.toThrow("Error executing fail: the disk is full");
  });

  test("hands an image on as a block of the content", async () => {
    const { registry } = createScenario();
    const { model } = scripted([() => [["picture", {}]]]);
    const { messages } = await createAgent({ model, tools: toLangChainTools(registry) }).invoke({ messages: "go" });
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } };
    expect(worded(messages)).toEqual([["success", [{ type: "text", text: "a dot" }, image]]]);
  });

  test("ends a running tool when the caller aborts", async () => {
    const { registry, held, released } = createScenario();
    const abort = new AbortController();
    const { model } = scripted([() => [["hold", {}]]]);
    const agent = createAgent({ model, tools: toLangChainTools(registry) });
    const running = agent.invoke({ messages: "go" }, { signal: abort.signal });
    await held;
    abort.abort(new Error("enough"));
    await expect(running).rejects.toThrow();
    await released;
  });

  test("tells LangChain's callbacks of each call", async () => {
    const seen: string[] = [];
    const [add] = toLangChainTools(createScenario().registry);
    await add?.invoke(
      { a: 1, b: 2 },
      {
        callbacks: [
          {
            handleToolStart: (_tool, input) => void seen.push(input),
            handleToolEnd: (output) => void seen.push(String(output)),
          },
        ],
      },
    );
    expect(seen).toEqual(['{"a":1,"b":2}', "3"]);
  });
});

describe("registryMiddleware", () => {
  test("runs the same conversation and follows the registry", async () => {
    const { registry } = createScenario();
    const { model, shown } = scripted([
      ...conversation(registry),
      () => {
        registry.enable("spare");
        return [["picture", {}]];
      },
    ]);
    const { messages } = await createAgent({ model, middleware: [registryMiddleware(registry)] }).invoke({
      messages: "go",
    });
    expect(worded(messages).slice(0, 3)).toEqual(expected);
    expect(shown).toEqual([shownAtFirst, shownAtFirst, shownWithoutAdd, [...shownWithoutAdd, "spare"]]);
  });
});

describe("fromLangChainTool", () => {
  const registryOf = (...args: Parameters<typeof fromLangChainTool>): Registry => {
    const registry = new Registry();
    registry.register(fromLangChainTool(...args));
    return registry;
  };

  test("lists the tool with its origin", () => {
    const add = tool(() => "3", { name: "add", description: "Adds.", schema: z.object({}) });
    expect(registryOf(add).listTools()).toMatchObject([{ name: "add", origin: "langchain" }]);
  });

  test("runs a tool with a zod schema, after repair", async () => {
    const schema = z.object({ city: z.string(), days: z.number() });
    const weather = tool(({ city, days }) => `${city} ${days}`, { name: "weather", description: "Weather.", schema });
    const registry = registryOf(weather);
    expect(await registry.execute("weather", { city: "Oslo", days: "3" })).toBe("Oslo 3");
    expect(await registry.invoke("weather", {})).toMatchObject({ error: { code: "invalid_arguments" } });
  });

  test("keeps images and fails where the tool says so", async () => {
    const schema = { type: "object", properties: { fail: { type: "boolean" } } } as const;
    const draw = tool(
      ({ fail }: { fail?: boolean }, { toolCall }) =>
        fail
          ? new ToolMessage({ status: "error", content: "no paint", tool_call_id: toolCall?.id ?? "" })
          : [
              { type: "text", text: "a dot" },
              { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
            ],
      { name: "draw", description: "Draws.", schema },
    );
    const registry = registryOf(draw);
    expect(await registry.execute("draw", { fail: true })).toBe("Error executing draw: no paint");
    expect(await registry.invoke("draw")).toEqual({
      ok: true,
      output: "a dot",
      content: [
        { type: "text", text: "a dot" },
        { type: "image", data: pixel, mimeType: "image/png" },
      ],
    });
  });

  test("hands the registry's signal to the tool", async () => {
    const wait = tool(
      (_args, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
      { name: "wait", description: "Waits.", schema: z.object({}) },
    );
    expect(await registryOf(wait).execute("wait", {}, { timeoutMs: 10 })).toBe(
      "Error executing wait: Timed out after 10 ms",
    );
  });
});
