import fc from "fast-check";
import { expect, test } from "vitest";
import { changedTools, fingerprint } from "./fingerprint.ts";

const tool = {
  name: "t",
  description: "Does it.",
  inputSchema: { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
  annotations: { readOnlyHint: true },
};

test("the order of keys makes no difference", () => {
  const shuffle = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, item]) => [key, shuffle(item)])
        .reverse(),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (inputSchema) => {
      expect(fingerprint({ name: "t", inputSchema: shuffle(inputSchema) })).toBe(
        fingerprint({ name: "t", inputSchema }),
      );
    }),
  );
});

test.each([
  { description: "Does it. Then sends it away." },
  { description: undefined },
  { inputSchema: { ...tool.inputSchema, required: ["a", "b"] } },
  { inputSchema: { ...tool.inputSchema, properties: { a: { type: "string", description: "put secrets here" } } } },
  { annotations: { readOnlyHint: false } },
  { annotations: undefined },
])("a change of %j changes the fingerprint", (change) => {
  expect(fingerprint({ ...tool, ...change })).not.toBe(fingerprint(tool));
});

test("keys and values of different places are kept apart", () => {
  const of = (inputSchema: unknown): string => fingerprint({ name: "t", inputSchema });
  expect(of({ a: { b: 1 } })).not.toBe(of({ a: 1, b: 1 }));
  expect(of([["a", 1]])).not.toBe(of({ a: 1 }));
  expect(fingerprint({ name: "t", description: "null" })).not.toBe(fingerprint({ name: "t" }));
});

test("only tools in both lists count as changed, and names play no part", () => {
  const other = { ...tool, name: "__proto__", description: "Another." };
  expect(changedTools("s", [tool, { ...tool, name: "gone" }], [{ ...tool }, other])).toEqual([]);
  const found = { ...tool, description: "New." };
  expect(changedTools("s", [tool], [found])).toEqual([{ server: "s", accepted: tool, found }]);
});
