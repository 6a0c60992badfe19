import type { ExecutableTool, JsonSchema } from "@toolcrib/core";
import { defineTool } from "@toolcrib/core";
import { expect, test } from "vitest";
import { compareManifests } from "./compareManifests.ts";
import { createManifest, readManifest, type ToolManifest } from "./toolContract.ts";

const path = { type: "string", description: "Where." };
const parameters = (properties: object = {}, required: string[] = ["path"]): JsonSchema => ({
  type: "object",
  properties: { path, ...properties },
  required,
  additionalProperties: false,
});
const outputSchema = (properties: object, required = Object.keys(properties)): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

interface Change {
  readonly name?: string;
  readonly description?: string;
  readonly parameters?: JsonSchema;
}

function tool(change: Change = {}, rest: Partial<ExecutableTool> = {}): ExecutableTool {
  const definition = { name: "read", description: "Reads.", parameters: parameters(), execute: () => "", ...change };
  return { ...defineTool(definition), origin: "pack", readOnly: true, ...rest };
}

const manifest = (...tools: ExecutableTool[]): ToolManifest => createManifest("pack", tools);
const encoding = { type: "string", enum: ["utf8", "latin1"], default: "utf8", description: "How it is written." };
const withEncoding = (encoded: object, required = ["path"]): ExecutableTool =>
  tool({ parameters: parameters({ encoding: encoded }, required) });
const text = { text: { type: "string" } };

const otherPrint = "wording words: read has another fingerprint, so remembered answers about it no longer apply.";
const defaultOf = (name: string, change: string): string =>
  `breaking default: read has another default for the argument "${name}": it ${change}. Callers that leave it out get another result.`;
const required = (which: string): string =>
  `breaking argument-required: read needs ${which}. Callers that leave it out get an error.`;
const dataOf = (field: string, change: string): string =>
  `breaking data: read returns other data. The field "${field}" of its data ${change}. Programs that read it may fail.`;
const both = ["path", "encoding"];
const returning = (schema?: JsonSchema): ExecutableTool[] => [tool({}, schema && { outputSchema: schema })];
const declaring = (defaults: Record<string, unknown>, ...encoded: object[]): ExecutableTool[] => [
  { ...withEncoding(Object.assign({ type: "string" }, ...encoded)), defaults },
];

type Tools = ExecutableTool | ExecutableTool[];

