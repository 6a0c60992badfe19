import { type ApprovalAnswer, ToolRegistry, toolOutput } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { echo, failureOf, registryOf, run, toolOf } from "../testing/registries.ts";
import { createProgramTools } from "./index.ts";

describe("the answer", () => {
  test.each<[string, string]>([
    ['text("one"); console.log("two", 2, { a: [1] }); return "three"', 'one\ntwo 2 {"a":[1]}\nthree'],
    ["", "(no output)"],
    ["return", "(no output)"],
    ["return null", "null"],
    ["return 0", "0"],
    ["return [undefined, () => 1, NaN]", "[null,null,null]"],
    ["return { a: 1n, b: new Map([[1, 2]]), c: new Set([3]) }", '{"a":"1","b":[[1,2]],"c":[3]}'],
    ["return [new Error('no'), new Date(0)]", '["Error: no","1970-01-01T00:00:00.000Z"]'],
    ["return Symbol('s')", "Symbol(s)"],
    [
      "text(undefined); text(null); text(() => 1); console.error('e'); console.table([1])",
      "undefined\nnull\n[function ]\ne\n[1]\n",
    ],
    ["return 'a\\u0000b\\ud83d\\ude00'", "a\u0000b😀"],
  ])("of %s is what it prints, then what it returns", async (code, answer) => {
    expect(await run(code)).toBe(answer);
  });

  test("tells of calls that were not awaited, of rejections that nobody handled, and which failed", async () => {
    const fail = toolOf("fail", () => Promise.reject(new Error("no such thing")));
    expect(await run("tools.echo(); return 1", [echo])).toBe(
      "1\n\n[1 call was not awaited, so the program did not see what came of it]",
    );
    expect(await run("tools.fail({ a: 1 }); await tools.echo(); return 1", [echo, fail])).toBe(
      '1\n\n[1 rejection was not handled]\nFailed:\n1. fail {"a":1}: Error executing fail: no such thing',
    );
    expect(await run("try { await tools.fail() } catch (error) { return error.message }", [fail])).toBe(
      "Error executing fail: no such thing",
    );
  });
});

