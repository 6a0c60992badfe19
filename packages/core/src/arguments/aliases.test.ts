import { expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import { ToolRegistry } from "../registry/registry.ts";
import { aliasesOf } from "./aliases.ts";

const item = { type: "object", properties: { "@type": { type: "integer" } }, required: ["@type"] };
const parameters = {
  type: "object",
  properties: {
    $filter: { type: "string" },
    filter: { type: "string" },
    list: { type: "array", items: { $ref: "#/$defs/item" } },
    one: { anyOf: [item, { type: "null" }] },
    open: { type: "object", additionalProperties: true },
    pair: { type: "array", prefixItems: [{ type: "object", properties: { "x y": {} } }] },
  },
  additionalProperties: false,
  $defs: { item },
};

function called(args: unknown, schema: object = parameters): Promise<string> {
  const execute = async (given: unknown): Promise<string> => JSON.stringify(given);
  const tool = defineTool({ name: "t", description: "d", parameters: schema as never, execute });
  return new ToolRegistry([tool]).execute("t", args);
}

test.each<[kind: string, args: unknown, run: unknown]>([
  ["the tool's own name", { $filter: "a" }, { $filter: "a" }],
  ["the name that was sent", { filter_2: "a" }, { $filter: "a" }],
  ["beside a property of the plain name", { filter_2: "a", filter: "b" }, { $filter: "a", filter: "b" }],
  ["in items, by a reference, with a repaired value", { list: [{ type: "1" }] }, { list: [{ "@type": 1 }] }],
  ["in a branch", { one: { type: 1 } }, { one: { "@type": 1 } }],
  ["in a tuple", { pair: [{ x_y: 1 }] }, { pair: [{ "x y": 1 }] }],
  ["in arguments that come as text", '{"filter_2":"a"}', { $filter: "a" }],
  ["not in data of other names", { open: { type: 1, filter_2: 2 } }, { open: { type: 1, filter_2: 2 } }],
])("a call may use either name: %s", async (_kind, args, run) => {
  expect(JSON.parse(await called(args))).toEqual(run);
});

test("both names at once are not one: the other is unknown", async () => {
  expect(await called({ $filter: "a", filter_2: "b" })).toMatch(/filter_2/);
  expect(await called({ filter_2: 5 })).toMatch(/\$filter: .*string/);
});

test("in an open schema, too, the tool gets its own name", async () => {
  expect(await called({ filter: "a" }, { type: "object", properties: { $filter: {} } })).toBe('{"$filter":"a"}');
});

test("each other name is legal everywhere and free in the whole schema", () => {
  const names = ["", "$", "1st", "a b", "a-b", "ä".repeat(80), "filter", "$filter", "@filter", "__proto__"];
  const properties = Object.fromEntries(names.map((name) => [name, {}]));
  const aliases = [...aliasesOf({ type: "object", properties }).values()];
  expect(aliases).toEqual(["field", "field_2", "field_1st", "a_b", "a_b_2", "a".repeat(64), "filter_2", "filter_3"]);
});
