import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { checkContracts } from "./contracts/check.mjs";
import { compareApi } from "./contracts/compareApi.mjs";
import { missingChangesets, readChangesets } from "./contracts/requiredBump.mjs";

const script = join(dirname(fileURLToPath(import.meta.url)), "contracts.mjs");
let house: string;

beforeEach(() => {
  house = temporaryFolder("contracts");
});

const put = (path: string, text: string): void => writeIn(house, path, text);

function command(...flags: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [script, house, ...flags], { encoding: "utf8" });
  return { status, stderr };
}

/** Returns the standard error that the command would print. Here the reports' library is loaded only once. */
async function contracts(task: "check" | "update" | "released" = "check"): Promise<string> {
  const problems = await checkContracts(house, task);
  return problems.map((problem) => `contracts: ${problem}\n`).join("");
}

/** A built package whose one tool takes `path` and the given properties, with the given declarations. */
function build(properties: object = {}, required: string[] = ["path"], types = ""): void {
  const exports = {
    ".": { ...(types && { types: "./dist/index.d.ts" }), default: "./dist/index.js" },
    "./manifest.json": "./dist/manifest.json",
  };
  put("packages/x/package.json", JSON.stringify({ name: "@toolcrib/x", version: "0.1.0", type: "module", exports }));
  put("packages/x/dist/index.d.ts", types);
  const parameters = { type: "object", properties: { path: {}, ...properties }, required, additionalProperties: false };
  const words = {
    fingerprint: JSON.stringify(parameters),
    words: "",
    tokens: 1,
    description: "Reads.",
    origin: "x",
    traits: {},
  };
  const tools = [{ name: "read_file", ...words, parameters }];
  put("packages/x/dist/manifest.json", JSON.stringify({ manifestVersion: 1, package: "@toolcrib/x", tools }));
}

test("a report that is out of date fails the check, with the command that renews it", async () => {
  build({}, ["path"], "export declare function make(): void;\n");
  const { status, stderr } = command();
  expect(status).toBe(1);
  expect(stderr).toBe(
    "contracts: @toolcrib/x: out of date: api/index.api.md, api/manifest.json. Renew with: npm run contracts -- --update\n",
  );
  expect(await contracts()).toBe(stderr);
  expect(await contracts("update")).toBe("");
  expect(await contracts()).toBe("");
  build({}, ["path"], "export declare function other(): void;\n");
  expect(await contracts()).toContain("out of date: api/index.api.md. Renew");
});

test("a tool that breaks its callers needs a changeset of the kind, in words for users", async () => {
  build();
  await contracts("update");
  expect(await contracts("released")).toBe("");
  expect(existsSync(join(house, "packages/x/api/released/manifest.json"))).toBe(true);
  build({ encoding: {} }, ["path", "encoding"]);
  expect(await contracts("update")).toBe(
    'contracts: @toolcrib/x: read_file needs a new argument "encoding". Callers that leave it out get an error. This is a breaking change: add a minor changeset (below 1.0) that says what to do.\n',
  );
  put(".changeset/reading.md", '---\n"@toolcrib/x": patch\n---\n\nReads more.\n');
  expect(await contracts()).toContain("add a minor changeset");
  put(".changeset/encoding.md", "---\n'@toolcrib/other': patch\n'@toolcrib/x': minor\n---\n\nPass it.\n");
  expect(await contracts()).toBe("");
  rmSync(join(house, ".changeset"), { recursive: true });
  await contracts("released");
  expect(await contracts()).toBe("");
});

test("an export that is gone or changed, and a subpath that is gone, need a changeset of the kind", async () => {
  build({}, ["path"], "export declare function make(a: string): void;\nexport declare const kept: 1;\n");
  await contracts("update");
  put("packages/x/api/files.api.md", "```ts\n```\n");
  await contracts("released");
  build({}, ["path"], "export declare function make(a: number): void;\n");
  expect((await contracts("update")).split("\n").slice(0, -1)).toEqual([
    "contracts: @toolcrib/x: @toolcrib/x/files is gone. Code that imports it fails. This is a breaking change: add a minor changeset (below 1.0) that says what to do.",
    "contracts: @toolcrib/x: @toolcrib/x no longer exports kept. Code that imports it does not compile. This is a breaking change: add a minor changeset (below 1.0) that says what to do.",
    "contracts: @toolcrib/x: make of @toolcrib/x has changed: `function make(a: string): void;` is `function make(a: number): void;`. Code that uses it may not compile. This is a breaking change: add a minor changeset (below 1.0) that says what to do.",
  ]);
  expect(readFileSync(join(house, "packages/x/api/index.api.md"), "utf8")).toContain("function make(a: number): void;");
  expect(existsSync(join(house, "packages/x/api/files.api.md"))).toBe(false);
});

