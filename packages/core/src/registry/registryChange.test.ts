import { expect, test, vi } from "vitest";
import { throwing, tool } from "../../fixtures/tools.ts";
import { ToolRegistry } from "./registry.ts";

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
  const [listener, other] = [vi.fn(), vi.fn()];
  const stop = registry.onChange(listener);
  registry.onChange(listener);
  registry.onChange(other);
  registry.register(tool("a"));
  expect(listener).toHaveBeenCalledTimes(2);
  stop();
  stop();
  registry.disable("a");
  expect(listener).toHaveBeenCalledTimes(3);
  expect(other).toHaveBeenCalledTimes(2);
  registry.clone().enable("a");
  expect(listener).toHaveBeenCalledTimes(3);
});

test("a listener that throws disturbs neither the change nor the other listeners", () => {
  const registry = new ToolRegistry();
  const told = vi.fn();
  registry.onChange(throwing(new Error("broken")));
  registry.onChange(told);
  registry.register(tool("a"));
  expect(registry.hasTool("a")).toBe(true);
  expect(told).toHaveBeenCalledOnce();
});

test("register takes several tools, as the constructor does: one change, in their order", () => {
  const registry = new ToolRegistry([tool("a"), tool("b")]);
  expect(registry.getToolNames()).toEqual(["a", "b"]);
  const changed = vi.fn();
  registry.onChange(changed);
  registry.register(tool("c"), tool("d"));
  registry.register();
  expect(changed).toHaveBeenCalledOnce();
  expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).toEqual(["a", "b", "c", "d"]);
});

test("all are added, or none", () => {
  const registry = new ToolRegistry([tool("a")]);
  const changed = vi.fn();
  registry.onChange(changed);
  expect(() => registry.register(tool("b"), tool("a"))).toThrow("Tool already exists: a (a free name: a_2;");
  expect(() => registry.register(tool("b"), tool("b"))).toThrow("Tool already exists: b (a free name: b_2;");
  expect(() => registry.register(tool("b"), tool("not legal"))).toThrow("name must match");
  expect(() => registry.register(tool("a_2"), tool("a"))).toThrow("a free name: a_3;");
  expect(() => registry.register([tool("b")] as never)).toThrow("name must be a string");
  expect(registry.getToolNames()).toEqual(["a"]);
  expect(changed).not.toHaveBeenCalled();
  expect(() => new ToolRegistry([tool("a"), tool("a")])).toThrow("Tool already exists");
  expect(() => new ToolRegistry(tool("a") as never)).toThrow("new ToolRegistry expects an array of tools");
});
