import {
  type ApprovalAnswer,
  type CallLog,
  type ExecutableTool,
  isToolError,
  type ToolRegistry,
  type WithinQuestion,
} from "@toolcrib/core";
import { randomOf } from "@toolcrib/testing/randomOf";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { registryOf, toolOf } from "../testing/registries.ts";
import { engineVersion } from "./programLog.ts";

type Answers = Record<string, ApprovalAnswer>;

/** Keeps lines as JSON texts, as a session would, and gives them back to the next run. */
class Kept {
  readonly texts: string[] = [];
  answers: Answers | undefined;

  get log(): CallLog {
    return {
      lines: this.texts.map((text) => JSON.parse(text)),
      answers: this.answers,
      write: async (lines) => {
        await Promise.resolve();
        for (const line of lines) this.texts.push(JSON.stringify(line));
      },
    };
  }

  ofType(type: string): number {
    return this.texts.filter((text) => JSON.parse(text).type === type).length;
  }
}

interface End {
  readonly output?: string;
  readonly within?: readonly WithinQuestion[];
}

/** Runs a program until it ends or waits. */
async function runOnce(registry: ToolRegistry, code: string, kept: Kept): Promise<End> {
  const outcome = await registry.invoke("run_program", { code }, { callId: "c", caller: { log: kept.log } });
  if (outcome.ok) return { output: outcome.output };
  if (!isToolError(outcome.error) || outcome.error.code !== "approval_required")
    return { output: outcome.error.message };
  return { within: outcome.error.details.within ?? [] };
}

/** Runs it again and again, with what `answer` says to each question, until it ends. Returns the answer and the rounds of questions. */
async function runOn(
  registry: ToolRegistry,
  code: string,
  answer: (question: WithinQuestion) => ApprovalAnswer,
  kept = new Kept(),
) {
  const rounds: string[][] = [];
  for (let round = 0; round < 60; round += 1) {
    const end = await runOnce(registry, code, kept);
    if (end.output !== undefined) return { output: end.output, rounds, kept };
    rounds.push((end.within ?? []).map(({ callId }) => callId));
    kept.answers = Object.fromEntries((end.within ?? []).map((question) => [question.callId, answer(question)]));
  }
  throw new Error("it asks without end");
}

function scenario() {
  const ran: string[] = [];
  const write = toolOf(
    "write",
    ({ path }) => {
      ran.push(String(path));
      return `wrote ${String(path)}`;
    },
    { readOnly: false },
  );
  const look = toolOf("look", ({ n }) => {
    ran.push(`look ${String(n)}`);
    return String(n);
  });
  const registry = registryOf([write, look], { tools: ["write", "look"] });
  registry.guard(({ name, args }) => (name === "write" ? { ask: `Write ${String(args.path)}?` } : true));
  return { registry, ran };
}

