import { defineTool, ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { askBeforeChanges } from "./approval.ts";

const parameters = { type: "object", properties: { command: { type: "string" } } } as const;

/** A registry of a tool that reads and two that change, and the questions that were put. */
function asking(...answers: string[]): { registry: ToolRegistry; questions: string[]; denied: () => boolean } {
  const registry = new ToolRegistry();
  for (const name of ["look", "change", "break"]) {
    registry.register(
      defineTool({ name, description: name, parameters, readOnly: name === "look", execute: () => `${name} done` }),
    );
  }
  const questions: string[] = [];
  const asked = askBeforeChanges(() => async (question) => {
    questions.push(question);
    return answers.shift() ?? "";
  });
  registry.use(asked.middleware);
  return { registry, questions, denied: () => asked.denied };
}

test("what only reads is not asked about", async () => {
  const { registry, questions, denied } = asking();
  expect(await registry.execute("look")).toBe("look done");
  expect(questions).toEqual([]);
  expect(denied()).toBe(false);
});

test.each(["y", "Yes", " yes "])("%j lets the call run", async (answer) => {
  const { registry, denied } = asking(answer);
  expect(await registry.execute("change")).toBe("change done");
  expect(denied()).toBe(false);
});

test.each(["", "n", "no", "yess", "what?"])("%j refuses it", async (answer) => {
  const { registry, denied } = asking(answer);
  expect(await registry.invoke("change")).toMatchObject({ ok: false, error: { code: "permission_denied" } });
  expect(denied()).toBe(true);
});

test("the question shows the whole call, on one line, and says where it is cut", async () => {
  const { registry, questions } = asking("n", "n");
  await registry.execute("change", { command: `echo ${"x".repeat(500)}\n\u001b[2K; rm -r \u202e.` });
  expect(questions[0]).toMatch(/^Run change \{"command":"echo x{500}\\n\\u001b\[2K; rm -r \\u202e\."\} \? /);
  await registry.execute("change", { command: "x".repeat(10_000) });
  expect(questions[1]).toMatch(/ \(and \d+ characters more\) \? /);
});

test("always holds for that tool alone", async () => {
  const { registry, questions } = asking("a", "n");
  expect(await registry.execute("change")).toBe("change done");
  expect(await registry.execute("change")).toBe("change done");
  expect(await registry.invoke("break")).toMatchObject({ ok: false });
  expect(questions).toHaveLength(2);
});

test("calls side by side are asked about one after the other", async () => {
  const { registry } = asking("y", "n");
  const [first, second] = await Promise.all([registry.invoke("change"), registry.invoke("break")]);
  expect([first.ok, second.ok]).toEqual([true, false]);
});
