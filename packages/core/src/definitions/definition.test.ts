import { definitionProblems } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { mendSchema } from "../arguments/mend.ts";
import { toAnthropicTool, toOpenAIChatTool, toOpenAIResponsesTool } from "../formats.ts";
import type { ChatTool, JsonSchema } from "../interface.ts";
import { type Definition, definitionFor, definitionsFor } from "./definition.ts";
import { joinBranches } from "./joinBranches.ts";
import type { Wire } from "./rules.ts";

const wires: readonly Wire[] = ["responses", "chat", "messages", "gemini", "any"];
const text = { type: "string" };
const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: "object", properties, ...more });

function toolOf(parameters: JsonSchema, more: Partial<ChatTool["function"]> = {}): ChatTool {
  return { type: "function", function: { name: "t", description: "Does it.", parameters, ...more } };
}

function madeOf(given: unknown, wire: Wire = "messages"): Definition {
  return definitionFor(toolOf(mendSchema(given)), wire);
}

/** The schema of one argument, `a`. */
function argumentOf(schema: unknown, wire: Wire = "messages", more: JsonSchema = {}): unknown {
  return Object(madeOf(object({ a: schema }, more), wire).parameters.properties).a;
}

test.each<[kind: string, given: unknown, made: unknown]>([
  ["no properties", { type: "object" }, object({})],
  ["an empty schema", {}, object({})],
  ["only $schema", { $schema: "http://json-schema.org/draft-07/schema#" }, object({})],
  ["a list of types at the top", { type: ["object", "null"] }, object({})],
  ["required in a property", object({ a: { ...text, required: true } }), object({ a: text }, { required: ["a"] })],
  ["a required name without a property", object({}, { required: ["a"] }), object({ a: {} }, { required: ["a"] })],
  [
    "allOf at the top, by references",
    {
      allOf: [{ $ref: "#/definitions/b" }, object({ x: text }, { required: ["x"] })],
      definitions: { b: object({ id: text }, { required: ["id"] }) },
    },
    object({ id: text, x: text }, { required: ["id", "x"] }),
  ],
])("properties are filled in: %s", (_kind, given, made) => {
  expect(madeOf(given)).toMatchObject({ description: "Does it.", parameters: made });
  expect(madeOf(given).parameters).toEqual(made);
});

const branches = [
  object({ kind: { const: "new" }, title: text }, { required: ["kind", "title"] }),
  object({ kind: { const: "old" }, id: text }, { required: ["kind", "id"] }),
];
const joined = object(
  { kind: { anyOf: [{ const: "new" }, { const: "old" }] }, title: text, id: text },
  { required: ["kind"] },
);

test.each<[kind: string, given: JsonSchema, made: JsonSchema, said: string]>([
  [
    "oneOf",
    { type: "object", oneOf: branches },
    joined,
    'exactly one of these: { kind = "new", title } or { kind = "old", id }',
  ],
  ["anyOf", { type: "object", anyOf: branches }, joined, 'at least one of these: { kind = "new", title } or'],
  [
    "anyOf of required names",
    object({ a: text, b: text }, { anyOf: [{ required: ["a"] }, { required: ["b"] }] }),
    object({ a: text, b: text }),
    "at least one of these: { a } or { b }",
  ],
  [
    "a reference",
    { $ref: "#/$defs/p", $defs: { p: object({ a: text }, { not: { required: ["b"] } }) } },
    object({ a: text }),
    "must not fit { b }",
  ],
  [
    "if",
    object({ a: text }, { if: { required: ["a"] }, else: object({ b: text }, { required: ["b"] }) }),
    object({ a: text, b: text }),
    "if they fit { a }, fit {}, otherwise { b }",
  ],
  [
    "a closed union",
    {
      oneOf: [
        object({ a: text }, { additionalProperties: false }),
        object({ b: text }, { additionalProperties: false }),
      ],
    },
    object({ a: text, b: text }, { additionalProperties: false }),
    "{ a? } or { b? }",
  ],
])("branches at the top are joined, and the rest is said: %s", (_kind, given, made, said) => {
  const { description, parameters } = madeOf(given);
  expect(parameters).toEqual(made);
  expect(description).toContain(said);
});