describe("a question within a program, where its caller keeps a record", () => {
  test("ends the call with the question; answered, the program goes on, and no call runs twice", async () => {
    const { registry, ran } = scenario();
    const code = `const before = await tools.look({ n: 1 }); text("looked " + before + " " + Math.random() + " " + Date.now());
      const wrote = await tools.write({ path: "a" }); return wrote + (await tools.look({ n: 2 }))`;
    const kept = new Kept();
    const first = await runOnce(registry, code, kept);
    expect(first.within).toEqual([
      { callId: "c:2", name: "write", args: { path: "a" }, question: { text: "Write a?" } },
    ]);
    expect(ran).toEqual(["look 1"]);
    kept.answers = { "c:2": true };
    const second = await runOnce(registry, code, kept);
    expect(second.output).toMatch(/^looked 1 0\.\d+ \d+\nwrote a2$/);
    expect(ran).toEqual(["look 1", "a", "look 2"]);
    // A third run repeats all of it, and runs nothing.
    expect(await runOnce(registry, code, kept)).toEqual(second);
    expect(ran).toHaveLength(3);
  });

  test("of one Promise.all are told together, also with calls that need none; in a loop one after the other", async () => {
    const together = scenario();
    const all = `return (await Promise.all([1, 2, 3].map((n) => tools.write({ path: "p" + n })).concat(tools.look({ n: 9 })))).join()`;
    const answer = await runOn(together.registry, all, () => true);
    expect(answer).toMatchObject({ output: "wrote p1,wrote p2,wrote p3,9", rounds: [["c:1", "c:2", "c:3"]] });
    expect(together.ran.sort()).toEqual(["look 9", "p1", "p2", "p3"]);
    const loop = scenario();
    const each = `for (const n of [1, 2, 3]) text(await tools.write({ path: "p" + n }))`;
    const inTurn = await runOn(loop.registry, each, () => true);
    expect(inTurn).toMatchObject({ output: "wrote p1\nwrote p2\nwrote p3\n", rounds: [["c:1"], ["c:2"], ["c:3"]] });
    expect(loop.ran).toEqual(["p1", "p2", "p3"]);
  });

  test("lets no call run ahead of the one that it is about, and all that are asked about are told together", async () => {
    const { registry, ran } = scenario();
    // Only about some.
    const asking = registryOf([...["write", "look"].flatMap((name) => registry.get(name) ?? [])], {
      tools: ["write", "look"],
    });
    asking.guard(({ name, args }) => (/ask/.test(String(args.path ?? args.n)) ? { ask: `${name}?` } : true));
    const write = (path: string): string => `tools.write({ path: "${path}" })`;
    const look = (n: string): string => `tools.look({ n: "${n}" })`;
    const all = (...calls: string[]): string =>
      `const done = await Promise.allSettled([${calls.join()}]); return done.map(({ value, reason }) => value ?? reason.code).join()`;
    const runs: [code: string, rounds: string[][], ran: string[], output: string][] = [
      [all(write("ask 1"), write("2")), [["c:1"]], ["ask 1", "2"], "wrote ask 1,wrote 2"],
      [`const first = ${write("ask 1")}; await ${write("2")}; return first`, [["c:1"]], ["ask 1", "2"], "wrote ask 1"],
      [
        all(write("ask 1"), write("2"), write("ask 3"), look("4"), look("ask 5")),
        [["c:1", "c:3", "c:5"]],
        ["ask 1", "2", "ask 3", "look 4", "look ask 5"],
        "wrote ask 1,wrote 2,wrote ask 3,4,ask 5",
      ],
      // Those that only read may run side by side.
      [all(look("ask 1"), look("2"), write("3")), [["c:1"]], ["look 2", "look ask 1", "3"], "ask 1,2,wrote 3"],
      [all(write("1"), write("ask 2"), look("3")), [["c:2"]], ["1", "ask 2", "look 3"], "wrote 1,wrote ask 2,3"],
      [all(write("ask no"), write("2")), [["c:1"]], ["2"], "permission_denied,wrote 2"],
      [all(write("ask 1"), "tools.none()", write("2")), [["c:1"]], ["ask 1", "2"], "wrote ask 1,not_found,wrote 2"],
    ];
    for (const [code, ...expected] of runs) {
      ran.length = 0;
      const { rounds, output } = await runOn(asking, code, ({ args }) => args.path !== "ask no");
      expect([rounds, [...ran], output], code).toEqual(expected);
    }
  });

  test("holds also where a later one is answered first, and where the program does not wait", async () => {
    const { registry, ran } = scenario();
    const code = `return (await Promise.all([1, 2].map((n) => tools.write({ path: "p" + n })))).join()`;
    const kept = new Kept();
    await runOnce(registry, code, kept);
    kept.answers = { "c:2": true };
    expect((await runOnce(registry, code, kept)).within).toMatchObject([{ callId: "c:1" }]);
    expect(ran).toEqual([]);
    kept.answers = { "c:1": true };
    expect((await runOnce(registry, code, kept)).output).toBe("wrote p1,wrote p2");
    expect(ran).toEqual(["p1", "p2"]);
    const asks = registryOf([registry.get("write") as ExecutableTool, registry.get("look") as ExecutableTool], {
      tools: ["write", "look"],
    });
    asks.guard(({ args }) => (args.n === 1 ? { ask: "Look?" } : true));
    // Also those that a program which has ended leaves behind wait.
    const left = `tools.look({ n: 1 }); const two = tools.look({ n: 2 }); tools.write({ path: "p3" }); await two; return "left"`;
    const after = new Kept();
    expect((await runOnce(asks, left, after)).within).toMatchObject([{ callId: "c:1" }]);
    expect(ran).toEqual(["p1", "p2", "look 2"]);
    after.answers = { "c:1": true };
    expect((await runOnce(asks, left, after)).output).toContain("left");
    expect(ran).toEqual(["p1", "p2", "look 2", "look 1", "p3"]);
    const early = new Kept();
    asks.guard(() => new Promise((resolve) => setTimeout(resolve, 20, true)));
    const none = `tools.look({ n: 1 }); tools.write({ path: "p4" }); return "early"`;
    expect((await runOnce(asks, none, early)).within).toMatchObject([{ callId: "c:1" }]);
    early.answers = { "c:1": true };
    expect((await runOnce(asks, none, early)).output).toContain("early");
    expect(ran.slice(5)).toEqual(["look 1", "p4"]);
  });

  test("that is denied rejects that one call, which the program can catch; other answers count too", async () => {
    const { registry, ran } = scenario();
    const code = `for (const n of [1, 2, 3, 4]) text(await tools.write({ path: "p" + n }).catch((error) => error.code + " " + error.message))`;
    const answers: Record<string, ApprovalAnswer> = {
      p1: "not this",
      p2: true,
      p3: { args: { path: "other" } },
      p4: { output: "mine" },
    };
    const { output } = await runOn(registry, code, ({ args }) => answers[String(args.path)] ?? false);
    expect(output.split("\n")).toEqual([
      "permission_denied Error executing write: Permission denied: not this",
      "wrote p2",
      '[the user changed the arguments to {"path":"other"}]',
      "",
      "wrote other",
      "mine",
      "",
    ]);
    expect(ran).toEqual(["p2", "other"]);
  });

  test("is asked again where its answer was for other arguments, or another guard asks", async () => {
    const { registry, ran } = scenario();
    registry.guard(({ name }) => (name === "write" ? { ask: "Sure?" } : true));
    const { output, rounds } = await runOn(registry, `return tools.write({ path: "a" })`, () => true);
    expect({ output, rounds, ran }).toEqual({ output: "wrote a", rounds: [["c:1"], ["c:1"]], ran: ["a"] });
    const { registry: changing } = scenario();
    let data = 0;
    changing.guard(({ name }) => {
      data += 1;
      return name === "write" && data < 6 ? { ask: { text: "Again?", data } } : true;
    });
    const again = await runOn(changing, `return tools.write({ path: "a" })`, () => true);
    expect(again.rounds.length).toBeGreaterThan(1);
    expect(again.output).toBe("wrote a");
  });

  test("is one for each call: an answer holds for no other, though it be the same", async () => {
    const { registry, ran } = scenario();
    const code = `for (let n = 0; n < 3; n += 1) text(await tools.write({ path: "same" }).catch((error) => error.code))`;
    let times = 0;
    const { output, rounds } = await runOn(registry, code, () => {
      times += 1;
      return times < 3;
    });
    expect(output).toBe("wrote same\nwrote same\npermission_denied\n");
    expect([rounds, ran]).toEqual([
      [["c:1"], ["c:2"], ["c:3"]],
      ["same", "same"],
    ]);
  });

  test("leaves what the program has looked up as it was", async () => {
    const { registry } = scenario();
    const code = `const before = [Object.keys(tools).join(), (await searchTools("look more")).length];
      await tools.write({ path: "a" }); return [...before, (await searchTools("look more")).length].join()`;
    const kept = new Kept();
    await runOnce(registry, code, kept);
    registry.register(toolOf("more", () => "", { callers: ["programs"], readOnly: false }));
    kept.answers = { "c:1": true };
    expect((await runOnce(registry, code, kept)).output).toBe("look,write,1,2");
  });

  test("ends the program where its record cannot be kept: nothing runs that is in no record", async () => {
    const { registry, ran } = scenario();
    const log: CallLog = {
      lines: [],
      write: async (lines) => {
        if (JSON.stringify(lines).includes('"name":"write"')) throw new Error("the disk is full");
      },
    };
    const code = "await tools.look({ n: 1 }); await tools.write({ path: 'a' })";
    const output = await registry.execute("run_program", { code }, { callId: "c", caller: { log } });
    expect(output).toContain("it cannot go on: its record cannot be kept: the disk is full");
    expect(ran).toEqual(["look 1"]);
  });

  test("that cannot be kept once the program has ended stops no other one in its thread", async () => {
    const { registry } = scenario();
    const opened = new Map(["first", "second"].map((name) => [name, Promise.withResolvers<void>()]));
    const gate = ({ name }: Record<string, unknown>) => opened.get(String(name))?.promise;
    registry.register(toolOf("gate", gate, { callers: ["programs"] }));
    const log: CallLog = {
      lines: [],
      write: async (lines) => {
        if (JSON.stringify(lines).includes('"type":"end"')) throw new Error("the disk is full");
      },
    };
    const began = Promise.withResolvers<void>();
    const onProgress = () => began.resolve();
    const first = registry.execute(
      "run_program",
      { code: `tools.gate({ name: "first" }); return 1` },
      { callId: "a", caller: { log } },
    );
    // It has ended, and waits for its call.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const second = registry.execute(
      "run_program",
      { code: `await tools.gate({ name: "second" }); return 2` },
      { onProgress },
    );
    await began.promise;
    opened.get("first")?.resolve();
    expect(await first).toContain("its record cannot be kept: the disk is full");
    opened.get("second")?.resolve();
    expect(await second).toBe("2");
  });

  test("or not, each call is in the record with its result, also where the program does not wait for it", async () => {
    for (const end of ["return 1", "throw 1"]) {
      const { registry, ran } = scenario();
      const kept = new Kept();
      await runOnce(registry, `tools.look({ n: 1 }); tools.look({ n: 2 }); ${end}`, kept);
      expect([kept.ofType("call"), kept.ofType("end"), ran]).toEqual([2, 2, ["look 1", "look 2"]]);
    }
  });

  test("without a record rejects in the program, as before", async () => {
    const { registry } = scenario();
    const code = "return tools.write({ path: 'a' }).catch((error) => error.code)";
    expect(await registry.execute("run_program", { code })).toBe("approval_required");
  });
});

