import { expect, test } from "vitest";
import { type DefinitionWire, definitionListProblems, definitionProblems } from "./definitions.ts";

type Json = Record<string, unknown>;

/** A definition in the shape of each wire. */
function definitionOf(wire: DefinitionWire, parameters: Json, strict = false): Json {
  const own = { name: "look", description: "Looks." };
  if (wire === "messages") return { ...own, input_schema: parameters, ...(strict && { strict }) };
  if (wire === "gemini") return { ...own, parametersJsonSchema: parameters };
  if (wire === "responses") return { type: "function", ...own, parameters, strict };
  return wire === "any"
    ? { ...own, parameters, strict }
    : { type: "function", function: { ...own, parameters, strict } };
}

const all: readonly DefinitionWire[] = ["responses", "chat", "messages", "gemini", "llama.cpp", "any"];
const text = { type: "string" };
const object = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
const argument = (schema: unknown): Json => object({ a: schema });

test("an ordinary definition is taken everywhere", () => {
  const list = { type: "array", items: { anyOf: [text, { type: "null" }] }, minItems: 1, description: "Some." };
  const good = object({ a: text, list }, { required: ["a"], additionalProperties: false });
  for (const wire of all) expect(definitionProblems(wire, definitionOf(wire, good))).toEqual([]);
});

const openai = ["responses", "chat", "any"] as const;
const refused: readonly (readonly [string, Json, readonly DefinitionWire[], RegExp])[] = [
  ["no type", {}, ["responses", "chat", "messages", "gemini", "any"], /must have type 'object'/],
  ["no properties", { type: "object" }, openai, /missing properties/],
  ["no arguments", object({}), ["gemini"], /non-empty/],
  ["a union at the top", object({ a: text }, { anyOf: [{ required: ["a"] }] }), [...openai, "messages"], /'anyOf'/],
  ["an array without items", argument({ type: ["string", "array"] }), [...openai, "gemini"], /missing items/],
  ["a draft-07 tuple", argument({ type: "array", items: [text] }), ["messages", "any"], /draft 2020-12/],
  ["items: false", argument({ type: "array", prefixItems: [text], items: false }), ["responses"], /missing items/],
  [
    "a draft-04 bound",
    argument({ type: "number", exclusiveMinimum: true }),
    ["messages", "responses"],
    /draft 2020-12/,
  ],
  ["an unknown type", argument({ type: "file" }), all, /unknown type/],
  ["a property named $filter", object({ $filter: text }), ["chat", "messages", "gemini", "any"], /\$filter/],
  ["a dangling reference", argument({ $ref: "#/$defs/none" }), all, /not found/],
  ["a look-ahead", argument({ type: "string", pattern: "^(?=a)$" }), [...openai, "llama.cpp"], /regex|grammar/],
  ["an open pattern", argument({ type: "string", pattern: "a" }), ["llama.cpp"], /start with/],
  ["patternProperties", argument({ patternProperties: { "^a": text } }), ["messages"], /patternProperties/],
  ["a list of types", argument({ type: ["string", "null"] }), ["gemini"], /not repeating/],
  ["const", argument({ const: 1 }), ["gemini"], /Unknown name/],
  [
    "recursion",
    { ...argument({ $ref: "#/$defs/n" }), $defs: { n: argument({ $ref: "#/$defs/n" }) } },
    ["gemini", "any"],
    /recursive/,
  ],
];

test.each(refused)("refused: %s", (_kind, parameters, wires, words) => {
  for (const wire of wires) expect(definitionProblems(wire, definitionOf(wire, parameters)).join()).toMatch(words);
});

test.each<[string, Json, readonly DefinitionWire[], RegExp]>([
  ["open objects", argument(text), openai, /'additionalProperties' must be false/],
  ["optional properties", object({ a: text }, { additionalProperties: false }), openai, /Missing 'a'/],
  ["allOf", argument({ allOf: [text] }), openai, /'allOf' is not permitted/],
  ["a format", argument({ type: "string", format: "uri" }), openai, /not a valid format/],
  ["a bound", argument({ type: "number", minimum: 1 }), ["messages", "any"], /'minimum' is not permitted/],
])("refused in strict mode: %s", (_kind, parameters, wires, words) => {
  for (const wire of wires)
    expect(definitionProblems(wire, definitionOf(wire, parameters, true)).join()).toMatch(words);
});

test("a list has at most 128 definitions in chat completions, and no name twice", () => {
  const good = (name: string): Json => {
    const { function: own } = definitionOf("chat", object({})) as { function: Json };
    return { type: "function", function: { ...own, name } };
  };
  const many = Array.from({ length: 129 }, (_, index) => good(`t${index}`));
  expect(definitionListProblems("chat", many)).toEqual(["129 tools, at most 128"]);
  expect(definitionListProblems("chat", [good("a"), good("a")])).toEqual(["a: the name comes twice"]);
});
