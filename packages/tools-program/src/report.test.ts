import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { echo, failureOf, run, toolOf } from "../testing/registries.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("programs");
});

const none = "\n\nIt made no call.";

describe("the error of a program has its line and column", () => {
  test.each<[string, string]>([
    ["const a = 1;\n  a.b.c;", `TypeError: cannot read property 'c' of undefined (line 2, column 3)\n> a.b.c;${none}`],
    ["throw new RangeError('far')", `RangeError: far (line 1, column 11)\n> throw new RangeError('far')${none}`],
    ["missing()", `ReferenceError: missing is not defined (line 1, column 1)\n> missing()${none}`],
    [
      "function f() {\n  null.x;\n}\n\nf();",
      `TypeError: cannot read property 'x' of null (line 2, column 3)\n> null.x;${none}`,
    ],
    ["throw null", `The program threw null${none}`],
    ["throw { a: 1 }", `The program threw {"a":1}${none}`],
    ["throw ''", `The program threw${none}`],
    [
      "text('é😀'), a.b",
      `ReferenceError: a is not defined (line 1, column 14)\n> text('é😀'), a.b\n\nPrinted:\né😀${none}`,
    ],
    [
      "text('é'); await tools.none()",
      "Tool not found: none (line 1, column 24)\n> text('é'); await tools.none()\n\nPrinted:\né\n\nCalls that it made:\n1. none {}: Tool not found: none",
    ],
    ["throw Object.assign(new Error('x'), { stack: 'program:99999999:1' })", `Error: x${none}`],
    ["throw Object.assign(new Error('x'), { stack: 'program:100000000000000000000:1' })", `Error: x${none}`],
    [
      "```js\nreturn 1\n```",
      `TypeError: not a function (line 1, column 1)\n> \`\`\`js\nLeave out the \`\`\` fence around the code.${none}`,
    ],
    ["return { get a() { throw 1 } }", `TypeError: The returned value cannot be written as JSON: 1${none}`],
    [
      "const a = {}; a.a = a; return a",
      `TypeError: The returned value cannot be written as JSON: TypeError: circular reference${none}`,
    ],
  ])("%s", async (code, words) => {
    expect(await failureOf(code)).toBe(words);
  });

  test.each([
    ["echo({})", "Did you mean tools.echo?"],
    ["await readOrder({})", "Did you mean tools.read_order?"],
    ["text(1);\nread_orders()", "Did you mean tools.read_order?"],
  ])("and of a tool without `tools.` where that is: %s", async (code, hint) => {
    expect(await failureOf(code, [echo, toolOf("read_order", () => "")])).toContain(`\n${hint}\n\n`);
    expect(await failureOf("elsewhere()", [echo])).not.toContain("Did you mean");
  });

  test.each<[string, string]>([
    ["let x = ;", "unexpected token in expression: ';' (line 1, column 9)\n> let x = ;"],
    ["const a = [1,\n 2", "it ends too early, where more is expected (line 2, column 3)\n> 2"],
    ["const text = `a\nb", "unexpected end of string (line 1, column 14)\n> const text = `a"],
    ["tools.echo({ a: 1 }", "it ends too early, where more is expected (line 1, column 20)\n> tools.echo({ a: 1 }"],
    ["if (true) {\n  text(1);", "it ends too early"],
    ["}", "there is one } too many (line 1, column 1)\n> }"],
    ["if (true) {\n  text(1);\n} }", "there is one } too many (line 3, column 3)\n> } }"],
    ["text('é😀'); let a = ;", "(line 1, column 22)"],
    ["\tlet a = ;", "(line 1, column 10)"],
    ["\t\tconst a: number = ;", "(line 1, column 21)"],
    ["\t\tenum A { B }", "(line 1, column 3)"],
    ["\ufefflet x = ;", "(line 1, column 9)"],
    [
      "import fs from 'node:fs';\nreturn 1",
      "(line 1, column 8)\n> import fs from 'node:fs';\nA program has the JavaScript language, and no modules",
    ],
    ["export const a = 1;", "\nA program has the JavaScript language, and no modules"],
    ["const a: number = 1;\nlet b: = 2;", "Unexpected token `=`. Expected"],
    ["const a: number = 1;\nlet b: = 2;", "(line 2, column 8)\n> let b: = 2;"],
    [
      "enum Color { Red }",
      "TypeScript enum is not supported: only types that can be left out are; write an object: const Color = { Red: 0, Green: 1 } (line 1, column 1)",
    ],
    ["\nnamespace A { export const b = 1 }", "write plain functions and constants (line 2, column 1)"],
    [
      "class A { constructor(private a: string) {} }",
      "assign the field in the constructor: this.x = x (line 1, column",
    ],
    ["const a = <string>b;", "write `x as T`"],
    ["\u0000", "(line 1, column 1)"],
    ["😀", "(line 1, column 1)"],
    ["await = 1", "(line 1, column"],
  ])("that does not parse: %s", async (code, words) => {
    const told = await failureOf(code);
    expect(told).toMatch(/^The program does not parse: /);
    expect(told).toContain(words);
  });
});

