import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import {
  type ApprovalAnswer,
  type Approve,
  type CallLog,
  defineTool,
  type ExecutableTool,
  type GuardDecision,
  type GuardedCall,
  isToolError,
  ToolRegistry,
  type WithinQuestion,
} from "@toolcrib/core";
import { offeredFolder } from "@toolcrib/core/internal";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createProgramTools } from "./index.ts";

let root: string;
let ran: string[];
beforeEach(() => {
  root = temporaryFolder("grants");
  ran = [];
  for (const folder of ["src/deep", "src2", "other"]) mkdirSync(join(root, folder), { recursive: true });
});

const path = { type: "string" } as const;

/** Returns a path as effects have it: every link followed, names kept that do not exist yet. */
function canonical(given: string): string {
  try {
    return realpathSync(given);
  } catch {
    return join(canonical(dirname(given)), basename(given));
  }
}

/** Tools that change files of the folder, with effects as our packs have them. */
function toolsOf(): ExecutableTool[] {
  const scope = { resolve: async (given: string) => canonical(resolve(root, given)) };
  const parameters = { type: "object", properties: { path, to: path }, required: ["path"] } as const;
  const done = (verb: string) => (args: { path: string }) => {
    ran.push(`${verb} ${args.path}`);
    return `${verb} ${args.path}`;
  };
  const plain = { description: "For a test.", parameters };
  return [
    defineTool({
      ...{ ...plain, name: "write", execute: done("write") },
      effects: async (args) => [{ kind: "write", path: await scope.resolve(args.path), givenPath: args.path }],
    }),
    defineTool({
      ...{ ...plain, name: "append", execute: done("append") },
      effects: async (args) => [{ kind: "write", path: await scope.resolve(args.path), givenPath: args.path }],
    }),
    defineTool({
      ...{ ...plain, name: "start", execute: done("start") },
      effects: async (args) => [{ kind: "execute", path: await scope.resolve(args.path) }],
    }),
    defineTool({
      ...{ ...plain, name: "remove", execute: done("remove") },
      effects: async (args) => [
        { kind: "delete", path: await scope.resolve(args.path), ...(args.to !== undefined && { tree: true }) },
      ],
    }),
    defineTool({
      ...{ ...plain, name: "move", execute: done("move") },
      effects: async (args) => [
        { kind: "delete", path: await scope.resolve(args.path) },
        { kind: "write", path: await scope.resolve(args.to ?? "") },
      ],
    }),
    defineTool({ ...plain, name: "silent", execute: done("silent") }),
    defineTool({ ...plain, name: "nothing", execute: done("nothing"), effects: () => [] }),
    defineTool({
      ...{ ...plain, name: "shell", execute: done("shell") },
      effects: (args) => [{ kind: "execute", command: args.path, cwd: root }],
    }),
    defineTool({
      ...{ ...plain, name: "far", execute: done("far") },
      effects: (args) => [{ kind: "write", path: join(root, args.path), remote: "box" }],
    }),
  ];
}

type Decide = (call: GuardedCall) => GuardDecision;

/** Asks about every call of a program, and offers answers for more below the root. */
const asks: Decide = ({ name, args, within }) =>
  within === undefined || { ask: { text: `${name} ${String(args.path)}?`, data: { upTo: root, own: 1 } } };

function registryOf(decide: Decide = asks, tools = toolsOf()): ToolRegistry {
  const registry = new ToolRegistry(tools);
  registry.register(...createProgramTools(registry, { tools: tools.map(({ name }) => name) }));
  return registry.guard(decide);
}

/** Keeps the record of a program as JSON, as a session does. */
class Kept {
  readonly texts: string[] = [];
  answers: Record<string, ApprovalAnswer> = {};

  get log(): CallLog {
    const write = (lines: readonly object[]): void =>
      void this.texts.push(...lines.map((line) => JSON.stringify(line)));
    return { lines: this.texts.map((text) => JSON.parse(text)), answers: this.answers, write };
  }
}

/** Runs a program until it ends or asks. */
async function runOnce(registry: ToolRegistry, code: string, kept = new Kept()) {
  const outcome = await registry.invoke("run_program", { code }, { callId: "c", caller: { log: kept.log } });
  if (outcome.ok) return { output: outcome.output, asked: [] };
  const { error } = outcome;
  if (!isToolError(error) || error.code !== "approval_required") return { output: error.message, asked: [] };
  return { output: undefined, asked: error.details.within ?? [] };
}