test("an unknown flag is refused", () => {
  expect(command("--release").stderr).toContain("unknown --release; there are --update and --released");
});

const report = (...blocks: string[]): string =>
  `# Report\n\n\`\`\`ts\n\nimport { X } from 'x';\n\n${blocks.join("\n\n")}\n\n\`\`\`\n`;
const point = (...members: string[]): string =>
  report(`// @public\nexport interface Point {\n${members.map((one) => `    ${one}\n`).join("")}}`);

/** Each row: what it is, the report before and after, and the severities. */
test.each<[string, string, string, string[]]>([
  ["nothing", point("x: number;"), point("// (undocumented)", "x: number;"), []],
  ["an export gone", report("export const a: 1;", "export const b: 1;"), report("export const a: 1;"), ["breaking b"]],
  ["an export that is only named by others", report("export type A = 1;"), report("type A = 1;"), ["breaking A"]],
  ["a new export", report("export const a: 1;"), report("export const a: 1;", "export class B {\n}"), ["addition B"]],
  ["another type", point("x: number;"), point("x: string;"), ["breaking Point"]],
  ["a member gone", point("x: number;", "y: number;"), point("x: number;"), ["breaking Point"]],
  ["a new member", point("x: number;"), point("x: number;", "y: number;"), ["breaking Point"]],
  ["a new optional member", point("x: number;"), point("x: number;", "readonly y?: number;"), ["addition Point"]],
  [
    "a new optional member with members",
    point("x: number;"),
    point("y?: {", "    z: number;", "};", "x: number;"),
    ["addition Point"],
  ],
  ["a member that became optional", point("x: number;"), point("x?: number;"), ["breaking Point"]],
  [
    "a new optional parameter",
    report("export function f(a: string): void;"),
    report("export function f(a: string, b?: number): void;"),
    ["addition f"],
  ],
  [
    "a first optional parameter",
    report("export function f(): void;"),
    report("export function f(b?: number): void;"),
    ["addition f"],
  ],
  [
    "a new parameter",
    report("export function f(a: string): void;"),
    report("export function f(a: string, b: number): void;"),
    ["breaking f"],
  ],
  ["another result", report("export function f(): void;"), report("export function f(): string;"), ["breaking f"]],
  [
    "an overload gone",
    report("export function f(): void;", "export function f(a: 1): void;"),
    report("export function f(): void;"),
    ["breaking f"],
  ],
  [
    "a type that is not exported",
    report("type A = 1;", "export type B = A;"),
    report("type A = 2;", "export type B = A;"),
    ["breaking A"],
  ],
  ["a new type that is not exported", report("export type B = 1;"), report("type A = 2;", "export type B = 1;"), []],
  ["a re-export gone", report("export { X as Y }"), report("export { X }"), ["breaking Y", "addition X"]],
])("types: %s", (_, before, after, expected) => {
  expect(compareApi(before, after, "@toolcrib/x").map(({ severity, name }) => `${severity} ${name}`)).toEqual(expected);
});

/** Below 1.0 a caret takes patches alone, so a minor is where callers must look. */
test.each([
  ["0.4.0", "breaking", "patch", "minor"],
  ["0.4.0", "addition", undefined, "patch"],
  ["0.4.0", "wording", undefined, "patch"],
  ["1.4.0", "breaking", "minor", "major"],
  ["1.4.0", "addition", "patch", "minor"],
  ["1.4.0", "wording", undefined, "patch"],
] as const)("at %s a change that is %s needs more than %s: %s", (version, severity, below, enough) => {
  const missing = (level: string | undefined): string[] =>
    missingChangesets({ name: "x", version }, [{ severity, message: "It." }], new Map(level ? [["x", level]] : []));
  expect(missing(enough)).toEqual([]);
  expect(missing("major")).toEqual([]);
  expect(missing(below)).toHaveLength(1);
  expect(missing(below)[0]).toMatch(new RegExp(`^x: It\\. This is an? .*: add a ${enough} changeset`));
});

test("of several changesets for one package the highest level counts", () => {
  put("a.md", '---\n"x": minor\n"y": patch\n---\n\nx: major\n');
  put("b.md", '---\r\n"x": patch\r\n"y": major\r\n---\r\n');
  put("README.md", "# No changeset\n");
  expect([...readChangesets(house)].sort()).toEqual([
    ["x", "minor"],
    ["y", "major"],
  ]);
  expect(readChangesets(join(house, "none")).size).toBe(0);
});
