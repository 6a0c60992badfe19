import { defineTool, type ExecutableTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { mounted } from "../../fixtures/mounting.ts";
import { ask, connected, type Era, eras, served, servedEntry } from "../../fixtures/serving.ts";

const parameters = { type: "object", properties: { choices: { type: "array" } } } as const;
const asking = {
  ...defineTool({ name: "ask", description: "Asks.", parameters, execute: () => "it ran" }),
  ask: ({ choices }: Readonly<Record<string, unknown>>) => ({
    text: "Which?",
    ...(!!choices && { data: { choices } }),
  }),
};

interface Form {
  readonly message: string;
  readonly requestedSchema: unknown;
}

/** A server whose tool `ask` is a question, and a client whose user answers each form with the next of `answers`. */
async function open(era: Era, answers: readonly unknown[], tool: ExecutableTool, ...guards: Guard[]) {
  const registry = new ToolRegistry([tool]);
  for (const guard of guards) registry.guard(guard);
  const forms: Form[] = [];
  const left = [...answers];
  const client = await connected(await served(registry), {
    era,
    capabilities: { elicitation: {} },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", ({ params }) => {
        const { message, requestedSchema } = params as unknown as Form;
        forms.push({ message, requestedSchema });
        return left.shift() as never;
      }),
  });
  return { forms, call: (args = {}) => ask(client, "ask", args) };
}

const accept = (content: object) => ({ action: "accept", content });
const denied = (reason: RegExp) => [true, expect.stringMatching(reason)];

describe.each(eras)("a tool that is a question, %s protocol", (era) => {
  test("is a form with one field, whose text is the output", async () => {
    const { forms, call } = await open(era, [accept({ answer: "blue" })], asking);
    expect(await call()).toEqual([false, "blue"]);
    const properties = { answer: { type: "string", title: "Answer" } };
    expect(forms).toEqual([
      { message: "The model asks: Which?", requestedSchema: { type: "object", properties, required: ["answer"] } },
    ]);
  });

  test("offers its choices, and takes no other", async () => {
    const { forms, call } = await open(era, [accept({ answer: "b" }), accept({ answer: "c" })], asking);
    expect(await call({ choices: ["a", "b"] })).toEqual([false, "b"]);
    expect(forms).toMatchObject([{ requestedSchema: { properties: { answer: { enum: ["a", "b"] } } } }]);
    expect(await call({ choices: ["a", "b"] })).toEqual(denied(/without its field answer|this call was not approved/));
  });

  test("is put after the questions of guards, whose form has no field, both with what cannot be seen as codes; the answer is the choice as it was", async () => {
    const hidden = { ...asking, ask: () => ({ text: "Which\u202e?\r\nSay.", data: { choices: ["a\u200b", "b"] } }) };
    const guard: Guard = () => ({ ask: "May \u001b[2Jit?" });
    const { forms, call } = await open(era, [accept({}), accept({ answer: "a<U+200B>" })], hidden, guard);
    expect(await call()).toEqual([false, "a\u200b"]);
    expect(forms[0]?.requestedSchema).toEqual({ type: "object", properties: {} });
    expect(forms).toMatchObject([
      { message: "May <U+001B>[2Jit?" },
      {
        message: "The model asks: Which<U+202E>?\nSay.",
        requestedSchema: { properties: { answer: { enum: ["a<U+200B>", "b"] } } },
      },
    ]);
  });

  test("is not answered by a form without the field, by a no, or by leaving it", async () => {
    const { call } = await open(era, [{ action: "decline" }, { action: "cancel" }], asking);
    expect(await call()).toEqual(denied(/the user said no/));
    expect(await call()).toEqual(denied(/left the question unanswered/));
  });
});

test("a call that would be made again for an answer cannot ask from within, and runs once", async () => {
  let runs = 0;
  const nested = defineTool({
    name: "ask",
    description: "Asks from within.",
    parameters,
    execute: (_args, { caller }) => {
      runs += 1;
      return caller?.approve === undefined ? "nobody can answer" : "it may ask";
    },
  });
  const { forms, call } = await open("modern", [], nested, () => true);
  expect([await call(), runs, forms]).toEqual([[false, "nobody can answer"], 1, []]);
});

test("served and mounted, it is answered by whoever mounts the server", async () => {
  const approve = () => ({ output: "blue" });
  const { registry } = await mounted({ own: await servedEntry(new ToolRegistry([asking])) }, { approve });
  expect(await registry.execute("mcp__own__ask", { choices: ["red", "blue"] })).toBe("blue");
});
