import { defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { type Asker, askBeforeChanges } from "./approval.ts";

const text = { type: "string" } as const;
const parameters = { type: "object", properties: { command: text, path: text, content: text, note: text } } as const;

interface Asking {
  registry: ToolRegistry;
  questions: string[];
  left: () => number;
  denied: () => boolean;
}

/** A registry of a tool that reads and two that change, and the questions that were put. */
function asking(...answers: (string | undefined)[]): Asking {
  const registry = new ToolRegistry();
  for (const name of ["look", "change", "break"]) registry.register(tool(name));
  const questions: string[] = [];
  let left = 0;
  const ask: Asker["ask"] = async (question) => {
    questions.push(question);
    return answers.length > 0 ? answers.shift() : "";
  };
  const asked = askBeforeChanges({
    asker: () => ({ size: { columns: 80, rows: 24 }, ask }),
    foreign: new Set([foreign]),
    onUnanswered: () => {
      left += 1;
    },
  });
  registry.register(foreign);
  registry.guard(asked.guard);
  return { registry, questions, left: () => left, denied: () => asked.denied };
}

function tool(name: string): ExecutableTool {
  return defineTool({ name, description: name, parameters, readOnly: name === "look", execute: () => `${name} done` });
}

/** A mounted server's tool, by its own word harmless. */
const foreign = defineTool({
  name: "mcp__a__b",
  description: "b",
  parameters,
  readOnly: true,
  execute: () => "b done",
});

test("a read-only call is not asked about", async () => {
  const { registry, questions, denied } = asking();
  expect(await registry.execute("look")).toBe("look done");
  expect(questions).toEqual([]);
  expect(denied()).toBe(false);
});

test("a tool of a mounted server that claims to be read-only is asked about", async () => {
  const { registry, questions } = asking("n", "y");
  expect(await registry.invoke("mcp__a__b")).toMatchObject({ ok: false, error: { code: "permission_denied" } });
  expect(await registry.execute("mcp__a__b")).toBe("b done");
  expect(questions).toHaveLength(2);
});

test.each(["y", "Yes", " yes "])("the answer %j lets the call run", async (answer) => {
  const { registry, denied } = asking(answer);
  expect(await registry.execute("change")).toBe("change done");
  expect(denied()).toBe(false);
});

test.each(["", "n", "no", "yess", "what?"])("the answer %j refuses the call", async (answer) => {
  const { registry, denied } = asking(answer);
  expect(await registry.invoke("change")).toMatchObject({ ok: false, error: { code: "permission_denied" } });
  expect(denied()).toBe(true);
});

test("the question shows the whole call, the command first and each of its lines, and nothing invisible", async () => {
  const { registry, questions } = asking("n");
  const command = `echo ${"x".repeat(200)}\n\u001b[2K; rm\u00a0-r \u202e.\u200b\n  note: harmless`;
  await registry.execute("change", { note: "harmless", command });
  expect(questions[0]).toBe(
    [
      "Run change?",
      "  command:",
      `  | echo ${"x".repeat(70)}`,
      `  ↳ ${"x".repeat(75)}`,
      `  ↳ ${"x".repeat(55)}`,
      "  | <U+001B>[2K; rm<U+00A0>-r <U+202E>.<U+200B>",
      "  |   note: harmless",
      "  note: harmless",
      "[y]es, [a]lways for exactly this call, [N]o: ",
    ].join("\n"),
  );
});

test("trailing spaces and tabs are made visible, except indentation; an empty value is named", async () => {
  const { registry, questions } = asking();
  await registry.execute("change", { path: "\ta\tb  ", content: "\tx\ty \n", note: "" });
  expect(questions[0]?.split("\n").slice(1, -1)).toEqual([
    "  path: <U+0009>a<U+0009>b<U+0020><U+0020>",
    "  content:",
    "  |     x<U+0009>y<U+0020>",
    "  | ",
    "  note: (empty)",
  ]);
});

test("a call longer than the screen is cut in the middle of each argument, says so, and v shows every row", async () => {
  const { registry, questions } = asking("v", "V", "view", "y");
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);
  const args = { content: lines.join("\n"), path: "a.txt" };
  expect(await registry.execute("change", args)).toBe("change done");
  const [first = "", ...pages] = questions;
  expect(first.split("\n").length).toBeLessThan(24);
  expect(first).toMatch(
    /^Run change\?\n {2}path: a\.txt\n {2}content:\n {2}\| line 1\n[\s\S]* … \d+ more rows\n[\s\S]*line 50\n\[y\].*\[v\]iew all/,
  );
  expect(pages).toHaveLength(3);
  const seen = pages.flatMap((page) => page.split("\n").slice(0, -1));
  expect(seen).toEqual(["  path: a.txt", "  content:", ...lines.map((line) => `  | ${line}`)]);
  expect(pages[0]).toMatch(/\n\(rows 1 to 20 of 52\) \[y\]es/);
});

