import { describe, expect, test } from "vitest";
import { echo, failureOf, registryOf, run, toolOf } from "../testing/registries.ts";

const quick = { guestTimeoutMs: 100 };
const overTime = "The program was ended: it ran for more than 100 ms, the time of its calls not counted";
const overMemory = "The program was ended: it needs more than 8388608 bytes of memory";

describe("a program that runs too long is ended", () => {
  test.each([
    ["while (true);"],
    ["try { while (true); } catch {} finally { return 1 }"],
    ["await 1; for (;;) await 1;"],
    ["const again = async () => { await 1; return again(); }; await again();"],
    ["for (;;) queueMicrotask(() => {}), await 1;"],
    ["return /^(a+)+$/.test('a'.repeat(40) + 'b');"],
    ["[3, 1, 2].sort(() => { for (;;); });"],
    ["return { toJSON() { for (;;); } };"],
    ["return { get a() { for (;;); } };"],
    ["throw { toString() { for (;;); } } + '';"],
    ["new Proxy({}, { get() { for (;;); } }).a;"],
    ["await { then() { for (;;); } };"],
    ["return { then() { for (;;); } };"],
    ["for (;;) text('');"],
    ["for (;;) tools.echo().catch(() => {});"],
    ["for (;;) try { tools.echo(1n) } catch {}"],
    ["(function again() { queueMicrotask(again) })(); return 1"],
    ["(async () => { for (;;) await null })(); return 1"],
    ["(async () => { await 1; await 1; await 1; for (;;); })(); return 1"],
    ["const again = () => Promise.resolve().then(again); again(); return 1"],
  ])("%s", async (code) => {
    expect(await failureOf(code, [echo], quick)).toContain(overTime);
  });

  test("and what it printed is kept", async () => {
    expect(await failureOf("text('before'); while (true);", [], quick)).toMatch(
      /\n\nPrinted:\nbefore\n\nIt made no call\.$/,
    );
  });

  test.each([
    "for (;;) text(line);",
    "for (;;) { try { console.log(line) } catch {} }",
    "for (;;) { await null; text(line); }",
  ])("and of what it prints without end the head and the tail: %s", async (code) => {
    const answer = await failureOf(`text("begun"); const line = "é".repeat(2e5); ${code}`, [], { guestTimeoutMs: 700 });
    expect(answer).toContain(
      "The program was ended: it ran for more than 700 ms, the time of its calls not counted (line 1",
    );
    expect(answer).toMatch(/\n\nPrinted:\nbegun\né+\n\[… \d+ characters left out …\]\né+\n\nIt made no call\.$/);
    expect(answer.length).toBeLessThanOrEqual(8192);
  });

  test("and what it printed before work that does not look at the time is kept, too", async () => {
    const code = `text("before, é"); for (;;) new Array(1e6).fill("x").join("y");`;
    // With a place where the thread itself finds in time that it is late.
    expect(await failureOf(code, [], { ...quick, memoryBytes: 2 ** 28 })).toMatch(
      /^The program was ended: it ran for more than 100 ms, the time of its calls not counted(?: \(line 1, column \d+\)\n> .*)?\nDo less in one program, or hand the work to a tool\.\n\nPrinted:\nbefore, é\n\nIt made no call\.$/,
    );
    // Another program in the thread's place starts with nothing printed.
    expect(await run("return 1")).toBe("1");
  });

  test("but the time of its calls does not count", async () => {
    const slow = toolOf("slow", () => new Promise((resolve) => setTimeout(() => resolve("done"), 800)));
    expect(await run("await tools.slow(); return tools.slow()", [slow], { guestTimeoutMs: 1500 })).toBe("done");
  });

  test("and the time between its calls does", async () => {
    const code = "for (;;) { await tools.echo(); for (let n = 0; n < 2e4; n += 1); }";
    expect(await failureOf(code, [echo], { ...quick, maxCalls: 2000 })).toContain(overTime);
  });
});