describe("types are stripped", () => {
  test.each<[string, string]>([
    ["const a: number = 1; return a", "1"],
    ["interface A { x: number }\ntype B = A[];\nfunction f<T>(x: T): T { return x }\nreturn f<number>(1)", "1"],
    ["const all = (await tools.echo({})) as string;\nreturn all!.length satisfies number", "2"],
    ["return (<T,>(x: T) => x)(3)", "3"],
  ])("from TypeScript: %s", async (code, answer) => {
    expect(await run(code, [echo])).toBe(answer);
  });

  test("but JavaScript is run as it is, where stripping would change it", async () => {
    expect(await run("const a = 1, b = 2, c = 0; return a < b > (c)")).toBe("true");
  });
});

describe("a program that fails lists its calls, so that they are not made again", () => {
  const write = toolOf("write", ({ path }) => `wrote ${String(path)}`, { readOnly: false });
  const options = { tools: ["write", "echo"] };

  test("with arguments and what came of each", async () => {
    const code =
      "text('begun'); await tools.write({ path: 'a' }); await tools.echo({ long: 'x'.repeat(500) }); tools.nothing.a.b";
    expect(await failureOf(code, [echo, write], options)).toBe(
      [
        "TypeError: cannot read property 'b' of undefined (line 1, column 95)",
        `> ${code}`,
        "",
        "Printed:\nbegun",
        "",
        "Calls that it made:",
        '1. write {"path":"a"}: ok',
        `2. echo {"long":"${"x".repeat(191)}…: ok`,
      ].join("\n"),
    );
  });

  const many = `text("p".repeat(9000));
    for (let n = 0; n < 150; n += 1) { await tools.echo({ n, pad: "x".repeat(40) }); if (n % 50 === 0) await tools.write({ path: "file " + n }); }
    throw new Error("late".repeat(1000))`;

  test("within 8,192 characters: calls that may have changed something first, and the rest is counted", async () => {
    const told = await run(many, [echo, write], options);
    expect(told.length).toBeLessThanOrEqual(8192 + "Error executing run_program: ".length);
    for (const n of [0, 50, 100]) expect(told).toContain(`write {"path":"file ${n}"}: ok`);
    expect(told).toMatch(/\nand \d+ more: \d+ ok$/);
    expect(told).toMatch(/\[… 7001 characters left out …\]/);
  });

  test("and all of it is in a file where there is a folder for it", async () => {
    const told = await run(many, [echo, write], { ...options, spill: join(folder, "spills") });
    const [name = ""] = readdirSync(join(folder, "spills"));
    const path = join(folder, "spills", name);
    expect(told.endsWith(`\n\n[all of this is in ${path}]`)).toBe(true);
    expect(told.length).toBeLessThanOrEqual(8192 + "Error executing run_program: ".length);
    const whole = readFileSync(path, "utf8");
    expect(whole.match(/^\d+\. (?:echo|write) /gm)).toHaveLength(153);
    expect(whole).toContain("p".repeat(9000));
    expect(whole).toContain("late".repeat(1000));
  });
});

describe("an answer that is longer than it may be", () => {
  const code = 'for (let n = 0; n < 10_000; n += 1) text("line " + n)';

  test("shows its head and its tail, and says that the rest is not kept", async () => {
    const answer = await run(code, [], { maxOutputBytes: 100 });
    expect(answer).toMatch(
      /^line 0\n(?:line \d\n)+\[… 988\d\d bytes left out; they could not be written to a file \(no folder is set for it\) …\]\n(?:line 99\d\d\n)+/,
    );
    expect(answer).toMatch(/\nline 9999\n\n\[truncated: shown \d+ of 98890 bytes\]$/);
  });

  test("is whole in a file that its owner alone may read, where a folder is set", async () => {
    const answer = await run(code, [], { maxOutputBytes: 100, spill: join(folder, "spills") });
    const path = /all of it is in (.*)\]$/.exec(answer)?.[1] ?? "";
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(10_001);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "spills")).mode & 0o777).toBe(0o700);
  });

  test("makes no file where it is short, and follows no link", async () => {
    const spill = join(folder, "spills");
    expect(await run("return 'short'", [], { spill })).toBe("short");
    expect(existsSync(spill)).toBe(false);
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), spill);
    expect(await run(code, [], { maxOutputBytes: 100, spill })).toContain(
      "they could not be written to a file (it is a link or a file, not a folder)",
    );
    expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
    expect(await run(code, [], { maxOutputBytes: 100, spill: "/dev/null/x" })).toContain("(ENOTDIR)");
  });

  test("of a program that prints 300 MB is bounded, and the first 16 MB are in the file", async () => {
    const much = 'const line = "x".repeat(1e6); for (let n = 0; n < 300; n += 1) text(line); return "end"';
    const answer = await run(much, [], { maxOutputBytes: 100, spill: join(folder, "spills"), guestTimeoutMs: 60_000 });
    expect(answer).toMatch(/\nend\n\n\[truncated: shown \d+ of 300000303 bytes; the first 16777216 are in .*\]$/);
    expect(statSync(join(folder, "spills", readdirSync(join(folder, "spills"))[0] ?? "")).size).toBe(2 ** 24);
  });
});