test.each<[kind: string, given: unknown, made: unknown]>([
  ["an array without items", { type: "array" }, { type: "array", items: {} }],
  ["an array of many types", { type: ["string", "array"] }, { type: ["string", "array"], items: {} }],
  [
    "a draft-07 tuple",
    { type: "array", items: [text], additionalItems: text },
    { type: "array", prefixItems: [text], items: text },
  ],
  [
    "a closed tuple",
    { prefixItems: [text, text], items: false },
    { type: "array", prefixItems: [text, text], items: {}, maxItems: 2 },
  ],
  ["a draft-04 bound", { type: "number", minimum: 1, exclusiveMinimum: true }, { type: "number", exclusiveMinimum: 1 }],
  ["a bound that is none", { type: "number", maximum: 1, exclusiveMaximum: false }, { type: "number", maximum: 1 }],
  ["a schema that is true", true, {}],
  ["a reference to definitions", { $ref: "#/definitions/n" }, { $ref: "#/$defs/n" }],
  [
    "a dangling reference",
    { $ref: "#/$defs/none" },
    { description: 'Its author states {"$ref":"#/$defs/none"}, which leads nowhere.' },
  ],
  [
    "patterns of names",
    { type: "object", patternProperties: { "^x": text }, additionalProperties: false },
    { type: "object", additionalProperties: text, description: 'Names may match "^x": {"type":"string"}.' },
  ],
  [
    "a malformed rule",
    { type: "string", minLength: "3", examples: "x" },
    { type: "string", description: 'Its author states {"minLength":"3"}.' },
  ],
])("an argument in older or odd words: %s", (_kind, given, made) => {
  expect(argumentOf(given, "messages", { definitions: { n: { type: "number" } } })).toEqual(made);
});

test("names that a service refuses are sent under a free legal one, which the description explains", () => {
  const given = object({ $filter: text, filter: text, "filter[id]": text, höhe: text }, { required: ["$filter"] });
  const explained = (name: string): JsonSchema => ({ ...text, description: `The tool itself names it "${name}".` });
  const made = { filter_2: explained("$filter"), filter: text, filter_id: explained("filter[id]") };
  expect(madeOf(given).parameters).toEqual(object({ ...made, hohe: explained("höhe") }, { required: ["filter_2"] }));
  expect(madeOf(given, "responses").parameters).toEqual(object({ ...made, höhe: text }, { required: ["filter_2"] }));
  expect(Object.keys(Object(madeOf(object({ "a-b.c": text })).parameters.properties))).toEqual(["a-b.c"]);
  expect(Object.keys(Object(madeOf(object({ "a-b.c": text }), "gemini").parameters.properties))).toEqual(["a_b_c"]);
});

const node = object({ next: { $ref: "#/$defs/node" } });

test("a recursive reference stays where it is taken, and is told in words elsewhere", () => {
  const given = object({ a: { $ref: "#/$defs/node" } }, { $defs: { node, unused: text } });
  for (const wire of ["responses", "chat", "messages"] as const)
    expect(madeOf(given, wire).parameters).toEqual(object({ a: { $ref: "#/$defs/node" } }, { $defs: { node } }));
  const told = object({ next: { type: "object", description: "It has the form of node again." } });
  for (const wire of ["gemini", "any"] as const)
    expect(madeOf(given, wire).parameters).toEqual(object({ a: { $ref: "#/$defs/node" } }, { $defs: { node: told } }));
});

test.each<[kind: string, given: JsonSchema, made: JsonSchema]>([
  [
    "what it has no word for",
    { ...text, pattern: "^/", description: "A path", default: "/" },
    { ...text, description: 'A path. Default: "/". Must fit {"pattern":"^/"}.' },
  ],
  ["const", { const: "fast" }, { ...text, enum: ["fast"] }],
  [
    "a list of types",
    { type: ["string", "null"], enum: ["a", null] },
    { anyOf: [{ ...text, enum: ["a"] }, { type: "null" }] },
  ],
  [
    "an object or null",
    object({ x: text }, { type: ["object", "null"] }),
    { anyOf: [object({ x: text }), { type: "null" }] },
  ],
  [
    "oneOf",
    { oneOf: [text, { type: "integer", multipleOf: 2 }] },
    { anyOf: [text, { type: "integer", description: 'Must fit {"multipleOf":2}.' }] },
  ],
  [
    "allOf",
    { allOf: [{ ...text, maxLength: 2 }], description: "One" },
    { ...text, description: 'One. Must fit {"maxLength":2}.' },
  ],
  [
    "branches of an object",
    object({ x: text }, { anyOf: [{ required: ["x"] }] }),
    { ...object({ x: text }), required: ["x"], description: "It must fit at least one of these: { x }." },
  ],
  ["a map", { type: "object", additionalProperties: text }, { type: "object", additionalProperties: text }],
  [
    "beside a reference",
    { $ref: "#/$defs/n", description: "N", minimum: 1 },
    { $ref: "#/$defs/n", description: 'N. Must fit {"minimum":1}.' },
  ],
])("Gemini: %s", (_kind, given, made) => {
  expect(argumentOf(given, "gemini", { $defs: { n: { type: "number" } } })).toEqual(made);
});

