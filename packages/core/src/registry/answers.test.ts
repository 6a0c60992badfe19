import { describe, expect, test } from "vitest";
import { defineTool } from "../defineTool.ts";
import type { ApprovalAnswer, Approve, Guard, Middleware } from "../interface.ts";
import { leftOpen } from "./guards.ts";
import { ToolRegistry } from "./registry.ts";

function registryOf(...guards: Guard[]) {
  const ran: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    parameters: {
      type: "object",
      properties: { to: { type: "string" }, amount: { type: "number" } },
      required: ["to"],
      additionalProperties: false,
    },
    execute: (args) => {
      if (args.to === "nobody") throw new Error("no such account");
      ran.push(args);
      return "paid";
    },
  });
  const registry = new ToolRegistry([pay]);
  for (const guard of guards) registry.guard(guard);
  return { registry, ran };
}

const asks: Guard = ({ args }) => ({ ask: `Pay ${String(args.to)}?` });
const always =
  (answer: ApprovalAnswer): Approve =>
  () =>
    answer;
const note = '[the user changed the arguments to {"to":"you"}]';

describe("an answer with other arguments", () => {
  test("runs the tool with these, repaired, and tells the model in front of the output", async () => {
    const { registry, ran } = registryOf(asks);
    const given = { args: { to: "you", amount: "5" } };
    const output = await registry.execute("pay", { to: "me" }, { approve: always(given) });
    expect(output).toBe('[the user changed the arguments to {"to":"you","amount":5}]\n\npaid');
    expect(ran).toEqual([{ to: "you", amount: 5 }]);
    expect(given.args).toEqual({ to: "you", amount: "5" });
  });

  test("tells the model of them where the tool fails, too, and keeps the kind of the error", async () => {
    const { registry } = registryOf(asks);
    const outcome = await registry.invoke("pay", { to: "me" }, { approve: always({ args: { to: "nobody" } }) });
    expect(outcome).toMatchObject({ ok: false, error: { code: "execution_failed", recoverable: true } });
    expect(outcome.ok === false && outcome.error.message).toMatch(/^no such account\n\n\[the user changed .*"nobody"/);
  });

  test("is the yes to a guard whose question was shown; another guard's question about them is asked", async () => {
    const large: Guard = ({ args }) => ({ ask: `Really ${String(args.to)}?` });
    const { registry, ran } = registryOf(asks, large);
    const asked: string[] = [];
    const approve: Approve = (_call, { text }) => {
      asked.push(text);
      return text.startsWith("Pay") ? { args: { to: "you" } } : true;
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toBe(`${note}\n\npaid`);
    expect([asked, ran]).toEqual([["Pay me?", "Really you?"], [{ to: "you" }]]);
  });

  test("given to the second guard's question is no yes to the first one's about them", async () => {
    const { registry, ran } = registryOf(asks, () => ({ ask: "Sure?" }));
    const asked: string[] = [];
    const answers: ApprovalAnswer[] = [true, { args: { to: "you" } }, true];
    const approve: Approve = (_call, { text }) => {
      asked.push(text);
      return answers.shift() ?? false;
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toBe(`${note}\n\npaid`);
    expect([asked, ran]).toEqual([["Pay me?", "Sure?", "Pay you?"], [{ to: "you" }]]);
  });

  test("from an approve that always gives other arguments ends with the question", async () => {
    const { registry, ran } = registryOf(asks, asks);
    let asked = 0;
    const approve: Approve = () => {
      asked += 1;
      return { args: { to: `you${asked}` } };
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toMatch(/Approval required: Pay you8\?/);
    expect([asked, ran]).toEqual([8, []]);
  });

  test("is no way around a guard that denies them", async () => {
    const { registry, ran } = registryOf(asks, ({ args }) => (args.to === "you" ? "never you" : true));
    expect(await registry.execute("pay", { to: "me" }, { approve: always({ args: { to: "you" } }) })).toBe(
      `Error executing pay: Permission denied: never you\n\n${note}`,
    );
    expect(ran).toEqual([]);
  });

  test("holds for one call: the next one is asked about anew", async () => {
    const { registry } = registryOf(asks);
    await registry.execute("pay", { to: "me" }, { approve: always({ args: { to: "you" } }) });
    expect(await registry.execute("pay", { to: "you" })).toBe("Error executing pay: Approval required: Pay you?");
  });

  test("is refused to whoever answered where it does not fit; another answer then counts", async () => {
    const { registry, ran } = registryOf(asks);
    const refused: unknown[] = [];
    const approve: Approve = ({ args }, question) => {
      refused.push(question.refused);
      expect([args, question.text]).toEqual([{ to: "me" }, "Pay me?"]);
      return question.refused ? { args: { to: "you" } } : { args: { to: "me", whom: "you" } };
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toBe(`${note}\n\npaid`);
    expect(refused).toEqual([undefined, expect.stringContaining("Invalid arguments: whom")]);
    expect(ran).toEqual([{ to: "you" }]);
  });

  test("that never fits leaves the question: after three the call ends with approval_required", async () => {
    const { registry, ran } = registryOf(asks);
    let asked = 0;
    const approve: Approve = () => {
      asked += 1;
      return { args: {} };
    };
    const outcome = await registry.invoke("pay", { to: "me" }, { approve });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "approval_required", details: { question: { text: "Pay me?" }, args: { to: "me" } } },
    });
    expect([asked, ran]).toEqual([3, []]);
  });

  test("reaches what acts right before the tool", async () => {
    const { registry } = registryOf(asks);
    const seen: unknown[] = [];
    const watch: Middleware = (call, next) => next({ ...call, beforeRun: (args) => void seen.push(args) });
    registry.use(watch);
    await registry.execute("pay", { to: "me" }, { approve: always({ args: { to: "you" } }) });
    expect(seen).toEqual([{ to: "you" }]);
  });
});

describe("a yes", () => {
  test("does not hold where a guard denies the call once it is given", async () => {
    let isOpen = true;
    const { registry, ran } = registryOf(() => (isOpen ? { ask: "Pay?" } : "closed"));
    const approve: Approve = () => {
      isOpen = false;
      return true;
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toBe(
      "Error executing pay: Permission denied: closed",
    );
    expect(ran).toEqual([]);
  });

  test("holds for its question: another text or other data are asked about", async () => {
    const questions = [{ text: "Pay?" }, { text: "Pay twice?" }, { text: "Pay twice?", data: [2] }];
    const { registry, ran } = registryOf(() => ({ ask: questions[0] ?? "" }));
    const asked: unknown[] = [];
    const approve: Approve = (_call, { text, data }) => {
      asked.push([text, data]);
      if (questions.length > 1) questions.shift();
      return true;
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toBe("paid");
    expect([asked, ran.length]).toEqual([
      [
        ["Pay?", undefined],
        ["Pay twice?", undefined],
        ["Pay twice?", [2]],
      ],
      1,
    ]);
  });

  test("to a question that is another one each time ends with the question", async () => {
    let count = 0;
    const { registry, ran } = registryOf(() => ({ ask: `Pay? ${++count}` }));
    expect(await registry.execute("pay", { to: "me" }, { approve: always(true) })).toMatch(
      /Approval required: Pay\? 9/,
    );
    expect(ran).toEqual([]);
  });

  test("is none to a guard that was added while the question was open", async () => {
    const { registry, ran } = registryOf(asks);
    const approve: Approve = () => {
      registry.guard(() => "too late");
      return true;
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toContain("too late");
    expect(ran).toEqual([]);
  });

  test("holds for the arguments that were shown, whatever their holder does meanwhile", async () => {
    const { registry, ran } = registryOf(() => ({ ask: "Pay?" }));
    const args = { to: "me" };
    const approve: Approve = () => {
      args.to = "you";
      return true;
    };
    registry.use((call, next) => next({ ...call, args }));
    await registry.execute("pay", {}, { approve });
    expect(ran).toEqual([{ to: "me" }]);
  });
});

describe("an answer with an output", () => {
  test("is the result: nothing runs, middleware sees it, and no further question is asked", async () => {
    const { registry, ran } = registryOf(asks, () => ({ ask: "And then?" }));
    registry.use(async (_call, next) => {
      const outcome = await next();
      return outcome.ok ? `${outcome.output}!` : outcome;
    });
    const asked: string[] = [];
    const approve: Approve = (_call, { text }) => {
      asked.push(text);
      return { output: "paid in cash" };
    };
    expect(await registry.execute("pay", { to: "me" }, { approve })).toBe("paid in cash!");
    expect([asked, ran]).toEqual([["Pay me?"], []]);
  });

  test("does not count where a guard denies the call", async () => {
    const { registry } = registryOf(asks, () => "no payments");
    expect(await registry.execute("pay", { to: "me" }, { approve: always({ output: "paid" }) })).toBe(
      "Error executing pay: Permission denied: no payments",
    );
  });
});

test.each([
  [{ args: { to: "you" }, output: "x" }],
  [{ output: 5 }],
  [{ args: "you" }],
  [{ args: [] }],
  [{ args: { to: "you" }, always: true }],
  [{}],
])("%j denies", async (answer) => {
  const { registry, ran } = registryOf(asks);
  expect(await registry.execute("pay", { to: "me" }, { approve: always(answer as never) })).toBe(
    "Error executing pay: Permission denied: this call was not approved",
  );
  expect(ran).toEqual([]);
});

describe("a tool that is a question to the user", () => {
  const question = {
    ...defineTool({
      name: "ask",
      description: "Asks.",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      execute: () => "it ran",
    }),
    ask: ({ text }: Readonly<Record<string, unknown>>) => ({ text: String(text), data: { choices: ["a"] } }),
  };

  test("ends with the question where nobody can answer, also in check", async () => {
    const registry = new ToolRegistry([question]);
    const error = {
      code: "approval_required",
      details: { question: { text: "Which?", data: { choices: ["a"] }, needs: "output" } },
    };
    expect(await registry.invoke("ask", { text: "Which?" })).toMatchObject({ ok: false, error });
    expect(await registry.check("ask", { text: "Which?" })).toMatchObject({ ok: false, error });
    expect(await registry.clone().invoke("ask", { text: "Which?" })).toMatchObject({ ok: false, error });
  });

  test.each<[ApprovalAnswer]>([[true], [{ args: { text: "Other?" } }]])("%j is not enough", async (answer) => {
    const refused: unknown[] = [];
    const approve: Approve = (_call, question) => {
      refused.push(question.refused);
      return question.refused ? { output: "blue" } : answer;
    };
    const registry = new ToolRegistry([question]);
    expect(await registry.execute("ask", { text: "Which?" }, { approve })).toBe("blue");
    expect(refused).toEqual([undefined, expect.stringContaining("{ output }")]);
    expect(await registry.execute("ask", { text: "Which?" }, { approve: always(answer) })).toBe(
      "Error executing ask: Approval required: Which?",
    );
  });

  test("is still asked after a guard's question was answered with other arguments", async () => {
    const registry = new ToolRegistry([question]).guard(() => ({ ask: "May it ask?" }));
    const approve: Approve = (_call, { text, needs }) =>
      needs ? { output: `answer to ${text}` } : { args: { text: "Other?" } };
    expect(await registry.execute("ask", { text: "Which?" }, { approve })).toBe("answer to Other?");
  });

  test("can be declined, and never asks with an empty text", async () => {
    const registry = new ToolRegistry([question]);
    expect(await registry.execute("ask", { text: "Which?" }, { approve: always("not now") })).toBe(
      "Error executing ask: Permission denied: not now",
    );
    expect(await registry.execute("ask", { text: "" }, { approve: always({ output: "x" }) })).toBe(
      "Error executing ask: Permission denied: this call was not approved",
    );
  });

  test("must ask by a function", () => {
    expect(() => new ToolRegistry([{ ...question, ask: "Which?" as never }])).toThrow("ask must be a function");
  });
});

test("an answer for several calls of a program is none to a call of the registry, whatever its question offers", async () => {
  const seen: unknown[] = [];
  const { registry } = registryOf(({ within }) => {
    seen.push(within);
    return { ask: { text: "Pay?", data: { upTo: "/box" } } };
  });
  const output = await registry.execute("pay", { to: "me" }, { approve: always({ upTo: 3 }), within: "c" });
  expect(output).toBe("Error executing pay: Permission denied: this call was not approved");
  await registry.execute("pay", { to: "me" }, { approve: always(false) });
  expect(seen).toEqual(["c", undefined]);
});

test("a question that its approve leaves open ends the call as one that waits, and nothing runs; a user's words cannot", async () => {
  const { registry, ran } = registryOf(asks);
  const seen: unknown[] = [];
  registry.use(async (_call, next) => {
    const outcome = await next();
    seen.push(outcome.ok || outcome.error.code);
    return outcome;
  });
  await registry.execute("pay", { to: "me" }, { approve: always(leftOpen) });
  await registry.execute("pay", { to: "me" }, { approve: always("toolcrib.leftOpen") });
  expect([seen, ran]).toEqual([["approval_required", "permission_denied"], []]);
});