describe("a program that takes too much memory is ended, and the next one runs", () => {
  const small = { memoryBytes: 8 * 2 ** 20 };

  test.each([
    ["const all = []; for (;;) all.push(new Array(1e4).fill(1));"],
    ["const all = []; for (;;) { try { all.push('x'.repeat(1e5) + all.length) } catch {} }"],
    ["let text = 'x'; for (;;) text += text;"],
    ["return 'x'.repeat(5e8).length;"],
    ["return new Array(1e8).fill(1).length;"],
    ["return new Uint8Array(7e7).length;"],
    ["return new ArrayBuffer(2 ** 31).byteLength;"],
    ["await 1; const map = new Map(); for (let n = 0; ; n += 1) map.set(n, { n });"],
    ["const all = []; for (;;) all.push(new Promise(() => {}));"],
    ["return await tools.much()"],
  ])("%s", async (code) => {
    const much = toolOf("much", () => "x".repeat(2 ** 20));
    const all = code.includes("much") ? "const all = []; for (;;) all.push(await tools.much())" : code;
    const words = await failureOf(all, [much], small);
    expect(words).toMatch(
      /needs more than 8388608 bytes of memory|string too long|invalid array buffer length|Invalid string length/i,
    );
    if (!code.startsWith("let") && !code.includes("2 ** 31") && !code.includes("5e8"))
      expect(words).toContain(overMemory);
    expect(await run("return 1", [], small)).toBe("1");
  });
});

test.each([
  ["function again() { return again() + 1 } again();"],
  ["function again() { try { again() } catch { again() } } again();"],
  ["const again = () => [1].map(again); again();"],
  ["let deep = []; for (let n = 0; n < 1e5; n += 1) deep = [deep]; return JSON.stringify(deep);"],
  ["JSON.parse('['.repeat(1e6))"],
  ["const again = { get a() { return this.a } }; again.a;"],
  ["eval('('.repeat(1e5))"],
  ["new RegExp('('.repeat(1e5))"],
  ["const tools2 = new Proxy({}, { get: (_, name, self) => self[name] }); tools2.a"],
  ["class A extends Proxy {} ; let p = {}; for (let n = 0; n < 1e5; n += 1) p = new Proxy(p, {}); p.x"],
])("a program that recurses fails in words, and the next one runs: %s", async (code) => {
  expect(await failureOf(code, [], { guestTimeoutMs: 3000 })).toMatch(/^\w[\s\S]*\n\nIt made no call\.$/);
  expect(await run("return 1")).toBe("1");
});

test("stackBytes bounds how deep a program may recurse", async () => {
  const code = "let depth = 0; const again = () => { depth += 1; again() }; try { again() } catch {} return depth";
  const [small, large] = [Number(await run(code, [], { stackBytes: 32 * 1024 })), Number(await run(code))];
  expect(small).toBeGreaterThan(10);
  expect(large).toBeGreaterThan(5 * small);
});

test.each([
  ["await new Promise(() => {});"],
  ["await Promise.race([]);"],
  ["return { then() {} };"],
  ["for await (const one of { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) });"],
  ["await Promise.all([tools.echo(), new Promise(() => {})]);"],
])("a promise that nobody can settle ends the program at once: %s", async (code) => {
  expect(await failureOf(code, [echo])).toContain(
    "The program was ended: it awaits a promise that nothing can settle any more\nOnly calls of tools take time here: await those.",
  );
});

describe("calls beyond maxCalls", () => {
  test("reject, can be caught, and are counted; those before them run", async () => {
    let made = 0;
    const count = toolOf("count", () => {
      made += 1;
      return String(made);
    });
    const code = `const all = await Promise.allSettled(Array.from({ length: 10_000 }, () => tools.count()));
      return [all.filter(({ status }) => status === "fulfilled").length, all.at(-1).reason.code, all.at(-1).reason.message]`;
    const [done, reason, message] = JSON.parse((await run(code, [count], { maxCalls: 3 })).split("\n\n")[0] ?? "");
    expect([done, made, reason]).toEqual([3, 3, "too_many_calls"]);
    expect(message).toBe(
      "A program may make 3 calls (maxCalls), and this one has made them: return what you have, and do the rest in another program",
    );
    expect(await run(code, [count], { maxCalls: 3 })).toContain("[9997 calls were refused, as there were too many]");
  });

  test("count refused and unknown calls too", async () => {
    const code = "for (const name of ['none', 'write']) await tools[name]().catch(() => {}); await tools.echo()";
    const write = toolOf("write", () => "", { readOnly: false });
    expect(await failureOf(code, [echo, write], { maxCalls: 2 })).toContain("A program may make 2 calls (maxCalls)");
  });

  test("are not those of searchTools and describeTool, which have a limit of their own", async () => {
    const code =
      "await searchTools('a'); await describeTool('echo'); await tools.echo(); await tools.echo(); return searchTools('b')";
    expect(await failureOf(code, [echo], { maxCalls: 2 })).toContain("A program may look up tools 2 times (maxCalls)");
  });
});