test("chat completions may be those of a small server: its grammar has few patterns, low bounds, and wants types", () => {
  expect(argumentOf({ ...text, pattern: "^a+$", maxLength: 9 }, "chat")).toEqual({
    ...text,
    pattern: "^a+$",
    maxLength: 9,
  });
  expect(argumentOf({ ...text, pattern: "a", maxLength: 9000 }, "chat")).toEqual({
    ...text,
    description: 'Must fit {"pattern":"a","maxLength":9000}.',
  });
  expect(argumentOf({}, "chat")).toHaveProperty("anyOf");
  const long = `First. ${"x".repeat(600)}. ${"y".repeat(600)}`;
  const { description, parameters } = definitionFor(toolOf(object({}), { description: long }), "chat");
  expect(`${description} ${parameters.description}`).toBe(long);
  expect(description.length).toBeLessThan(1024);
});

const closed = (properties: JsonSchema): JsonSchema =>
  object(properties, { required: Object.keys(properties), additionalProperties: false });

test.each<[kind: string, parameters: JsonSchema, strict: string]>([
  ["a closed object", closed({ a: text, b: { enum: ["x"] } }), "responses chat messages any"],
  ["an open object", object({ a: text }), ""],
  ["an optional property", { ...closed({ a: text }), required: [] }, "messages"],
  ["a bound", closed({ a: { type: "number", minimum: 1 } }), "responses chat messages any"],
  ["a format", closed({ a: { ...text, format: "uri" } }), "responses chat messages any"],
  ["allOf", closed({ a: { allOf: [text] } }), "messages"],
  ["a tuple", closed({ a: { prefixItems: [text] } }), ""],
  ["no type", closed({ a: {} }), ""],
  ["recursion", { ...closed({ a: { $ref: "#" } }) }, "responses"],
  [
    "a described reference",
    { ...closed({ a: { $ref: "#/$defs/n", description: "N" } }), $defs: { n: text } },
    "responses chat messages any",
  ],
  ["many values", closed({ a: { enum: Array.from({ length: 1001 }, (_, index) => `v${index}`) } }), "messages"],
])("strict: true is sent for what the strict mode of the wire takes: %s", (_kind, parameters, strict) => {
  const tool = toolOf(parameters, { strict: true });
  expect(wires.filter((wire) => definitionFor(tool, wire).strict).join(" ")).toBe(strict);
  const sent = [toOpenAIResponsesTool(tool), toOpenAIChatTool(tool), toAnthropicTool(tool)] as const;
  for (const [index, wire] of (["responses", "chat", "messages"] as const).entries())
    expect(definitionProblems(wire, sent[index])).toEqual([]);
});

test("a name that cannot be mended is an error for an own tool; a mounted one is left out", () => {
  const tool = toolOf(object({}), { name: "1st" });
  const registry = { get: (): undefined => undefined };
  expect(definitionsFor([tool], "any", registry)).toHaveLength(1);
  expect(() => definitionsFor([tool], "gemini", registry)).toThrow(
    /Invalid tool "1st": for Gemini its name must match/,
  );
  expect(definitionsFor([tool], "gemini", { get: () => ({ hints: {} }) as never })).toEqual([]);
});

test("branches are read as far as the steps of a definition go", () => {
  const steps = { left: 3 };
  const branches = ["a", "b", "c", "d"].map((name) => object({ [name]: text }));
  expect(joinBranches({ allOf: branches }, "It", steps).schema.properties).toEqual({ a: text, b: text });
  expect(steps.left).toBeLessThan(0);
});
