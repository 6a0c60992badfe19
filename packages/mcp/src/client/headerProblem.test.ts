import { expect, test } from "vitest";
import { headerProblem } from "./headerProblem.ts";

const at = (type: string, header: unknown = "Region"): object => ({ type, "x-mcp-header": header });
const object = (properties: object): object => ({ type: "object", properties });

test.each<[what: string, schema: unknown, problem: RegExp | undefined]>([
  ["none", object({ a: { type: "string" } }), undefined],
  ["nested", object({ a: object({ b: at("string") }), c: at("integer", "Other") }), undefined],
  ["of data", object({ a: { type: "object", default: { "x-mcp-header": 7 } } }), undefined],
  ["a property of that name", object({ "x-mcp-header": { type: "string" } }), undefined],
  ["no schema", null, undefined],
  ["no name", object({ a: at("string", "a b") }), /no name/],
  ["of a number", object({ a: at("number") }), /no string, integer or boolean/],
  ["at the top", { ...object({}), "x-mcp-header": "Region" }, /no string, integer or boolean/],
  ["in items", object({ a: { type: "array", items: at("string") } }), /one place/],
  ["in a branch", { anyOf: [object({ a: at("string") })] }, /one place/],
  ["twice", object({ a: at("string"), b: at("string", "REGION") }), /twice/],
])("a header that is made from an argument: %s", (_what, schema, problem) => {
  const found = headerProblem(schema);
  if (problem) expect(found).toMatch(problem);
  else expect(found).toBeUndefined();
});
