import { randomOf } from "@toolcrib/testing/randomOf";
import { expect, test } from "vitest";
import { tool as toolNamed } from "../../fixtures/tools.ts";
import type { ExecutableTool } from "../interface.ts";
import { ToolRegistry } from "./registry.ts";

/** The registry in its plainest form: an ordered list of names with a flag and a version. */
type Model = { name: string; enabled: boolean; version: number }[];

const names = ["a", "b", "c", "d", "toString", "constructor", "__proto__", "1"];

const tool = (name: string, version: number): ExecutableTool => toolNamed(name, () => `${name} v${version}`);

async function step(random: (below: number) => number, registry: ToolRegistry, model: Model, version: number) {
  const name = names[random(names.length)] ?? "a";
  const known = model.find((entry) => entry.name === name);
  switch (random(6)) {
    case 0:
      if (known) expect(() => registry.register(tool(name, version))).toThrow(`Tool already exists: ${name}`);
      else {
        registry.register(tool(name, version));
        model.push({ name, enabled: true, version });
      }
      break;
    case 1:
      registry.unregister(name);
      if (known) model.splice(model.indexOf(known), 1);
      break;
    case 2:
      expect(registry.enable(name)).toBe(known !== undefined);
      if (known) known.enabled = true;
      break;
    case 3:
      expect(registry.disable(name)).toBe(known !== undefined);
      if (known) known.enabled = false;
      break;
    case 4: {
      const answer = await registry.execute(name, {});
      if (!known) expect(answer).toMatch(/^Tool not found: /);
      else expect(answer).toBe(known.enabled ? `${name} v${known.version}` : `Tool not available: ${name}`);
      break;
    }
    default:
      expect(registry.clone().listTools()).toEqual(registry.listTools());
  }
}

test.each([0, 1, 2, 3, 4])("200 operations agree with the model, seed %i", async (seed) => {
  const between = randomOf(seed);
  const random = (below: number): number => Math.floor(between() * below);
  const registry = new ToolRegistry();
  const model: Model = [];
  for (let version = 0; version < 200; version += 1) {
    await step(random, registry, model, version);
    const known = names.map((name) => model.find((entry) => entry.name === name));
    expect({
      names: registry.getToolNames(),
      schemas: registry.getEnabledSchemas().map((schema) => schema.function.name),
      has: names.map((name) => registry.hasTool(name)),
      enabled: names.map((name) => registry.isToolEnabled(name)),
    }).toEqual({
      names: model.map((entry) => entry.name),
      schemas: model.filter((entry) => entry.enabled).map((entry) => entry.name),
      has: known.map((entry) => entry !== undefined),
      enabled: known.map((entry) => entry?.enabled ?? false),
    });
  }
});