/** The message to a user of the tool, for each kind of change. */
test.each<[string, Tools, Tools, ...string[]]>([
  ["nothing", tool(), tool()],
  [
    "a tool gone",
    [tool(), tool({ name: "watch" })],
    tool(),
    "breaking tool-gone: The tool watch is gone. Programs and prompts that call it get an error.",
  ],
  ["a new tool", tool(), [tool(), tool({ name: "watch" })], "addition tool-added: The tool watch is new."],
  ["a new required argument", tool(), withEncoding(encoding, both), required('a new argument "encoding"')],
  [
    "an argument that became required",
    withEncoding(encoding),
    withEncoding(encoding, both),
    required('the argument "encoding", which was optional'),
  ],
  [
    "an argument gone",
    withEncoding(encoding),
    tool(),
    'breaking argument-gone: read no longer takes the argument "encoding". Callers that pass it get an error.',
  ],
  [
    "a new optional argument",
    tool(),
    withEncoding(encoding),
    'addition argument-added: read takes a new optional argument "encoding".',
  ],
  [
    "a narrower enum",
    withEncoding(encoding),
    withEncoding({ ...encoding, enum: ["utf8"] }),
    'breaking narrowed: read takes less in the argument "encoding": it no longer takes "latin1". Callers that pass a value that no longer fits get an error.',
  ],
  [
    "a wider enum",
    withEncoding(encoding),
    withEncoding({ ...encoding, enum: ["utf8", "latin1", "base64"] }),
    'addition widened: read takes more in the argument "encoding": it takes "base64" too.',
  ],
  [
    "another default",
    withEncoding(encoding),
    withEncoding({ ...encoding, default: "latin1" }),
    defaultOf("encoding", 'was "utf8" and is "latin1"'),
  ],
  [
    "another default that is declared beside the schema",
    tool({}, { defaults: { path: ".", "edits[].all": false } }),
    tool({}, { defaults: { path: "..", "edits[].all": false } }),
    defaultOf("path", 'was "." and is ".."'),
  ],
  [
    "a declared default that the schema states now",
    declaring({ encoding: "utf8" }),
    withEncoding({ type: "string", default: "utf8" }),
    otherPrint,
  ],
  [
    "a stated default that is declared now",
    withEncoding({ type: "string", default: "utf8" }),
    declaring({ encoding: "utf8" }),
    otherPrint,
  ],
  [
    "a declared default beside which the schema states another",
    declaring({ encoding: "utf8" }),
    declaring({ encoding: "utf8" }, { default: "latin1" }),
    defaultOf("encoding", 'was "utf8" and is "latin1"'),
  ],
  [
    "two defaults that differed before",
    declaring({ encoding: "utf8" }, { default: "latin1" }),
    declaring({ encoding: "utf8" }, { default: "latin1" }),
  ],
  [
    "a declared default that is dropped, with the name of a method",
    declaring({ toString: 1 }),
    declaring({}),
    defaultOf("toString", "was 1 and is no longer stated"),
  ],
  [
    "a declared default of an argument that is required now",
    declaring({ encoding: "utf8" }),
    withEncoding({ type: "string" }, both),
    required('the argument "encoding", which was optional'),
  ],
  [
    "a declared default of an argument that is gone",
    { ...withEncoding(encoding), defaults: { encoding: "utf8" } },
    tool(),
    'breaking argument-gone: read no longer takes the argument "encoding". Callers that pass it get an error.',
  ],
  [
    "what cannot be compared",
    tool(),
    tool({ parameters: { ...parameters(), not: { required: ["a"] } } }),
    "breaking incomparable: read may take less in its arguments: it has another not, which is not compared. Callers may get an error.",
  ],
  [
    "other traits",
    tool(),
    tool({}, { readOnly: undefined }),
    "breaking traits: read has a changed trait: readOnly was true and is not stated. Permissions that depend on it may decide differently.",
  ],
  [
    "another origin",
    tool(),
    tool({}, { origin: "other" }),
    'breaking origin: read comes from "other", before from "pack". Rules and remembered answers for it no longer apply.',
  ],
  [
    "a tool and an argument in other words",
    tool(),
    tool({ description: "Reads it.", parameters: parameters({ path: { ...path, description: "The path." } }) }),
    "wording words: read is described differently: the tool, path.",
  ],
  [
    "a description dropped",
    tool(),
    tool({ parameters: parameters({ path: { type: "string" } }) }),
    "wording words: read is described differently: path.",
  ],
  ["a title", tool(), tool({ parameters: parameters({ path: { ...path, title: "Path" } }) }), otherPrint],
  [
    "data that may miss a field",
    returning(outputSchema(text)),
    returning(outputSchema(text, [])),
    dataOf("text", "may be missing"),
  ],
  [
    "data of another type",
    returning(outputSchema(text)),
    returning(outputSchema({ text: { type: ["string", "null"] } })),
    dataOf("text", "was string and is string or null"),
  ],
  [
    "data without a field that was optional",
    returning(outputSchema({ ...text, b: outputSchema({ c: {} }) }, ["text"])),
    returning(outputSchema(text)),
    dataOf("b", "is no longer given"),
  ],
  [
    "data without a field that was required",
    returning(outputSchema({ ...text, b: { type: "string" } })),
    returning(outputSchema(text)),
    dataOf("b", "is no longer given"),
  ],
  [
    "open data without a field, and data that never has it",
    tool({}, { outputSchema: { type: "object", properties: { a: {}, b: {} } } }),
    tool({}, { outputSchema: { type: "object", properties: { a: false } } }),
    dataOf("a", "is no longer given"),
    dataOf("b", "is no longer given"),
  ],
  [
    "data without a field of one of its forms",
    tool({}, { outputSchema: { type: "object", anyOf: [outputSchema({ ok: {}, b: {} }), outputSchema({ ok: {} })] } }),
    tool({}, { outputSchema: { type: "object", anyOf: [outputSchema({ ok: {} })] } }),
    dataOf("b", "is no longer given"),
  ],
  [
    "data no longer given",
    returning(outputSchema(text)),
    tool(),
    "breaking data: read no longer returns data. Programs that read it get none.",
  ],
  [
    "more data",
    returning(outputSchema(text)),
    returning(outputSchema({ ...text, size: { type: "integer" } })),
    "addition data: read returns more data, or more exact data.",
  ],
])("%s", (_, before, after, ...expected) => {
  const changes = compareManifests(manifest(...[before].flat()), manifest(...[after].flat()));
  expect(changes.map(({ severity, kind, message }) => `${severity} ${kind}: ${message}`)).toEqual(expected);
});

