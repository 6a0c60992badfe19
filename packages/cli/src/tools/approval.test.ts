import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PendingCall } from "@toolcrib/agent";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { findFolders } from "../state/folders.ts";
import type { Asker } from "../terminal/ask.ts";
import { createStyle } from "../terminal/style.ts";
import { answersTo, approveOnTerminal } from "./approval.ts";
import { createPermissions, type PermissionFlags, type Permissions } from "./permissions.ts";

const text = { type: "string" } as const;
const parameters = {
  type: "object",
  properties: { command: text, path: text, content: text, note: text },
  additionalProperties: true,
} as const;

let folder = "";
const notes: string[] = [];
beforeEach(() => {
  folder = temporaryFolder("approval");
  mkdirSync(join(folder, "root"));
  notes.length = 0;
});

function permissionsOf(flags: PermissionFlags = {}, state = join(folder, "state")): Permissions {
  const style = { dim: (line: string) => line };
  const terminal = { style, note: (line: string) => notes.push(line) } as never;
  return createPermissions(
    flags,
    [join(folder, "root")],
    { folders: findFolders({ XDG_STATE_HOME: state }), cwd: folder, terminal },
    "ask",
  );
}

interface Asking {
  registry: ToolRegistry;
  permissions: Permissions;
  questions: string[];
  /** Runs a call, whose questions are answered on the terminal. */
  run(name: string, args?: Record<string, unknown>): Promise<string>;
  /** The calls as an agent keeps them until they are answered. */
  pending(...calls: [name: string, args: Record<string, unknown>][]): Promise<PendingCall[]>;
  answers(calls: readonly PendingCall[]): ReturnType<typeof answersTo>;
}

function asking(answers: (string | undefined)[], flags?: PermissionFlags, state?: string): Asking {
  const permissions = permissionsOf(flags, state);
  const registry = new ToolRegistry().guard(permissions.policy.guard);
  for (const name of ["look", "change", "break"]) {
    const execute = (): string => `${name} done`;
    registry.register(defineTool({ name, description: name, parameters, readOnly: name === "look", execute }));
  }
  registry.register(
    defineTool({
      name: "shell",
      description: "shell",
      parameters,
      effects: ({ command = "" }) => [{ kind: "execute", command, cwd: join(folder, "root") }],
      execute: () => "shell done",
    }),
  );
  const questions: string[] = [];
  const asker: Asker = {
    size: { columns: 80, rows: 24 },
    async ask(question) {
      questions.push(question);
      return answers.length > 0 ? answers.shift() : "";
    },
  };
  const { signal } = new AbortController();
  const asked = {
    asker,
    permissions,
    registry,
    style: createStyle(false),
    signal,
    note: (line: string): void => void notes.push(line),
  };
  const approve = approveOnTerminal(asked);
  return {
    registry,
    permissions,
    questions,
    run: (name, args = {}) => registry.execute(name, args, { approve }),
    async pending(...calls) {
      const all = calls.map(async ([name, args], index): Promise<PendingCall> => {
        const outcome = await registry.invoke(name, args);
        const { question } = (!outcome.ok && (outcome.error.details as Partial<PendingCall>)) || {};
        if (!question) throw new Error("expected a question");
        return { callId: `${index}`, name, args, question };
      });
      return Promise.all(all);
    },
    answers: (calls) => answersTo(calls, asked),
  };
}

const said = "Error executing change: Permission denied: the user said no to this call";

test.each(["y", "Yes", " yes "])("%j lets the call run", async (answer) => {
  expect(await asking([answer]).run("change")).toBe("change done");
});

test.each(["", "n", "No "])("%j refuses it", async (answer) => {
  expect(await asking([answer]).run("change")).toBe(said);
});

test.each(["yess", "put it into b.txt", "what?", "always not"])(
  "%j refuses it, and the model reads why",
  async (answer) => {
    expect(await asking([answer]).run("change")).toBe(`${said}: ${answer}`);
  },
);

test.each(["1", "12", "x", "e", "?"])("%j is neither yes nor no, so it is asked again", async (slip) => {
  const { run, questions } = asking([slip, "y"]);
  expect(await run("break")).toBe("break done");
  expect(questions[1]).toBe(`${slip} is none of [y]es, [a]lways, [v]iew, [n]o, or why not, then Enter: `);
});

