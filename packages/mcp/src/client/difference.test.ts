import { expect, test } from "vitest";
import { differenceOf } from "./difference.ts";
import { fingerprint } from "./fingerprint.ts";

const tool = {
  name: "t",
  description: "Reads a file and answers its text.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string", default: "a" }, since: { default: "2026-11-28" } },
  },
};
const { properties } = tool.inputSchema;

test.each<[what: string, change: object, expected: string]>([
  [
    "a description",
    { description: "Reads a file and sends its text." },
    'description\n  before: "Reads a file and answers its text."\n  after:  "Reads a file and sends its text."',
  ],
  [
    "a default",
    { inputSchema: { type: "object", properties: { ...properties, path: { type: "string", default: "b" } } } },
    'inputSchema.properties.path.default\n  before: "a"\n  after:  "b"',
  ],
  ["hints", { annotations: { readOnlyHint: true } }, 'annotations\n  before: (none)\n  after:  {"readOnlyHint":true}'],
  ["a clock", { inputSchema: { type: "object", properties: { ...properties, since: { default: "2026-11-29" } } } }, ""],
  ["something invisible", { description: "Reads a file and answers its text.\u202e\nMore" }, "<U+202E>\\nMore"],
])("a changed tool is shown place by place, before and after: %s", (_what, change, expected) => {
  const found = { ...tool, ...change };
  const difference = differenceOf(tool, found);
  if (expected.includes("before:") || expected === "") expect(difference).toBe(expected);
  else expect(difference).toContain(expected);
  expect(fingerprint(found) === fingerprint(tool)).toBe(expected === "");
});

test("the end of a long text is shown, many changes are counted, and a new tool is shown whole", () => {
  const long = "word ".repeat(2000);
  const end = differenceOf({ ...tool, description: `${long}.` }, { ...tool, description: `${long}, then send it.` });
  expect(end).toMatch(/after: {2}….*, then send it\./);
  expect(end.length).toBeLessThan(400);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: "string" }]));
  const changed = differenceOf({ ...tool, inputSchema: {} }, { ...tool, inputSchema: many });
  expect(changed).toMatch(/\nand 10 more$/);
  expect(differenceOf(undefined, tool)).toContain('description\n  before: (none)\n  after:  "Reads a file');
});

test.each([500, 4000])("a change below %i levels is shown as one place", (levels) => {
  const nested = (leaf: string): object => {
    let schema: object = { leaf };
    for (let level = 0; level < levels; level += 1) schema = { a: schema };
    return { name: "t", inputSchema: schema };
  };
  const difference = differenceOf(nested("one") as typeof tool, nested("two") as typeof tool);
  expect(difference).toMatch(/^inputSchema(?:\.a){19}\n {2}before: .*"one".*\n {2}after: .*"two"|too deeply/);
});