test("each rejection that a program does not handle is counted", async () => {
  const reject = `Promise.reject(new Error("no"))`;
  const code = `for (let n = 0; n < 10; n += 1) ${reject}; ${reject}.catch(() => {}); const late = ${reject}; await null; late.catch(() => {}); return 1`;
  expect(await run(code)).toBe("1\n\n[10 rejections were not handled]");
});

test("a text that is too long is an invalid argument", async () => {
  expect(await run(`return "${"é".repeat(60)}"`, [], { maxSourceBytes: 100 })).toBe(
    "Error executing run_program: Invalid arguments: code: must have at most 100 bytes, and has 129: do less in one program, or read data by tools",
  );
});

describe("what differs from run to run elsewhere does not here", () => {
  test("there is no clock but the one that stands while the program computes, in UTC", async () => {
    const code = `const from = Date.now(); for (let n = 0; n < 1e6; n += 1); const same = Date.now() === from;
      await tools.wait(); return [same, Date.now() > from, new Date().getTimezoneOffset(), new Date(0).toString()]`;
    const wait = toolOf("wait", () => new Promise((resolve) => setTimeout(() => resolve(""), 5)));
    expect(await run(code, [wait])).toBe('[true,true,0,"Thu Jan 01 1970 00:00:00 GMT+0000"]');
  });

  test.each([
    ...["setTimeout", "setInterval", "setImmediate", "fetch", "process", "require", "module", "Buffer", "WebAssembly"],
    ...[
      "WeakRef",
      "FinalizationRegistry",
      "performance",
      "navigator",
      "XMLHttpRequest",
      "Worker",
      "Atomics",
      "Deno",
      "Bun",
    ],
    ...["std", "os", "print", "gc", "scriptArgs", "crypto", "global", "window", "self", "importScripts"],
  ])("%s is not there", async (name) => {
    expect(await run(`return [typeof ${name}, "${name}" in globalThis].join()`)).toBe("undefined,false");
  });

  test.each(["await import('node:fs')", "await import('./x.js')", "await import('data:text/javascript,1')"])(
    "%s loads nothing, and the answer says what there is",
    async (code) => {
      expect(await failureOf(code)).toMatch(
        /could not load module .*\nA program has the JavaScript language, and no modules/,
      );
    },
  );
});

test("programs in one thread after another have new globals", async () => {
  const registry = registryOf([]);
  const code =
    "const before = globalThis.left ?? Object.prototype.left; Object.prototype.left = globalThis.left = 1; return String(before)";
  for (let n = 0; n < 6; n += 1) expect(await registry.execute("run_program", { code })).toBe("undefined");
});

describe("a program that is nested too deeply does no harm to those after it", () => {
  test.each([..."([{!".split(""), "if (1) ", "(a: ", "a ? ", "function f() { ", "const a: number = (", "type A = ["])(
    "%s",
    async (part) => {
      expect(await failureOf(part.repeat(5000))).toMatch(/^The program (?:does not parse|was ended): /);
      expect(await run("const a: number = 1; return a")).toBe("1");
      expect(await failureOf("enum A { B }\nreturn A.B")).toContain("write an object");
    },
  );

  test("and is told so", async () => {
    expect(await failureOf("(".repeat(5000))).toContain("The program does not parse: it is nested too deeply\n");
    const types = `const a: number = ${"[".repeat(2000)}${"]".repeat(2000)}`;
    expect(await failureOf(types)).toContain("; it is nested too deeply to be read as TypeScript (line 1, column");
  });
});