describe("a record that does not fit any more ends the program as failed, with its calls", () => {
  const code = `await tools.look({ n: 1 }); return tools.write({ path: "a" })`;
  const parked = async (): Promise<{ kept: Kept; registry: ToolRegistry; ran: string[] }> => {
    const { registry, ran } = scenario();
    const kept = new Kept();
    await runOnce(registry, code, kept);
    kept.answers = { "c:2": true };
    return { kept, registry, ran };
  };
  const list = '\n\nCalls that it made:\n1. look {"n":1}: ok\n2. write {"path":"a"}: not approved';

  test("as the code is another one", async () => {
    const { kept, registry } = await parked();
    const { output } = await runOnce(registry, `${code};`, kept);
    expect(output).toBe(`The program was ended: it cannot go on: its record is that of another program${list}`);
  });

  test("as the engine is another one", async () => {
    const { kept, registry } = await parked();
    kept.texts[0] = JSON.stringify({ ...JSON.parse(kept.texts[0] ?? ""), engine: "other" });
    expect((await runOnce(registry, code, kept)).output).toContain("another version of @toolcrib/tools-program");
  });

  test("as a tool that it called is another one, while other tools may change", async () => {
    const { kept, registry, ran } = await parked();
    registry.register(toolOf("more", () => ""));
    const changed = registry.clone();
    changed.unregister("write");
    changed.register({ ...toolOf("write", () => "", { readOnly: false }), destructive: true });
    expect((await runOnce(changed, code, kept)).output).toContain(`the tool write is not the same any more${list}`);
    expect(ran).toEqual(["look 1"]);
    expect((await runOnce(registry, code, kept)).output).toBe("wrote a");
  });

  test("as another call comes at its place", async () => {
    const { kept, registry } = await parked();
    const at = kept.texts.findIndex((text) => text.includes('"name":"look"'));
    kept.texts[at] = JSON.stringify({ ...JSON.parse(kept.texts[at] ?? ""), print: "other" });
    expect((await runOnce(registry, code, kept)).output).toContain("call 1 of look has other arguments than before");
  });
});