test("many arguments never push the command off the screen", async () => {
  const { registry, questions } = asking("n");
  registry.unregister("change");
  const loose = { type: "object", additionalProperties: true } as const;
  registry.register(defineTool({ name: "change", description: "c", parameters: loose, execute: () => "" }));
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`a${index}`, "x\n".repeat(100)]));
  await registry.execute("change", { ...many, command: `rm -r a\n${"#\n".repeat(500)}rm -r b` });
  expect(questions[0]?.split("\n").length).toBeLessThan(24);
  expect(questions[0]).toMatch(
    /^Run change\?\n {2}command:\n {2}\| rm -r a\n[\s\S]*\| rm -r b\n[\s\S]*… \d+ more arguments/,
  );
});

test("always holds for the same command of that tool alone", async () => {
  const { registry, questions } = asking("a", "n", "n", "n");
  expect(await registry.execute("change", { command: "ls" })).toBe("change done");
  expect(await registry.execute("change", { command: "ls" })).toBe("change done");
  expect(await registry.invoke("change", { command: "ls -a" })).toMatchObject({ ok: false });
  expect(await registry.invoke("change", { command: "ls", note: "x" })).toMatchObject({ ok: false });
  expect(await registry.invoke("break", { command: "ls" })).toMatchObject({ ok: false });
  expect(questions).toHaveLength(4);
});

test("always holds for the same path, whatever else is in the call; without either, for the tool", async () => {
  const { registry, questions } = asking("always", "n", "a");
  expect(await registry.execute("change", { path: "a", content: "1" })).toBe("change done");
  expect(await registry.execute("change", { content: "2", path: "a" })).toBe("change done");
  expect(await registry.invoke("change", { path: "b", content: "1" })).toMatchObject({ ok: false });
  expect(await registry.execute("break", { note: "1" })).toBe("break done");
  expect(await registry.execute("break", { note: "2" })).toBe("break done");
  expect(questions).toHaveLength(3);
  expect(questions[0]).toMatch("[a]lways for change with this path,");
  expect(questions[2]).toMatch("[a]lways for any call of break,");
});

test("always holds for a tool of a mounted server with the same arguments only", async () => {
  const { registry, questions } = asking("a", "n", "n");
  expect(await registry.execute("mcp__a__b", { path: "a", note: "1" })).toBe("b done");
  expect(await registry.execute("mcp__a__b", { note: "1", path: "a" })).toBe("b done");
  expect(await registry.invoke("mcp__a__b", { path: "a", note: "2" })).toMatchObject({ ok: false });
  expect(await registry.invoke("mcp__a__b")).toMatchObject({ ok: false });
  expect(questions).toHaveLength(3);
});

test("always does not hold for another tool that takes the name", async () => {
  const { registry, questions } = asking("a", "n");
  expect(await registry.execute("change")).toBe("change done");
  registry.unregister("change");
  registry.register(tool("change"));
  expect(await registry.invoke("change")).toMatchObject({ ok: false });
  expect(questions).toHaveLength(2);
});

test("calls side by side are asked about one after the other", async () => {
  const { registry } = asking("y", "n");
  const [first, second] = await Promise.all([registry.invoke("change"), registry.invoke("break")]);
  expect([first.ok, second.ok]).toEqual([true, false]);
});

test("a question that is left unanswered refuses the call and ends the turn", async () => {
  const { registry, left, denied } = asking(undefined);
  expect(await registry.invoke("change")).toMatchObject({ ok: false, error: { code: "permission_denied" } });
  expect(left()).toBe(1);
  expect(denied()).toBe(true);
});

test("after an abort no further question is asked", async () => {
  const { registry, questions, left } = asking("y");
  const controller = new AbortController();
  const calls = [1, 2].map(() => registry.invoke("change", {}, { signal: controller.signal }));
  controller.abort();
  expect(await Promise.all(calls)).toMatchObject([{ ok: false }, { ok: false }]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(questions).toEqual([]);
  expect(left()).toBe(0);
});
