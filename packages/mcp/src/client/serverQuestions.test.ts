import { type Approve, defineTool, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { mounted } from "../../fixtures/mounting.ts";
import { servedEntry } from "../../fixtures/serving.ts";
import type { MountMcpOptions } from "./mountMcp.ts";
import { ServerQuestions } from "./serverQuestions.ts";

type Call = (text: string, signal?: AbortSignal) => Promise<string>;

/** Our server, whose guards ask `questions` about each call of `write`, and our client with `options`. */
async function open(
  options: MountMcpOptions,
  questions = (text: string): string[] => [`Write ${text}?`],
): Promise<{ ran: string[]; call: Call }> {
  const ran: string[] = [];
  const write = defineTool({
    name: "write",
    description: "Writes.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: ({ text }) => ran.push(text) && "written",
  });
  const served = new ToolRegistry([write]);
  for (const index of questions("").keys())
    served.guard(({ args }) => ({ ask: questions(String(args.text))[index] ?? "" }));
  const { registry } = await mounted({ own: await servedEntry(served) }, options);
  return { ran, call: (text, signal) => registry.execute("mcp__own__write", { text }, { signal }) };
}

describe.each(["legacy", "auto"] as const)("%s protocol", (versionNegotiation) => {
  const openWith = (approve: Approve | undefined, questions?: (text: string) => string[]): ReturnType<typeof open> =>
    open({ versionNegotiation, approve }, questions);

  test("a yes runs the call, which the answerer sees with the server's words", async () => {
    const seen: unknown[] = [];
    const { ran, call } = await openWith(({ name, args, origin }, { text }) => {
      seen.push({ name, args, origin, text });
      return true;
    });
    expect(await call("a")).toBe("written");
    const text = "The MCP server own asks: Write a?";
    expect(seen).toEqual([{ name: "mcp__own__write", args: { text: "a" }, origin: "mcp:own", text }]);
    expect(ran).toEqual(["a"]);
  });

  test("a no denies the call, and its reason reaches the caller", async () => {
    const answers = [false, "not on a Monday", undefined as never];
    const { ran, call } = await openWith(() => answers.shift() as string);
    const denied = "Error executing mcp__own__write: Permission denied: the user said no to this call";
    expect(await call("a")).toBe(denied);
    expect(await call("a")).toBe(`${denied} (not on a Monday)`);
    expect(await call("a")).toBe(denied);
    expect(ran).toEqual([]);
  });

  test("an answerer that throws denies the call", async () => {
    const { ran, call } = await openWith(() => {
      throw new Error("no terminal");
    });
    expect(await call("a")).toMatch(/Permission denied: .*\(the question could not be answered: no terminal\)$/);
    expect(ran).toEqual([]);
  });

  test("without approve the server is told that nobody can be asked", async () => {
    const { ran, call } = await openWith(undefined);
    expect(await call("a")).toMatch(/Approval required: Write a\? .*it does not support elicitation/);
    expect(ran).toEqual([]);
  });

  test("calls made at the same time are asked about in order, each with its own arguments", async () => {
    const seen: unknown[] = [];
    const { ran, call } = await openWith(
      ({ args }, { text }) => {
        seen.push([args.text, text.replace(/.*: /, "")]);
        return args.text !== "b";
      },
      (text) => [`Write ${text}?`, `Really ${text}?`],
    );
    const [a, b, c] = await Promise.all([call("a"), call("b"), call("c")]);
    expect([a, c]).toEqual(["written", "written"]);
    expect(b).toMatch(/Permission denied/);
    const both = (text: string): unknown[] => [
      [text, `Write ${text}?`],
      [text, `Really ${text}?`],
    ];
    expect(seen).toEqual([...both("a"), ["b", "Write b?"], ...both("c")]);
    expect(ran).toEqual(["a", "c"]);
  });

  test("an abort ends the question, and the next call runs", async () => {
    const controller = new AbortController();
    const ended: unknown[] = [];
    const { ran, call } = await openWith(({ args, signal }) => {
      if (args.text === "b") return true;
      return new Promise(() => {
        signal?.addEventListener("abort", () => ended.push(args.text));
        controller.abort(new Error("enough"));
      });
    });
    expect(await call("a", controller.signal)).toMatch(/Aborted/);
    expect(await call("b")).toBe("written");
    expect([ended, ran]).toEqual([["a"], ["b"]]);
  });

  test("invisible characters of a question are shown, and one too long to show is declined", async () => {
    const texts: string[] = [];
    const approve: Approve = (_call, { text }) => texts.push(text) > 0;
    const { ran, call } = await openWith(approve, (text) => [`${text}\u001b[2J\n\u202e`]);
    expect(await call("a")).toBe("written");
    expect(texts).toEqual(["The MCP server own asks: a<U+001B>[2J<U+000A><U+202E>"]);
    expect(await call("b".repeat(4000))).toMatch(/at most 4000 characters/);
    expect([ran, texts.length]).toEqual([["a"], 1]);
  });
});

const asked = { name: "t", args: {}, tool: undefined as never, origin: "mcp:s", effects: undefined } as never;
const { signal } = new AbortController();

test.each([
  [{ message: "Which?", requestedSchema: { type: "object", properties: { yes: { type: "boolean" } } } }],
  [{ message: "Open", mode: "url", url: "https://x.example", elicitationId: "1" }],
  [{ requestedSchema: { type: "object", properties: {} } }],
])("%j is declined without asking", async (params) => {
  const questions = new ServerQuestions("s", () => expect.unreachable());
  const { result, refusals } = await questions.during(asked, () => questions.answer(params, signal));
  expect([result, refusals]).toEqual([{ action: "decline" }, [expect.stringMatching(/^the server/)]]);
});

const form = (field: object) => ({ type: "object", properties: { answer: field } });

const options = (...titles: string[]) => titles.map((title) => ({ const: title.toLowerCase(), title }));

test.each([
  [{ type: "string" }, [], { output: "x" }, "x"],
  [{ type: "string" }, [], true, undefined],
  [{ type: "string" }, [], "not now", undefined],
  [{ type: "string", enum: ["a", "b"] }, ["a", "b"], { output: "b" }, "b"],
  [{ type: "string", enum: ["a", "b"] }, ["a", "b"], { output: "c" }, undefined],
  [{ type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }, ["A", "B"], { output: "B" }, "b"],
  [{ type: "string", oneOf: options("Red", "Blue"), default: "red" }, ["Red", "Blue"], { output: "Blue" }, "blue"],
  [{ type: "string", oneOf: options("Red", "Blue") }, ["Red", "Blue"], { output: "blue" }, undefined],
  [{ type: "string", anyOf: options("Red") }, ["Red"], { output: "Red" }, "red"],
  [
    { type: "array", items: { anyOf: options("A", "B") }, minItems: 1, maxItems: 2 },
    ["A", "B"],
    { output: "B" },
    ["b"],
  ],
  [{ type: "array", items: { type: "string", enum: ["a"] } }, ["a"], { output: "a" }, ["a"]],
])("a form with the field %j offers %j, and answered with %j sends %j", async (field, choices, given, answer) => {
  const asking: unknown[] = [];
  const questions = new ServerQuestions("s", (_call, question) => {
    asking.push(question);
    return given;
  });
  const params = { message: "Which?", requestedSchema: form(field) };
  const { result } = await questions.during(asked, () => questions.answer(params, signal));
  expect(asking).toEqual([{ text: "The MCP server s asks: Which?", needs: "output", data: { choices } }]);
  expect(result).toEqual(answer === undefined ? { action: "decline" } : { action: "accept", content: { answer } });
});

test.each([
  [form({ type: "string", format: "uri" })],
  [form({ type: "string", enum: ["a", 1] })],
  [form({ type: "string", enum: ["a", " "] })],
  [form({ type: "string", enum: ["a", "b\u202e"] })],
  [form({ type: "string", enum: Array.from({ length: 51 }, (_, index) => `${index}`) })],
  [form({ type: "string", title: 7 })],
  [form({ type: "string", title: "t".repeat(4000) })],
  [form({ type: "string", enum: ["a"], oneOf: [{ const: "a", title: "A" }] })],
  [form({ type: "string", enum: ["a", "b"], enumNames: ["A"] })],
  [form({ type: "string", enumNames: ["A"] })],
  [form({ type: "string", oneOf: options("A"), enumNames: ["B"] })],
  [form({ type: "string", oneOf: options("A"), anyOf: options("B") })],
  [form({ type: "string", oneOf: [] })],
  [form({ type: "string", oneOf: "A" })],
  [form({ type: "string", oneOf: [{ const: "a" }] })],
  [form({ type: "string", oneOf: [{ const: 1, title: "A" }] })],
  [form({ type: "string", oneOf: [{ const: "a", title: "A", description: "not shown" }] })],
  [form({ type: "string", oneOf: [...options("A"), { const: "b", title: "A" }] })],
  [form({ type: "string", oneOf: [{ const: "a", title: "A\u202e" }] })],
  [form({ type: "array", items: { type: "string" } })],
  [form({ type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 2 })],
  [form({ type: "array", items: { type: "string", enum: ["a"] }, uniqueItems: true })],
  [{ type: "object", properties: { a: { type: "string" }, b: { type: "string" } } }],
])("a form as %j is declined without asking", async (requestedSchema) => {
  const questions = new ServerQuestions("s", () => expect.unreachable());
  const { result } = await questions.during(asked, () =>
    questions.answer({ message: "Which?", requestedSchema }, signal),
  );
  expect(result).toEqual({ action: "decline" });
});

test("the title and the description of a field are shown with the question", async () => {
  const texts: string[] = [];
  const questions = new ServerQuestions("s", (_call, { text }) => ({ output: `${texts.push(text)}` }));
  for (const field of [
    { title: "Colour", description: "The one\u202e you like" },
    { title: "Answer" },
    { description: "A number" },
  ]) {
    const params = { message: "Which?", requestedSchema: form({ type: "string", ...field }) };
    await questions.during(asked, () => questions.answer(params, signal));
  }
  expect(texts).toEqual([
    "The MCP server s asks: Which? (Colour: The one<U+202E> you like)",
    "The MCP server s asks: Which?",
    "The MCP server s asks: Which? (A number)",
  ]);
});

test("a question without a running call is refused", async () => {
  const questions = new ServerQuestions("s", () => expect.unreachable());
  await expect(questions.answer({ message: "Now?" }, signal)).rejects.toThrow("no running call");
});

test("questions asked at the same time are put one after the other", async () => {
  const order: string[] = [];
  const questions = new ServerQuestions("s", async (_call, { text }) => {
    order.push(`ask ${text.at(-1)}`);
    await new Promise(setImmediate);
    order.push(`answered ${text.at(-1)}`);
    return true;
  });
  await questions.during(asked, () => Promise.all(["1", "2"].map((message) => questions.answer({ message }, signal))));
  expect(order).toEqual(["ask 1", "answered 1", "ask 2", "answered 2"]);
});
