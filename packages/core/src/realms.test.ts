import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { isError, isErrorNamed } from "./errors.ts";
import type { ExecutableTool } from "./interface.ts";
import { readOptions } from "./options.ts";
import { ToolRegistry } from "./registry/registry.ts";

/** A value made in another realm, as Jest and `node:vm` make them: no instance of this one's classes. */
function foreign<T>(code: string): T {
  return runInNewContext(`(${code})`) as T;
}

const parameters =
  '{ type: "object", properties: { list: { anyOf: [{ type: "array" }] } }, additionalProperties: false }';
const schema = `{ type: "function", function: { name: "a", description: "A.", parameters: ${parameters} } }`;

test("an error of another realm is an error, with its name", () => {
  const error = foreign<Error>('Object.assign(new Error("ENOENT: /host/path"), { code: "ENOENT" })');
  expect(error).not.toBeInstanceOf(Error);
  expect(isError(error)).toBe(true);
  expect(isErrorNamed(foreign('new RangeError("r")'), "RangeError")).toBe(true);
  expect(isError(new DOMException("d"))).toBe(true);
  for (const other of [null, "Error", { message: "m" }]) expect(isError(other)).toBe(false);
});

test("tools, schemas, arguments and promises of another realm work like any other", async () => {
  const tool = foreign<ExecutableTool>(`{
    name: "a",
    getSchema: () => (${schema}),
    parseArguments: (value) => Promise.resolve({ value }),
    execute: (args) => Promise.resolve(JSON.stringify(args)),
  }`);
  const registry = new ToolRegistry([tool]);
  registry.guard(({ args }) => Array.isArray(args.list));
  expect(await registry.execute("a", foreign("{ list: [1, { b: 2 }] }"))).toBe('{"list":[1,{"b":2}]}');

  const unchecked = foreign<ExecutableTool>(`{ name: "a", getSchema: () => (${schema}), execute: async () => "ok" }`);
  const checked = new ToolRegistry([unchecked]);
  expect(await checked.execute("a", foreign("{ list: [] }"))).toBe("ok");
  expect(await checked.execute("a", foreign("{ list: 5 }"))).toContain("list: fits none of the forms");
  expect(await checked.execute("a", foreign("{ lits: [] }"))).toContain("did you mean list?");
});

test("options of another realm are plain objects", () => {
  readOptions<{ root?: string }>("f", foreign("{ root: '/x' }"), { root: true });
  expect(() => readOptions<{ root?: string }>("f", foreign("['/x']"), { root: true })).toThrow("got an array");
});
