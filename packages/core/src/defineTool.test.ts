import { type } from "arktype";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "./defineTool.ts";
import { ToolRegistry } from "./registry/registry.ts";

function registryOf(...tools: Parameters<ToolRegistry["register"]>[0][]): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

describe("defineTool", () => {
  test("with a JSON Schema", async () => {
    const add = defineTool({
      name: "add",
      description: "Adds.",
      parameters: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
      execute: ({ a, b }) => String(a + b),
    });
    expect(await registryOf(add).execute("add", { a: "1", b: 2 })).toBe("3");
    expect(await add.execute({ a: 1, b: 2 })).toBe("3");
  });

  test("names the version of Node.js that is needed where it is older", () => {
    const { withResolvers } = Promise;
    Reflect.deleteProperty(Promise, "withResolvers");
    const add = (): unknown => defineTool({ name: "add", description: "Adds.", parameters: {}, execute: () => "" });
    expect(add).toThrow(`Node.js 22.18 or later is needed; this is ${process.version}`);
    Object.defineProperty(Promise, "withResolvers", { value: withResolvers, writable: true, configurable: true });
    expect(add).not.toThrow();
  });

  test("with zod: repair first, then zod's own validate, whose output the tool gets", async () => {
    const tool = defineTool({
      name: "t",
      description: "d",
      parameters: z.object({ n: z.number().min(2), when: z.string().default("now") }),
      execute: ({ n, when }) => `${n + 1} ${when}`,
    });
    const registry = registryOf(tool);
    expect(registry.listTools()[0]?.parameters).toMatchObject({
      type: "object",
      properties: { n: { type: "number" } },
    });
    expect(await registry.execute("t", { n: "5" })).toBe("6 now");
    expect(await registry.execute("t", { n: 1 })).toMatch(/^Error executing t: Invalid arguments: n: /);
  });

  test("with a strict zod object: an argument that it forbids is refused, naming the nearest allowed one", async () => {
    const parameters = z.strictObject({ path: z.string(), limit: z.number().optional() });
    const registry = registryOf(defineTool({ name: "t", description: "d", parameters, execute: ({ path }) => path }));
    expect(await registry.execute("t", { path: "a", limt: 1 })).toContain(
      "Invalid arguments: limt: is not an argument; did you mean limit? (allowed: path, limit)",
    );
    expect(await registry.execute("t", { path: 1 })).not.toContain("is not an argument");
  });

  test("with zod's asynchronous checks", async () => {
    const parameters = z.object({ n: z.number().refine(async (n) => n > 3, "too small") });
    const jsonSchema = { type: "object", properties: { n: { type: "number" } } };
    const registry = registryOf(
      defineTool({ name: "t", description: "d", parameters, jsonSchema, execute: ({ n }) => `${n}` }),
    );
    expect(await registry.execute("t", { n: 4 })).toBe("4");
    expect(await registry.execute("t", { n: 1 })).toBe("Error executing t: Invalid arguments: n: too small");
  });

  test("with arktype", async () => {
    const tool = defineTool({
      name: "t",
      description: "d",
      parameters: type({ city: "string" }),
      execute: ({ city }) => city.toUpperCase(),
    });
    expect(await registryOf(tool).execute("t", { city: "oslo" })).toBe("OSLO");
    expect(await registryOf(tool).execute("t", {})).toMatch(/Invalid arguments: city/);
  });

  test("a Standard Schema without JSON Schema asks for one", () => {
    const bare = { "~standard": { version: 1 as const, vendor: "bare", validate: (value: unknown) => ({ value }) } };
    expect(() => defineTool({ name: "t", description: "d", parameters: bare, execute: () => "" })).toThrow(
      /pass it as jsonSchema too/,
    );
  });

  test("a library too old for JSON Schema is named with the version that has it; its own reason is kept", () => {
    const make = (vendor: string, jsonSchema?: object) => () => {
      const standard = { version: 1 as const, vendor, validate: (value: unknown) => ({ value }), jsonSchema };
      defineTool({ name: "t", description: "d", parameters: { "~standard": standard }, execute: () => "" });
    };
    expect(make("zod")).toThrow(
      "the zod schema offers no JSON Schema (zod does from 4.2 on); pass it as jsonSchema too",
    );
    expect(make("arktype")).toThrow("arktype does from 2.1.28 on");
    const date = () =>
      defineTool({ name: "t", description: "d", parameters: z.object({ d: z.date() }), execute: () => "" });
    expect(date).toThrow("the zod schema cannot be written as JSON Schema (Date cannot be represented in JSON Schema)");
  });

  test("a misspelt name in the definition throws; any other unknown name is kept on the tool", () => {
    const definition = { name: "t", description: "d", parameters: { type: "object" }, execute: () => "" } as const;
    expect(() => defineTool({ ...definition, timeoutMS: 5 } as never)).toThrow(
      new TypeError('defineTool: unknown option "timeoutMS"; did you mean "timeoutMs"?'),
    );
    expect(() => defineTool({ ...definition, readonly: true } as never)).toThrow('did you mean "readOnly"?');
    expect(defineTool({ ...definition, vendorNote: 1 } as never)).toMatchObject({ vendorNote: 1 });
  });

  test.each([0, Number.NaN, -5, "50", null, {}])("a time limit of %j is refused", (timeoutMs) => {
    const definition = { name: "t", description: "d", parameters: { type: "object" }, execute: () => "" } as const;
    expect(() => defineTool({ ...definition, timeoutMs } as never)).toThrow(/^defineTool: timeoutMs must be a number/);
    expect(defineTool({ ...definition, timeoutMs: Number.POSITIVE_INFINITY })).toHaveProperty("timeoutMs");
  });

  test("traits, the time limit and strict are kept", () => {
    const closed = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    } as const;
    const tool = defineTool({
      name: "t",
      description: "d",
      parameters: closed,
      strict: true,
      readOnly: true,
      timeoutMs: 5,
      execute: () => "",
    });
    expect(tool).toMatchObject({ readOnly: true, timeoutMs: 5 });
    expect(registryOf(tool).getEnabledSchemas()[0]?.function.strict).toBe(true);
  });

  test("execute always gives a promise, also where it throws at once", async () => {
    const tool = defineTool({
      name: "t",
      description: "d",
      parameters: { type: "object" },
      execute: () => {
        throw new Error("x");
      },
    });
    await expect(tool.execute({})).rejects.toThrow("x");
  });
});