test("what always holds for stands below its word", async () => {
  const { run, questions } = asking([""]);
  await run("shell", { command: `rm ${"long ".repeat(20)}` });
  expect(questions[0]).toMatch(/\nalways: `rm [^\n]*\n {2}\S/);
});

test("a question that is left unanswered refuses a call that waits for nothing else", async () => {
  expect(await asking([undefined]).run("change")).toContain("the user left the question unanswered");
});

test("the calls that wait are asked about in turn, with the user's own words for a no", async () => {
  const { pending, answers } = asking(["y", "not there"]);
  const calls = await pending(["change", { path: "a" }], ["break", { path: "b" }]);
  expect(await answers(calls)).toEqual({ 0: true, 1: "the user said no to this call: not there" });
});

test("what has its answer already is not asked about again", async () => {
  const { pending, answers, questions } = asking(["n"]);
  const [first, second] = await pending(["change", {}], ["break", {}]);
  const calls = [{ ...(first as PendingCall), answer: true }, second as PendingCall];
  expect(await answers(calls)).toEqual({ 1: "the user said no to this call" });
  expect(questions).toHaveLength(1);
});

test("leaving one question answers none of them", async () => {
  const { pending, answers } = asking(["y", undefined]);
  expect(await answers(await pending(["change", {}], ["break", {}]))).toBeUndefined();
});

test("the question says what would happen and why it is asked, then shows the whole call, and nothing invisible", async () => {
  const { run, questions } = asking(["n"]);
  const command = `echo ${"x".repeat(200)}\n\u001b[2K; rm\u00a0-r \u202e.\u200b\n  note: harmless`;
  await run("change", { note: "harmless", command });
  const [why, ...rows] = questions[0]?.split("\n") ?? [];
  expect(why).toMatch(/^change would [^;]*$/);
  expect(rows.slice(0, 7)).toEqual([
    "  command:",
    `  | echo ${"x".repeat(70)}`,
    `  ↳ ${"x".repeat(75)}`,
    `  ↳ ${"x".repeat(55)}`,
    "  | <U+001B>[2K; rm<U+00A0>-r <U+202E>.<U+200B>",
    "  |   note: harmless",
    "  note: harmless",
  ]);
  expect(rows.slice(7).join("\n")).toMatch(
    /^asked: the tool does not say what it does\nalways: exactly this call of change, in this folder\n\[y\]es, \[a\]lways, \[v\]iew, \[n\]o, or why not, then Enter: $/,
  );
});

test.each([
  ["make; make install; touch a", "asked: `make` and 2 more commands may change something"],
  ["make && touch a", "asked: `make` and 1 more command may change something"],
  ["make", "asked: `make` is not a read-only command"],
  ["for a in b; do echo $a; done", "asked: it cannot be judged: "],
])("a question about %j shows it once, and says why it is asked", async (command, why) => {
  const { run, questions } = asking(["n"]);
  await run("shell", { command });
  const [title, shown, reason] = questions[0]?.split("\n") ?? [];
  expect([title, shown]).toEqual(["shell would run:", `  command: ${command}`]);
  expect(reason).toContain(why);
});

test("spaces at an end and tabs are shown, but for indentation; an empty value is named", async () => {
  const { run, questions } = asking([]);
  await run("change", { path: "\ta\tb  ", content: "\tx\ty \n", note: "" });
  expect(questions[0]?.split("\n").slice(1, 6)).toEqual([
    "  path: <U+0009>a<U+0009>b<U+0020><U+0020>",
    "  content:",
    "  |     x<U+0009>y<U+0020>",
    "  | ",
    "  note: (empty)",
  ]);
});

test("a call longer than the screen is cut in the middle of each argument, says so, and v shows every row", async () => {
  const { run, questions } = asking(["v", "V", "view", "y"]);
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);
  expect(await run("change", { content: lines.join("\n"), path: "a.txt" })).toBe("change done");
  const [first = "", ...pages] = questions;
  expect(first.split("\n").length).toBeLessThan(24);
  expect(first).toMatch(
    /\n {2}path: a\.txt\n {2}content:\n {2}\| line 1\n[\s\S]* … \d+ more rows\n[\s\S]*line 50\n[\s\S]*\[y\].*\[v\]iew/,
  );
  expect(pages).toHaveLength(3);
  const seen = pages.flatMap((page) => page.split("\n").slice(0, -2));
  expect(seen.slice(-52)).toEqual(["  path: a.txt", "  content:", ...lines.map((line) => `  | ${line}`)]);
  // Before the arguments what was asked, and what a yes for good would hold for, in full.
  expect(seen[0]).toMatch(/^change would .*; asked because/);
  expect(seen.join(" ")).toMatch(/always means change: with exactly \{"content":/);
  expect(pages[0]).toMatch(/\n\(rows 1 to 20 of \d+; v shows the next\)\n\[y\]es/);
});

test("many arguments never push the command off the screen", async () => {
  const { run, questions } = asking(["n"]);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`a${index}`, "x\n".repeat(100)]));
  await run("change", { ...many, command: `rm -r a\n${"#\n".repeat(500)}rm -r b` });
  expect(questions[0]?.split("\n").length).toBeLessThan(24);
  expect(questions[0]).toMatch(/\n {2}command:\n {2}\| rm -r a\n[\s\S]*\| rm -r b\n[\s\S]*… \d+ more arguments/);
});

test("always holds for exactly this call, also in a later run, until it is revoked", async () => {
  const first = asking(["a"]);
  expect(await first.run("change", { path: "a" })).toBe("change done");
  const later = asking(["n", "n", "n", "n"]);
  expect(await later.run("change", { path: "a" })).toBe("change done");
  expect(later.questions).toEqual([]);
  expect(await later.run("change", { path: "a", content: "x" })).toBe(said);
  expect(await later.run("break", { path: "a" })).toContain("said no");
  const [kept] = await later.permissions.policy.list();
  expect(kept?.text).toBe('change: with exactly {"path":"a"}');
  await later.permissions.policy.revoke(kept?.id ?? "");
  expect(await later.run("change", { path: "a" })).toBe(said);
});

test("always does not hold for a tool that has changed since", async () => {
  await asking(["a"]).run("change", { path: "a" });
  const { registry, run } = asking(["n"]);
  registry.unregister("change");
  const changed = { ...parameters, properties: { ...parameters.properties, more: text } };
  registry.register(defineTool({ name: "change", description: "c", parameters: changed, execute: () => "changed" }));
  expect(await run("change", { path: "a" })).toBe(said);
});

test("always is not offered, and its letter no yes, where a rule asks", async () => {
  const { run, questions } = asking(["a"], { ask: ["change"] });
  expect(await run("change", { path: "a" })).toBe(said);
  expect(questions[0]).toMatch(/\n\[y\]es, \[v\]iew, \[n\]o, or why not, then Enter: $/);
});

test("where the tools may write the file of answers, always holds until the program ends, and says so", async () => {
  const state = (): string => join(folder, "root", "state");
  const first = asking(["a"], {}, state());
  expect(await first.run("change", { path: "a" })).toBe("change done");
  expect(first.questions[0]).toContain("always, until toolcrib ends: exactly this call of change, in this folder");
  expect(await first.run("change", { path: "a" })).toBe("change done");
  expect(first.questions).toHaveLength(1);
  expect(await asking(["n"], {}, state()).run("change", { path: "a" })).toBe(said);
});

test("a yes for good that cannot be kept lets the call run, and says so", async () => {
  const { run } = asking(["a"], {}, "/dev/null/x");
  expect(await run("change", { path: "a" })).toBe("change done");
  expect(notes.join("\n")).toMatch(/The answer covers only this call: \S/);
});

test("calls side by side are asked about one after the other", async () => {
  const { run } = asking(["y", "n"]);
  const outcomes = await Promise.all([run("change"), run("break")]);
  // Either may be asked about first; each answer is that of one question.
  expect(outcomes.filter((outcome) => outcome.endsWith(" done"))).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome.includes("said no"))).toHaveLength(1);
});