/** Runs a program whose first round of questions gets one answer, for several calls; then to the next question or the end. */
async function answeredOnce(code: string, answer: ApprovalAnswer, decide?: Decide) {
  const kept = new Kept();
  const first = await runOnce(registryOf(decide), code, kept);
  kept.answers = { [first.asked[0]?.callId ?? ""]: answer };
  const second = await runOnce(registryOf(decide), code, kept);
  return { first: first.asked, next: second.asked.map(({ callId }) => callId), output: second.output, kept };
}

const folderOf = ({ question }: WithinQuestion): string | undefined =>
  offeredFolder(question)
    ?.slice(root.length + 1)
    .replaceAll(sep, "/");
const writes = (...paths: string[]): string =>
  `for (const path of ${JSON.stringify(paths)}) text(await tools.write({ path }).catch((error) => error.code))`;
const together = (name: string, ...args: object[]): string =>
  `return (await Promise.all(${JSON.stringify(args)}.map((one) => tools.${name}(one)))).join()`;

describe("a question of a program", () => {
  test("shows the effects of its call, and the folder for which more may be allowed, beside what its guard says", async () => {
    const { asked } = await runOnce(registryOf(), writes("src/a.ts"));
    const effects = [{ kind: "write", path: join(root, "src/a.ts"), givenPath: "src/a.ts" }];
    const question = { text: "write src/a.ts?", data: { upTo: join(root, "src"), own: 1 } };
    expect(asked).toEqual([{ callId: "c:1", name: "write", args: { path: "src/a.ts" }, effects, question }]);
  });

  test("of one round offers the common parent of the paths of its tool, none wider than its guard allows", async () => {
    const all = `await Promise.all([tools.write({ path: "src/deep/a" }), tools.write({ path: "src/b" }),
      tools.remove({ path: "src2/old" }), tools.move({ path: "src/x", to: "other/x" })])`;
    const { asked } = await runOnce(registryOf(), all);
    expect(asked.map(folderOf)).toEqual(["src", "src", "src2", ""]);
  });

  test("offers nothing where paths lie in two roots, one of which each guard's question names", async () => {
    const decide: Decide = ({ within, args }) =>
      within === undefined || { ask: { text: "?", data: { upTo: join(root, String(args.path).split("/")[0] ?? "") } } };
    const { asked } = await runOnce(registryOf(decide), together("write", { path: "src/a" }, { path: "src2/b" }));
    expect(asked.map(folderOf)).toEqual(["src", "src2"]);
    const across = await runOnce(registryOf(decide), together("move", { path: "src/a", to: "src2/b" }));
    expect(across.asked.map(folderOf)).toEqual([undefined]);
  });

  test.each(["silent", "nothing", "shell", "start", "far"])("offers nothing for the tool %s", async (name) => {
    const { first, next } = await answeredOnce(together(name, { path: "src/a" }, { path: "src/b" }), { upTo: 5 });
    expect(first.map(({ question }) => question.data)).toEqual([{ own: 1 }, { own: 1 }]);
    // An answer for several is none to these.
    expect([next, ran]).toEqual([["c:1", "c:2"], []]);
  });

  test("offers nothing for a path that is the root itself, or one that is not resolved", async () => {
    const { asked } = await runOnce(registryOf(), together("write", { path: "." }));
    expect(asked.map(folderOf)).toEqual([undefined]);
    const odd = defineTool({
      ...{ name: "odd", description: "For a test.", parameters: { type: "object", properties: { path } } },
      execute: () => "",
      effects: (args) => [{ kind: "write", path: String(args.path) }],
    });
    for (const one of [`${root}/src/../other/x`, "src/a", `${root}/src/..`]) {
      const answer = await runOnce(registryOf(asks, [odd]), together("odd", { path: one }));
      expect(answer.asked.map(folderOf)).toEqual([undefined]);
    }
  });

  test("offers nothing for the root of the file system itself", async () => {
    const parameters = { type: "object", properties: { path } } as const;
    const odd = defineTool({
      ...{ name: "odd", description: "For a test.", parameters, execute: () => "" },
      effects: () => [{ kind: "delete", path: resolve("/") }],
    });
    const decide: Decide = ({ within }) => within === undefined || { ask: { text: "?", data: { upTo: resolve("/") } } };
    const { asked } = await runOnce(registryOf(decide, [odd]), together("odd", {}));
    expect(asked.map(({ question }) => question.data)).toEqual([{}]);
  });

  test("offers nothing if its guard does not, or asks for words", async () => {
    for (const ask of ["?", { text: "?", data: { upTo: 1 } }, { text: "?", data: { upTo: "src" } }] as const) {
      const { asked } = await runOnce(
        registryOf(({ within }) => within === undefined || { ask }),
        writes("src/a"),
      );
      expect(asked.map(folderOf)).toEqual([undefined]);
    }
    const words: Decide = () => ({ ask: { text: "?", data: { upTo: root }, needs: "output" } });
    const { asked } = await runOnce(
      registryOf((call) => call.within === undefined || words(call)),
      writes("src/a"),
    );
    expect(asked.map(({ question }) => question.data)).toEqual([{}]);
  });
});

