import { describe, expect, test } from "vitest";
import { validateJson } from "../index.ts";

const schema = {
  type: "object",
  properties: {
    model: { type: "string" },
    limits: { type: "object", properties: { steps: { type: "integer" } }, additionalProperties: false },
    rules: { type: "array", items: { type: "string" } },
  },
  additionalProperties: false,
};

describe("validateJson", () => {
  test("finds nothing in what fits", async () => {
    expect(await validateJson({ model: "a/b", limits: { steps: 3 }, rules: ["x"] }, schema)).toEqual([]);
  });

  test("takes values as they are: nothing is repaired", async () => {
    expect(await validateJson({ limits: { steps: "3" }, rules: "x" }, schema)).toEqual([
      { field: "limits.steps", reason: 'expected integer, got string "3"' },
      { field: "rules", reason: 'expected array of string, got string "x"' },
    ]);
    expect(await validateJson("{}", schema)).toEqual([{ field: "", reason: 'expected object, got string "{}"' }]);
  });

  test("names the nearest of the names that a closed schema has", async () => {
    expect(await validateJson({ modle: "a", limits: { step: 1 } }, schema, "a key")).toEqual([
      { field: "limits.step", reason: "is not a key; did you mean steps? (allowed: steps)" },
      { field: "modle", reason: "is not a key; did you mean model? (allowed: model, limits, rules)" },
    ]);
  });
});
