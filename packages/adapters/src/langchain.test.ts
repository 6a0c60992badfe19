import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { ToolRegistry } from "@toolcrib/core";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createScenario, pixel } from "../testing/scenario.ts";
import { fromLangChainTool, registryMiddleware, toLangChainTools } from "./langchain.ts";

describe("toLangChainTools", () => {
  test("throws the failure where a tool is invoked without a tool call, and marks it in the message of one", async () => {
    const [add, fail] = toLangChainTools(createScenario().registry);
    expect(await add?.invoke({ a: "1", b: 2 })).toBe("3");
    await expect(fail?.invoke({})).rejects.toThrow("Error executing fail: the disk is full");
    const message = await fail?.invoke({ type: "tool_call", id: "1", name: "fail", args: {} });
    expect(message).toMatchObject({ status: "error", content: "Error executing fail: the disk is full" });
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

test("registryMiddleware marks a failure in the message of its call", async () => {
  const model = fakeModel()
    .respondWithTools([{ name: "fail", args: {} }])
    .respond(new AIMessage("done"));
  const middleware = [registryMiddleware(createScenario().registry)];
  const { messages } = await createAgent({ model, middleware }).invoke({ messages: "go" });
  expect(messages.find((message) => ToolMessage.isInstance(message))).toMatchObject({ status: "error" });
});

describe("fromLangChainTool", () => {
  const registryOf = (...args: Parameters<typeof fromLangChainTool>): ToolRegistry => {
    const registry = new ToolRegistry();
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
