import { type } from "arktype";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool } from "./defineTool.ts";
import type { ExecutableTool, JsonSchema } from "./interface.ts";

test("arguments are inferred from a JSON Schema", () => {
  const tool = defineTool({
    name: "t",
    description: "d",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        limit: { type: "integer" },
        mode: { enum: ["a", "b"] },
        edits: { type: "array", items: { type: "object", properties: { old: { type: "string" } }, required: ["old"] } },
      },
      required: ["path", "edits"],
    },
    effects: (args) => {
      expectTypeOf(args.path).toEqualTypeOf<string>();
      expectTypeOf(args.mode).toEqualTypeOf<"a" | "b" | undefined>();
      return [{ kind: "read", path: args.path }];
    },
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{
        path: string;
        edits: { old: string }[];
        limit?: number | undefined;
        mode?: "a" | "b" | undefined;
      }>();
      return args.path;
    },
  });
  expectTypeOf(tool).toEqualTypeOf<ExecutableTool>();
});

test("arguments are the output of a zod schema", () => {
  defineTool({
    name: "t",
    description: "d",
    parameters: z.object({ n: z.number(), when: z.string().default("now") }),
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ n: number; when: string }>();
      return "";
    },
  });
});

test("arguments are the output of an arktype schema", () => {
  defineTool({
    name: "t",
    description: "d",
    parameters: type({ city: "string", "days?": "number" }),
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number }>();
      return "";
    },
  });
});

test("a schema of a wider type is accepted; its arguments are unknown properties", () => {
  const loaded: JsonSchema = { type: "object" };
  const widened = { type: "object", properties: { n: { type: "number" } } };
  const name = "t";
  const description = "d";
  defineTool({
    name,
    description,
    parameters: loaded,
    execute: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>(),
  });
  defineTool({
    name,
    description,
    parameters: widened,
    execute: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>(),
  });
});