test("a call that was begun and has no result may have run, unless it can run twice", async () => {
  const { registry, ran } = scenario();
  const code = `return (await Promise.allSettled([tools.look({ n: 1 }), tools.write({ path: "a" })])).map(({ value, reason }) => value ?? reason.message)`;
  const kept = new Kept();
  await runOnce(registry, code, kept);
  // The process died after the answer, before the result.
  kept.texts.splice(0, kept.texts.length, ...kept.texts.filter((text) => !/"type":"(?:end|asked)"/.test(text)));
  const { output } = await runOnce(registry, code, kept);
  expect(JSON.parse(output ?? "")).toEqual(["1", "Error executing write: Interrupted; may have run"]);
  expect(ran.filter((one) => one === "a")).toEqual([]);
});

test("a call that was allowed and begun, and has no result, may have run too", async () => {
  const { registry, ran } = scenario();
  const code = `return tools.write({ path: "a" }).catch((error) => error.message)`;
  const kept = new Kept();
  await runOnce(registry, code, kept);
  kept.answers = { "c:1": true };
  expect((await runOnce(registry, code, kept)).output).toBe("wrote a");
  kept.texts.splice(0, kept.texts.length, ...kept.texts.filter((text) => !text.includes('"type":"end"')));
  kept.answers = undefined;
  expect((await runOnce(registry, code, kept)).output).toBe("Error executing write: Interrupted; may have run");
  expect(ran).toEqual(["a"]);
});