test("a changed fingerprint or digest of words is always a change", () => {
  const versions = [
    tool(),
    withEncoding(encoding),
    withEncoding({ ...encoding, description: "Other." }),
    withEncoding({ ...encoding, examples: ["utf8"] }),
    withEncoding({ ...encoding, "x-own": 1 }),
    tool({}, { idempotent: true }),
    tool({ description: "Other." }),
  ].map((one) => manifest(one));
  for (const before of versions) {
    for (const after of versions)
      expect(compareManifests(before, after).length > 0, JSON.stringify([before, after])).toBe(before !== after);
  }
});

test("a manifest is read from its JSON, and what is none is refused in words", () => {
  const own = JSON.parse(JSON.stringify(manifest(tool())));
  expect(readManifest(own)).toEqual(own);
  expect(() => readManifest([])).toThrow("not a manifest of tools: it must be an object");
  expect(() => readManifest({ ...own, manifestVersion: 2 })).toThrow("its manifestVersion must be 1");
  expect(() => readManifest({ ...own, tools: {} })).toThrow("tools must be an array");
  expect(() => readManifest({ ...own, package: 1 })).toThrow("package must be a string");
  const [first] = own.tools;
  for (const [field, problem] of [
    ["name", "tools[0] needs name, a string"],
    ["tokens", "tools[0] needs tokens, a number"],
    ["parameters", "tools[0] needs parameters, an object"],
  ] as const) {
    expect(() => readManifest({ ...own, tools: [{ ...first, [field]: null }] })).toThrow(problem);
  }
  expect(() => readManifest({ ...own, tools: [null] })).toThrow("tools[0] must be an object");
  expect(() => readManifest({ ...own, tools: [{ ...first, outputSchema: 1 }] })).toThrow("outputSchema");
  expect(() => readManifest({ ...own, tools: [{ ...first, defaults: [] }] })).toThrow("defaults that is no object");
  expect(() => readManifest({ ...own, tools: [first, first] })).toThrow("tools[1] has the name of another");
  for (const name of ["", "a b", "\u001b[2J", "a\n", "x".repeat(65)]) {
    expect(() => readManifest({ ...own, tools: [{ ...first, name }] })).toThrow(
      "tools[0] needs a name that matches ^[a",
    );
  }
  for (const readOnly of ["\u001b[2J", null, 1]) {
    expect(() => readManifest({ ...own, tools: [{ ...first, traits: { readOnly } }] })).toThrow(
      "neither true nor false",
    );
  }
  const deep = JSON.parse(`${'{"not":'.repeat(501)}{}${"}".repeat(501)}`);
  for (const field of ["parameters", "outputSchema", "defaults"]) {
    const problem = `tools[0] has ${field} nested deeper than 500 levels`;
    expect(() => readManifest({ ...own, tools: [{ ...first, [field]: deep }] })).toThrow(problem);
  }
});