describe("a call", () => {
  test("gives the text of a tool, and data where it has an output schema", async () => {
    const data = toolOf("data", () => toolOutput("1", { data: { a: [1] } }), { outputSchema: { type: "object" } });
    expect(await run("return [await tools.echo({ a: 1 }), (await tools.data()).a[0] + 1]", [echo, data])).toBe(
      '["{\\"a\\":1}",2]',
    );
  });

  test("rejects in words where a tool with an output schema gives no data that fits, or too much", async () => {
    const schema = { outputSchema: { type: "object", properties: { a: { type: "string" } } } };
    const none = toolOf("none", () => "1", schema);
    const wrong = toolOf("wrong", () => toolOutput("1", { data: { a: 1 } }), schema);
    const large = toolOf("large", ({ n }) => toolOutput("1", { data: { a: "x".repeat(Number(n)) } }), schema);
    const told = (name: string): string =>
      `Error executing ${name}: it gave no data for a program, of at most 1048576 bytes and as its outputSchema says`;
    const code = `return Promise.allSettled([tools.none(), tools.wrong(), tools.large({ n: 2 ** 20 }), tools.large({ n: 2 ** 20 - 20 })])
      .then((all) => all.map(({ reason, value }) => reason?.message ?? value.a.length))`;
    const all = [told("none"), told("wrong"), told("large"), 2 ** 20 - 20];
    expect(JSON.parse(await run(code, [none, wrong, large]))).toEqual(all);
  });

  test("rejects with the text that a user gives in place of a tool with an output schema, whose data it is not", async () => {
    const schema = { outputSchema: { type: "object" } } as const;
    const ran: unknown[] = [];
    const data = toolOf("data", () => ran.push(1), schema);
    const registry = registryOf([data, echo]).guard(({ name }) => name === "run_program" || { ask: "May it?" });
    const code = `return [await tools.data().catch(({ message }) => message), await tools.echo()]`;
    const approve = (): ApprovalAnswer => ({ output: "ask Ann" });
    expect(JSON.parse(await registry.execute("run_program", { code }, { approve }))).toEqual([
      "Error executing data: it did not run; the answer in its place is: ask Ann",
      "ask Ann",
    ]);
    expect(ran).toEqual([]);
  });

  test("takes and gives a text of up to 1 MiB of UTF-8, else rejects in words", async () => {
    const much = toolOf("much", ({ n }) => "é".repeat(Number(n)));
    expect(await run("return (await tools.much({ n: 2 ** 19 })).length", [much])).toBe(String(2 ** 19));
    expect(await failureOf("await tools.much({ n: 2 ** 19 + 1 })", [much])).toContain(
      "Error executing much: its result has 1048578 bytes, that of a call of a program at most 1048576: ask for less (line 1, column",
    );
    expect(await failureOf("await tools.much({ n: 'x'.repeat(2 ** 20) })", [much])).toContain(
      "Error executing much: Invalid arguments: they have 1048584 bytes, a call of a program at most 1048576",
    );
  });

  test.each<[string, string, string]>([
    ["tools.unknown()", "Tool not found: unknown", "not_found"],
    ["tools.ecko()", "Tool not found: ecko. Did you mean echo?", "not_found"],
    [
      "tools.echo(1)",
      "Error executing echo: Invalid arguments: expected an object of arguments, got 1",
      "invalid_arguments",
    ],
    ["tools.strict({ path: 5, more: 1 })", "Error executing strict: Invalid arguments:", "invalid_arguments"],
    [
      "tools.echo({ a: 1n })",
      "Error executing echo: Invalid arguments: they cannot be written as JSON: TypeError:",
      "invalid_arguments",
    ],
    [
      "tools.write()",
      "Tool not available to programs: write. Return what you have, and call it directly",
      "not_available",
    ],
    ["tools.off()", "Tool not available: off", "not_available"],
    ["tools.run_program({ code: '' })", "Tool not available to programs: run_program", "not_available"],
    ["searchTools()", 'searchTools takes a text: searchTools("…")', "invalid_arguments"],
    ["describeTool('ecko')", "Tool not found: ecko. Did you mean echo?", "not_found"],
  ])("%s rejects in the registry's words, with its code", async (call, message, code) => {
    const strict = toolOf("strict", () => "", {});
    const parameters = { type: "object", properties: { path: { type: "string" } }, additionalProperties: false };
    const getSchema: typeof strict.getSchema = () => {
      return { type: "function", function: { name: "strict", description: "Is strict.", parameters } };
    };
    const write = toolOf("write", () => "", { readOnly: false });
    const registry = registryOf([echo, { ...strict, getSchema }, write, toolOf("off", () => "")]);
    registry.disable("off");
    const output = await registry.execute("run_program", {
      code: `try { await ${call} } catch (error) { return [error.message, error.code, error.name, error instanceof Error] }`,
    });
    const [told, ...rest] = JSON.parse(output);
    expect(told).toContain(message);
    expect(rest).toEqual([code, "ToolError", true]);
  });
});