test("the engine of a record is that of the manifest", () => {
  expect(manifest.dependencies["quickjs-wasi"]).toBe(engineVersion);
});

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  "random programs repeat whatever the order of results, seed %i",
  async (seed) => {
    const random = randomOf(seed);
    const ran = new Map<string, number>();
    const work =
      (readOnly: boolean) =>
      async ({ id }: Record<string, unknown>) => {
        ran.set(String(id), (ran.get(String(id)) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, random() * 4));
        if (random() < 0.2) throw new Error(`no ${String(id)}`);
        return `${readOnly ? "read" : "wrote"} ${String(id)}`;
      };
    const tools = [toolOf("read", work(true)), toolOf("write", work(false), { readOnly: false })];
    const registry = registryOf(tools, { tools: ["read", "write"] });
    registry.guard(({ args }) => (Number(args.id) % 3 === 0 ? { ask: `Do ${String(args.id)}?` } : true));
    const code = `let id = 0; const told = [];
    const one = async () => { const own = id += 1; const name = Math.random() < 0.5 ? "read" : "write";
      told.push(await tools[name]({ id: own }).catch((error) => error.code)); if (Math.random() < 0.4) await one(); };
    for (let round = 0; round < 4; round += 1) { await Promise.all(Array.from({ length: 1 + Math.floor(Math.random() * 4) }, one)); text(Date.now() > 0, told.length); }
    return told.join()`;
    const { output, kept, rounds } = await runOn(registry, code, ({ args }) => Number(args.id) % 2 === 0 || "no");
    expect(output).toMatch(/true \d+\n/);
    expect(rounds.length).toBeGreaterThan(0);
    expect([...ran.values()].every((times) => times === 1)).toBe(true);
    expect(await runOnce(registry, code, kept)).toEqual({ output });
  },
);
