// Texts that end the function around a program, to run outside of it.
import { expect, test } from "vitest";
import { echo, registryOf } from "../testing/registries.ts";

test.each([
  ["}); text('outside'); (async function () {"],
  ["return 1 }); text('outside'); (async () => { return 2"],
  ["}); tools.echo({ a: 1 }).then((r) => text('outside', r)); (async function () {"],
  ["}); throw new Error('outside'); (async () => {"],
  ["}); for (;;); (async () => {"],
  ["}); ({ a: 1 }); (5"],
  ["}); (() => ({ then(take) { take('outside') } })"],
  ["}); (new Proxy(function () {}, { apply: () => ({ then(take) { take('outside') } }) })"],
  ["}, text('outside'), async () => {"],
  ["}, async () => { return 'outside'"],
  ["}, async more() {"],
  ["}, more: async () => {"],
  ["}, [text('outside')]: {"],
  ["}, get more() {"],
  ["}, more, {"],
  ["}, more = {"],
  ["}, ...{"],
  ["} }); text('outside'); ({ async main() {"],
  ["} }); text('outside'); (async () => {"],
  ["*/ }); text('outside'); (async () => { /*"],
  ["} : 0); text('outside'); (0 ? async () => {"],
  ["} : 0, text('outside'), 0 ? async () => {"],
  ["}, 0 ? async () => { return 'outside' } : async () => {"],
  ["}, async () => { return 'outside' } : () => {"],
  ["}) /* ` */ ; text('outside'); (async () => { //`"],
  ["}\n)\ntext('outside')\n;(async () => {"],
  ["}\n-->\n); text('outside'); (async () => {"],
  ["<!-- }); text('outside'); (async () => {\n}); text('outside'); (async () => {"],
  ["}) ; text('outside'); label: { (async () => {"],
  ["const a: number = 1; }); text('outside'); (async () => {"],
  ["const a: number = 1; } }); text('outside'); ({ async main() {"],
  ["const a: number = 1; }, text('outside'), async (): Promise<void> => {"],
  ["}); globalThis.before = Math.random(); (async () => {"],
])("a program is the body of its function and nothing else: %s", async (code) => {
  const calls: unknown[] = [];
  const registry = registryOf([echo], { guestTimeoutMs: 1000 });
  registry.use((call, next) => {
    if (call.name === "echo") calls.push(call.args);
    return next(call);
  });
  const output = await registry.execute("run_program", { code });
  expect(output).toContain("Error executing run_program: The program does not parse: ");
  expect(output).toMatch(/\n\nIt made no call\.$/);
  expect(calls).toEqual([]);
});

test.each([
  [
    "return [this === globalThis, typeof arguments_()]; function arguments_() { return arguments.length }",
    '[true,"number"]',
  ],
  ["return { a: { b: [() => {}] } } // }", '{"a":{"b":[null]}}'],
  ["return `})` // `", "})"],
  ["return /[})]/.source", "[})]"],
  ["return '})' /* }) */\n//", "})"],
  ["return (async function () { return await 1 })()", "1"],
])("any other program is as it was: %s", async (code, expected) => {
  expect(await registryOf([]).execute("run_program", { code })).toBe(expected);
});
