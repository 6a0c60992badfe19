import { expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { ExecutableTool } from "../interface.ts";
import { ToolRegistry } from "./registry.ts";

const tool = (name: string): ExecutableTool =>
  defineTool({ name, description: "Does nothing.", parameters: { type: "object" }, execute: () => "" });

test("onChange reports every change to the tools, and nothing else", () => {
  const registry = new ToolRegistry();
  const seen: string[][] = [];
  registry.onChange(() => seen.push(registry.getEnabledSchemas().map((schema) => schema.function.name)));
  registry.register(tool("a"));
  registry.register(tool("b"));
  registry.disable("a");
  registry.disable("a");
  registry.enable("a");
  registry.enable("a");
  registry.unregister("b");
  registry.unregister("b");
  registry.enable("unknown");
  expect(() => registry.register(tool("a"))).toThrow();
  expect(seen).toEqual([["a"], ["a", "b"], ["b"], ["a", "b"], ["a"]]);
});

test("onChange stops on request, for each listener by itself, and does not follow a clone", () => {
  const registry = new ToolRegistry();
  let count = 0;
  const listener = (): void => {
    count += 1;
  };
  const stop = registry.onChange(listener);
  registry.onChange(listener);
  registry.register(tool("a"));
  expect(count).toBe(2);
  stop();
  stop();
  registry.disable("a");
  expect(count).toBe(3);
  registry.clone().enable("a");
  expect(count).toBe(3);
});

test("a listener that stops leaves the others listening", () => {
  const registry = new ToolRegistry();
  const told: string[] = [];
  const stop = registry.onChange(() => told.push("first"));
  registry.onChange(() => told.push("second"));
  stop();
  registry.register(tool("a"));
  expect(told).toEqual(["second"]);
});

test("a listener that throws disturbs neither the change nor the other listeners", () => {
  const registry = new ToolRegistry();
  let told = false;
  registry.onChange(() => {
    throw new Error("broken");
  });
  registry.onChange(() => {
    told = true;
  });
  registry.register(tool("a"));
  expect(registry.hasTool("a")).toBe(true);
  expect(told).toBe(true);
});

test("register takes several tools, as the constructor does: one change, in their order", () => {
  const registry = new ToolRegistry([tool("a"), tool("b")]);
  expect(registry.getToolNames()).toEqual(["a", "b"]);
  let changes = 0;
  registry.onChange(() => {
    changes += 1;
  });
  registry.register(tool("c"), tool("d"));
  registry.register();
  expect(changes).toBe(1);
  expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).toEqual(["a", "b", "c", "d"]);
});

test("all are added, or none", () => {
  const registry = new ToolRegistry([tool("a")]);
  let changes = 0;
  registry.onChange(() => {
    changes += 1;
  });
  expect(() => registry.register(tool("b"), tool("a"))).toThrow("Tool already exists: a (a free name: a_2;");
  expect(() => registry.register(tool("b"), tool("b"))).toThrow("Tool already exists: b (a free name: b_2;");
  expect(() => registry.register(tool("b"), tool("not legal"))).toThrow("name must match");
  expect(() => registry.register(tool("a_2"), tool("a"))).toThrow("a free name: a_3;");
  expect(() => registry.register([tool("b")] as never)).toThrow("name must be a string");
  expect(registry.getToolNames()).toEqual(["a"]);
  expect(changes).toBe(0);
  expect(() => new ToolRegistry([tool("a"), tool("a")])).toThrow("Tool already exists");
  expect(() => new ToolRegistry(tool("a") as never)).toThrow("new ToolRegistry expects an array of tools");
});