describe("the tools of a program", () => {
  const names = (
    tools: Parameters<typeof registryOf>[0],
    options?: Parameters<typeof registryOf>[1],
  ): Promise<string> => run("return Object.keys(tools).join()", tools, options);
  const write = toolOf("write", () => "written", { readOnly: false });

  test("are the read-only ones, unless others are chosen", async () => {
    expect(await names([echo, write])).toBe("echo");
    expect(await names([echo, write], { tools: ["write"] })).toBe("write");
    expect(await names([echo, write], { tools: ({ name }) => name !== "echo" })).toBe("write");
    expect(await names([echo, write], { tools: [] })).toBe("(no output)");
    expect(await run("return tools.write()", [write], { tools: ["write"] })).toBe("written");
  });

  test("are those whose callers say so, whatever is chosen", async () => {
    const forModel = { ...echo, callers: ["model"] } as const;
    const forPrograms = { ...write, callers: ["programs"] } as const;
    expect(await names([forModel, forPrograms])).toBe("write");
    expect(await names([forModel, forPrograms], { tools: ["echo"] })).toBe("write");
    expect(await run("return tools.write()", [forPrograms])).toBe("written");
  });

  test("make run_program read-only where it can change nothing, and it keeps to that", async () => {
    const isReadOnly = (tools: Parameters<typeof registryOf>[0], options?: Parameters<typeof registryOf>[1]): unknown =>
      registryOf(tools, options).get("run_program")?.readOnly;
    expect(isReadOnly([echo, write])).toBe(true);
    expect(isReadOnly([echo], { tools: ["echo"] })).toBeUndefined();
    expect(isReadOnly([{ ...write, callers: ["programs"] }])).toBeUndefined();
    const registry = registryOf([echo]);
    registry.register({ ...write, callers: ["programs"] });
    expect(await registry.execute("run_program", { code: "return tools.write()" })).toContain(
      "Tool not available to programs: write",
    );
  });

  test("may come later, and are found and called then", async () => {
    const registry = registryOf([echo]);
    registry.register(toolOf("late_one", () => "late", { deferred: true, description: "Comes late. It says more." }));
    const code = "return [await searchTools('comes'), await describeTool('late_one'), await tools.late_one()]";
    expect(JSON.parse(await registry.execute("run_program", { code }))).toEqual([
      [{ name: "late_one", description: "Comes late." }],
      "/** Comes late. It says more. */\nlate_one(args?: Record<string, unknown>): Promise<string>;",
      "late",
    ]);
  });

  test("cannot be changed by a program, and are no thenable", async () => {
    expect(await run("const all = await tools; return [all === tools, tools.echo === tools.echo]", [echo])).toBe(
      "[true,true]",
    );
    expect(await failureOf("tools.echo = 1", [echo])).toContain("TypeError: tools cannot be changed");
    expect(await failureOf("delete tools.echo", [echo])).toContain("TypeError: tools cannot be changed");
    expect(await run("return JSON.stringify(tools)", [echo])).toBe("{}");
  });
});

test("it does nothing by itself, waits as long as its calls do, and is no tool of the default kind", () => {
  const [tool] = createProgramTools(new ToolRegistry());
  expect(tool?.effects?.({ code: "" })).toEqual([]);
  expect(tool).toMatchObject({
    timeoutMs: Number.POSITIVE_INFINITY,
    composite: true,
    origin: "@toolcrib/tools-program",
  });
});

test("its record has one version for each way of cutting a program into steps, also in a copy of the tool", () => {
  const versionOf = (options: object): string | undefined => {
    const [tool] = createProgramTools(new ToolRegistry([echo]), options);
    return { ...tool }.recordVersion;
  };
  expect(versionOf({})).toMatch(/^[0-9a-f]{64}$/);
  expect(versionOf({ memoryBytes: 2 ** 24, maxCalls: 5 })).toBe(versionOf({}));
  expect(versionOf({ maxConcurrent: 2 })).not.toBe(versionOf({}));
});

test("it is refused without a registry that runs it, as its calls would pass no guard", async () => {
  const [tool] = createProgramTools(new ToolRegistry([echo]));
  await expect(tool?.execute({ code: "return tools.echo()" })).rejects.toThrow("must be called through a registry");
});

test.each<[object, string]>([
  [{ tool: [] }, 'did you mean "tools"?'],
  [{ tools: "all" }, "tools must be an array of names of tools, or a function of a tool"],
  [{ tools: undefined }, "tools must be an array of names"],
  [{ memoryBytes: 5 }, "memoryBytes must be a number of bytes, 1048576 to"],
  [{ stackBytes: 2 ** 20 }, "stackBytes must be a number of bytes, 16384 to 524288"],
  [{ guestTimeoutMs: Number.POSITIVE_INFINITY }, "guestTimeoutMs must be a number of milliseconds above 0"],
  [{ maxCalls: 0 }, "maxCalls must be a whole number above 0"],
  [{ maxConcurrent: 1.5 }, "maxConcurrent must be a whole number above 0"],
  [{ spill: "" }, "spill must be a non-empty string"],
])("options %j are refused in words", (options, words) => {
  expect(() => createProgramTools(new ToolRegistry(), options)).toThrow(words);
});
