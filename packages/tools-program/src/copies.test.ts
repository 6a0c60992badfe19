// Texts on their way out of the memory of a program.
import { expect, test } from "vitest";
import { failureOf, run, toolOf } from "../testing/registries.ts";

const overMemory = /^The program was ended: it needs more than \d+ bytes of memory/;

test("a call whose arguments cannot be copied ends the program, and does not run without them", async () => {
  const answers: string[] = [];
  const calls: object[] = [];
  const remove = toolOf("remove", (args) => {
    calls.push(args);
    return "removed";
  });
  for (let bytes = 7_600_000; bytes < 8_100_000; bytes += 10_000) {
    const code = `const full = new Uint8Array(${bytes}); return await tools.remove({ path: "é".repeat(1e5) })`;
    answers.push(await run(code, [remove], { memoryBytes: 2 ** 23 }));
  }
  expect(calls.filter((args) => !("path" in args))).toEqual([]);
  // The memory is short in some of them.
  expect(calls.length).toBeGreaterThan(0);
  expect(answers.filter((answer) => answer !== "removed").length).toBeGreaterThan(0);
  expect(answers.join("\n")).not.toContain("<null>");
});

test.each([
  [`text("é".repeat(3e6))`],
  [`try { text("é".repeat(3e6)) } catch {} return 1`],
  [`return "é".repeat(3e6)`],
  [`throw new Error("é".repeat(3e6))`],
  [`queueMicrotask(() => { throw new Error("é".repeat(3e6)) }); await null; await null`],
])("a text that cannot be copied is no other text: %s", async (code) => {
  const answer = await failureOf(code, [toolOf("echo", () => "ran")], { memoryBytes: 2 ** 23 });
  expect(answer).toMatch(overMemory);
  expect(answer).not.toContain("<null>");
});

test("a text as short as the engine's for a lost one is itself", async () => {
  const code = `text("<null>"); text(await tools.echo({ a: "<null>" })); return "<null>"`;
  expect(await run(code, [toolOf("echo", ({ a }) => String(a))])).toBe("<null>\n<null>\n<null>");
});

test.each([
  ["{ a: 1n }", "they cannot be written as JSON: TypeError: BigInt"],
  ["(() => { const a = {}; a.a = a; return a })()", "they cannot be written as JSON: TypeError: circular reference"],
  ["{ get a() { throw new Error('own') } }", "they cannot be written as JSON: Error: own"],
  ["{ toJSON() {} }", "expected an object of arguments, got undefined"],
  ["() => {}", "expected an object of arguments, got [function ]"],
  ["Symbol('a')", "expected an object of arguments, got Symbol(a)"],
  ["1 / 0", "expected an object of arguments, got Infinity"],
])("arguments that are no JSON reach no tool: %s", async (args, why) => {
  const calls: unknown[] = [];
  const remove = toolOf("remove", (given) => calls.push(given));
  const failed = await failureOf(`await tools.remove(${args})`, [remove]);
  expect(failed).toContain(`Error executing remove: Invalid arguments: ${why}`);
  expect(failed).toMatch(/Calls that it made:\n1\. remove : .*Invalid arguments/);
  expect(calls).toEqual([]);
});

test("names and arguments that are too long stay in the memory of the program", async () => {
  const code = `
    const name = "x".repeat(5e6);
    const caught = (error) => error.message.slice(0, 200);
    text(await tools[name]({}).catch(caught));
    text(await tools.echo({ name }).catch(caught));
    const large = await Promise.allSettled(Array.from({ length: 18 }, () => tools.echo({ a: "x".repeat(1e6) })));
    text(large.filter(({ status }) => status === "fulfilled").length);
    text(large.at(-1).reason.message, large.at(-1).reason.code);
    return await tools.echo({ a: "x".repeat(1e6) });`;
  const answer = await run(code, [toolOf("echo", () => "ran")], { guestTimeoutMs: 60_000 });
  expect(answer.split("\n")).toEqual([
    expect.stringMatching(/^Tool not found: x+/),
    "Error executing echo: Invalid arguments: they have 5000011 characters as JSON, a call of a program at most 1048576 bytes",
    "16",
    "Error executing echo: Invalid arguments: the calls that wait may have 16777216 characters of arguments together: await some of them first invalid_arguments",
    "ran",
  ]);
});