describe("an answer for several calls", () => {
  test("is for so many of a loop, the one shown counted, and not for one more", async () => {
    const { next } = await answeredOnce(writes("src/a", "src/b", "src/deep/c", "src/d"), { upTo: 3 });
    expect([next, ran]).toEqual([["c:4"], ["write src/a", "write src/b", "write src/deep/c"]]);
  });

  test("is for so many of one round, whichever of them it was given to", async () => {
    const code = together("write", { path: "src/a" }, { path: "src/b" }, { path: "src/c" });
    const kept = new Kept();
    await runOnce(registryOf(), code, kept);
    kept.answers = { "c:3": { upTo: 2 } };
    const { asked } = await runOnce(registryOf(), code, kept);
    expect([asked.map(({ callId }) => callId), ran]).toEqual([["c:2"], ["write src/a"]]);
    kept.answers = { "c:2": { upTo: 1 } };
    expect((await runOnce(registryOf(), code, kept)).output).toBe("write src/a,write src/b,write src/c");
    expect(ran).toEqual(["write src/a", "write src/b", "write src/c"]);
  });

  test("leaves a call that was denied out, and does not count it", async () => {
    const code = writes("src/a", "src/b", "src/c", "src/d");
    const all = `await Promise.allSettled([${["a", "b", "c", "d"].map((name) => `tools.write({ path: "src/${name}" })`)}])`;
    const kept = new Kept();
    await runOnce(registryOf(), all, kept);
    kept.answers = { "c:1": { upTo: 3 }, "c:2": "not b" };
    expect((await runOnce(registryOf(), all, kept)).asked).toEqual([]);
    expect(ran).toEqual(["write src/a", "write src/c", "write src/d"]);
    ran = [];
    // A guard's own denial wins.
    const locked: Decide = (call) => (call.args.path === "src/b" ? "b is locked" : asks(call));
    const { output } = await answeredOnce(code, { upTo: 4 }, locked);
    expect([output, ran]).toEqual([
      "write src/a\npermission_denied\nwrite src/c\nwrite src/d\n",
      ["write src/a", "write src/c", "write src/d"],
    ]);
  });

  test.each<[string, string, string]>([
    ["a sibling whose name begins alike", "write", '{ path: "src2/b" }'],
    ["the folder itself", "write", '{ path: "src" }'],
    ["a folder above", "write", '{ path: "b" }'],
    ["a way out by two dots", "write", '{ path: "src/../other/b" }'],
    ["another case", "write", '{ path: "SRC/b" }'],
    ["a path behind a link", "write", '{ path: "src/link/b" }'],
    ["another tool", "append", '{ path: "src/b" }'],
    ["effects of another kind", "remove", '{ path: "src/b" }'],
    ["a tool without effects", "silent", '{ path: "src/b" }'],
  ])("is not for %s", async (_, name, args) => {
    symlinkSync(join(root, "other"), join(root, "src/link"), "junction");
    const code = `await tools.write({ path: "src/a" }); return tools.${name}(${args})`;
    const { next } = await answeredOnce(code, { upTo: 5 });
    expect([next, ran]).toEqual([["c:2"], ["write src/a"]]);
  });

  test("is for a path that leads into the folder by links or two dots", async () => {
    symlinkSync(join(root, "src"), join(root, "into"), "junction");
    const { output } = await answeredOnce(writes("src/a", "into/b", "other/../src/c", "src/deep/../d"), { upTo: 5 });
    expect(output).toBe("write src/a\nwrite into/b\nwrite other/../src/c\nwrite src/deep/../d\n");
  });

  test("is not for a folder that is another one by then", async () => {
    const code = writes("src/a", "src/b");
    const kept = new Kept();
    await runOnce(registryOf(), code, kept);
    renameSync(join(root, "src"), join(root, "was"));
    symlinkSync(join(root, "other"), join(root, "src"), "junction");
    kept.answers = { "c:1": { upTo: 5 } };
    const { asked } = await runOnce(registryOf(), code, kept);
    // What would be written is not what was shown.
    expect([asked.map(({ callId }) => callId), asked.map(folderOf), ran]).toEqual([["c:1"], ["other"], []]);
  });

  test("is not for effects of another kind, nor for all that lies below", async () => {
    const moved = `await tools.remove({ path: "src/a" }); return tools.remove({ path: "src/deep", to: "all" })`;
    expect((await answeredOnce(moved, { upTo: 5 })).next).toEqual(["c:2"]);
    const changing = defineTool({
      ...{ name: "odd", description: "For a test.", parameters: { type: "object", properties: { path } } },
      execute: () => "done",
      effects: (args) => [{ kind: args.path === "b" ? "delete" : "write", path: join(root, "src", String(args.path)) }],
    });
    const kept = new Kept();
    const code = `await tools.odd({ path: "a" }); return tools.odd({ path: "b" })`;
    await runOnce(registryOf(asks, [changing]), code, kept);
    kept.answers = { "c:1": { upTo: 5 } };
    expect((await runOnce(registryOf(asks, [changing]), code, kept)).asked).toMatchObject([{ callId: "c:2" }]);
  });

  test("is not for another guard's question, nor for one that offers nothing", async () => {
    const decide: Decide = (call) => (call.args.path === "src/b" ? { ask: "This one?" } : asks(call));
    expect((await answeredOnce(writes("src/a", "src/b", "src/c"), { upTo: 5 }, decide)).next).toEqual(["c:2"]);
    ran = [];
    const kept = new Kept();
    const two = (): ToolRegistry => registryOf().guard(asks);
    await runOnce(two(), writes("src/a"), kept);
    kept.answers = { "c:1": { upTo: 5 } };
    expect((await runOnce(two(), writes("src/a"), kept)).asked).toMatchObject([{ question: { guard: 1 } }]);
    expect(ran).toEqual([]);
  });

  test("is none to a question that is asked anew, and offers nothing by then", async () => {
    const code = writes("src/a", "src/b");
    const kept = new Kept();
    await runOnce(registryOf(), code, kept);
    const decide: Decide = (call) => (call.args.path === "src/a" ? { ask: "Sure?" } : asks(call));
    kept.answers = { "c:1": true };
    await runOnce(registryOf(decide), code, kept);
    kept.answers = { "c:1": { upTo: 5 } };
    expect((await runOnce(registryOf(decide), code, kept)).asked).toMatchObject([{ callId: "c:1" }]);
    const free: Decide = (call) => call.args.path === "src/a" || asks(call);
    expect((await runOnce(registryOf(free), code, kept)).asked).toMatchObject([{ callId: "c:2" }]);
  });

  test("is not for another program", async () => {
    await answeredOnce(writes("src/a"), { upTo: 5 });
    expect((await runOnce(registryOf(), writes("src/a"))).asked).toHaveLength(1);
  });

  test("counts on in another process, also for calls that a crash cut off: these may have run", async () => {
    const code = writes("src/a", "src/b", "src/c", "src/d");
    const { kept, next } = await answeredOnce(code, { upTo: 3 });
    expect(next).toEqual(["c:4"]);
    // Killed while the third call ran.
    const third = kept.texts.findIndex((text) => /"type":"start".*"number":3/.test(text));
    kept.texts.splice(third + 1);
    kept.answers = {};
    ran = [];
    const { asked } = await runOnce(registryOf(), code, kept);
    expect([asked.map(({ callId }) => callId), ran]).toEqual([["c:4"], []]);
    expect(kept.texts.filter((text) => text.includes("Interrupted; may have run"))).toHaveLength(1);
  });

  test("and a yes of a round, that a crash cut off once its call had begun, do not run it again", async () => {
    for (const answers of [{ "c:1": { upTo: 2 } }, { "c:1": true, "c:2": true }]) {
      const code = `return (await Promise.allSettled([tools.write({ path: "src/a" }), tools.write({ path: "src/b" })])).map(({ reason, value }) => value ?? reason.message)`;
      const kept = new Kept();
      await runOnce(registryOf(), code, kept);
      kept.answers = answers;
      await runOnce(registryOf(), code, kept);
      kept.texts.splice(0, kept.texts.length, ...kept.texts.filter((text) => !/"type":"end".*"number":2/.test(text)));
      kept.answers = {};
      ran = [];
      const { output } = await runOnce(registryOf(), code, kept);
      expect([JSON.parse(output ?? ""), ran]).toEqual([
        ["write src/a", "Error executing write: Interrupted; may have run"],
        [],
      ]);
    }
  });

  test("counts on where calls are steps, some of which were not recorded when the process died", async () => {
    const scope = { resolve: async (given: string) => canonical(resolve(root, given)) };
    const parameters = { type: "object", properties: { path }, required: ["path"] } as const;
    const look = defineTool({
      ...{ name: "look", description: "For a test.", parameters, readOnly: true },
      effects: async (args) => [{ kind: "read", path: await scope.resolve(args.path) }],
      execute: (args) => void ran.push(args.path),
    });
    const records = new Map<string, string>();
    const step: CallLog["step"] = async (work, call) => {
      const name = String(call?.number ?? "program");
      const recorded = records.get(name);
      // A database answers later than a call begins.
      if (recorded !== undefined) await new Promise((done) => setTimeout(done, 20));
      const value = recorded === undefined ? await work({ mayHaveRun: false }) : JSON.parse(recorded);
      records.set(name, JSON.stringify(value));
      return value;
    };
    const code = together("look", ...[1, 2, 3, 4].map((n) => ({ path: `src/${n}` })));
    const kept = new Kept();
    const runSteps = async () => {
      const log = { ...kept.log, step };
      const caller = { callId: "c", caller: { log } };
      return await registryOf(asks, [look]).invoke("run_program", { code }, caller);
    };
    await runSteps();
    kept.answers = { "c:1": { upTo: 2 } };
    records.clear();
    const lines = [...kept.texts];
    await runSteps();
    expect(ran).toEqual(["src/1", "src/2"]);
    kept.texts.splice(0, kept.texts.length, ...lines);
    for (const name of ["3", "4"]) records.delete(name);
    await runSteps();
    expect(ran).toEqual(["src/1", "src/2"]);
  });

  test("ends with the program whose record cannot be kept: what it allows does not run", async () => {
    const kept = new Kept();
    await runOnce(registryOf(), writes("src/a", "src/b"), kept);
    kept.answers = { "c:1": { upTo: 2 } };
    const log: CallLog = {
      ...kept.log,
      write: async (lines) => {
        if (JSON.stringify(lines).includes('"by":1,"number":2') || JSON.stringify(lines).includes('"number":2,"by":1'))
          throw new Error("the disk is full");
      },
    };
    const code = writes("src/a", "src/b");
    const output = await registryOf().execute("run_program", { code }, { callId: "c", caller: { log } });
    expect(output).toContain("it cannot go on: its record cannot be kept: the disk is full");
    expect(ran).toEqual(["write src/a"]);
  });

  test("is one of approve in place too, and nobody is asked about what it covers", async () => {
    const seen: unknown[] = [];
    const approve: Approve = ({ effects }, { data }) => {
      seen.push([effects?.map(({ kind }) => kind), data]);
      return { upTo: seen.length === 1 ? 2 : 0 };
    };
    const code = writes("src/a", "src/b", "src/c", "src/d");
    const output = await registryOf().execute("run_program", { code }, { callId: "c", approve });
    expect(output).toBe("write src/a\nwrite src/b\npermission_denied\npermission_denied\n");
    const shown = [["write"], { upTo: join(root, "src"), own: 1 }];
    expect([seen, ran]).toEqual([
      [shown, shown, shown],
      ["write src/a", "write src/b"],
    ]);
  });
});

test("random programs never run more calls than were allowed, nor one elsewhere", async () => {
  rmSync(join(root, "src2"), { recursive: true });
  for (let most = 1; most <= 6; most += 1) {
    ran = [];
    const code = `const one = (n) => tools.write({ path: (n % 3 === 0 ? "other/" : "src/") + n }).catch(() => "no");
      await Promise.all([1, 2].map(one)); for (const n of [3, 4, 5]) await one(n); await Promise.all([6, 7, 8].map(one))`;
    const kept = new Kept();
    let { asked } = await runOnce(registryOf(), code, kept);
    kept.answers = { "c:1": { upTo: most } };
    for (let round = 0; round < 20; round += 1) {
      ({ asked } = await runOnce(registryOf(), code, kept));
      if (asked.length === 0) break;
      kept.answers = Object.fromEntries(asked.map(({ callId }) => [callId, false]));
    }
    expect(ran).toEqual([1, 2, 4, 5, 7, 8].slice(0, most).map((n) => `write src/${n}`));
  }
});
