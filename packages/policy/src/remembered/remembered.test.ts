import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ApprovalQuestion,
  defineTool,
  type ExecutableTool,
  type GuardedCall,
  type ToolEffect,
  ToolRegistry,
} from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, describe, expect, test } from "vitest";
import { type BashToolOptions, createBashTools } from "../../../tools-bash/src/index.ts";
import { createFsTools } from "../../../tools-fs/src/fileSystem.ts";
import {
  createPolicy,
  fileStore,
  memoryStore,
  type Policy,
  type PolicyOptions,
  type PolicyQuestion,
  type RememberedStore,
} from "../index.ts";
import type { RememberedAnswer } from "./store.ts";

let root: string;
let state: string;

beforeEach(() => {
  root = temporaryFolder("policy");
  state = temporaryFolder("policy-state");
  mkdirSync(join(root, "src"));
});

type Args = Record<string, unknown>;

/** Calls a tool; the answer to a question is kept for good. */
async function always(
  policy: Policy,
  tools: readonly ExecutableTool[],
  name: string,
  args: Args,
): Promise<{ output: string; asked: PolicyQuestion[] }> {
  const registry = new ToolRegistry(tools).guard(policy.guard);
  const asked: PolicyQuestion[] = [];
  const approve = async (call: GuardedCall, question: ApprovalQuestion): Promise<boolean> => {
    asked.push(question.data as PolicyQuestion);
    if ((question.data as PolicyQuestion).remember) await policy.remember(call, question);
    return true;
  };
  return { output: await registry.execute(name, args, { approve }), asked };
}

const files = (): ExecutableTool[] => createFsTools({ cwd: root });
const policyWith = (remembered: RememberedStore, more: PolicyOptions = {}): Policy =>
  createPolicy({ roots: root, remembered, ...more });
const write = (path: string): [string, Args] => ["write_file", { path, content: "x" }];

describe("a yes that is kept", () => {
  test("holds in another process, for exactly this path, tool and folder", async () => {
    const path = join(state, "policy/answers.json");
    const first = await always(policyWith(fileStore(path)), files(), ...write("src/a"));
    expect(first.asked[0]?.remember?.text).toBe("write_file: write src/a");
    expect((await always(policyWith(fileStore(path)), files(), ...write("src/a"))).asked).toEqual([]);
    expect((await always(policyWith(fileStore(path)), files(), ...write("src/b"))).asked).toHaveLength(1);
    expect((await always(policyWith(fileStore(path)), files(), "mkdir", { path: "src/a" })).asked).toHaveLength(1);
    const elsewhere = createPolicy({ roots: [root, "/usr"], remembered: fileStore(path) });
    expect((await always(elsewhere, files(), ...write("src/a"))).asked).toHaveLength(1);
  });

  test("is readable by the user only", async () => {
    const path = join(state, "policy/answers.json");
    await always(policyWith(fileStore(path)), files(), ...write("src/a"));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(state, "policy")).mode & 0o777).toBe(0o700);
    expect(readFileSync(path, "utf8")).not.toContain("*");
  });

  test("is void when the tool changes", async () => {
    const store = memoryStore();
    const tool = (description: string, parameters: object, more: object = {}): ExecutableTool => ({
      ...defineTool({ name: "own", description, parameters: { type: "object", ...parameters }, execute: () => "" }),
      ...more,
    });
    const ask = async (one: ExecutableTool, args: Args = {}): Promise<number> =>
      (await always(policyWith(store), [one], "own", args)).asked.length;
    expect(await ask(tool("a", {}))).toBe(1);
    expect(await ask(tool("b", {}))).toBe(0);
    expect(await ask(tool("a", { properties: { x: { type: "string" } } }))).toBe(1);
    expect(await ask(tool("a", {}, { origin: "mcp:x" }))).toBe(1);
    expect(await ask(tool("b", {}, { origin: "mcp:x" }))).toBe(1);
    expect(await ask(tool("a", {}, { openWorld: true }))).toBe(1);
    expect(await ask(tool("a", {}), { other: 1 })).toBe(1);
    const effects = (): ToolEffect[] => [{ kind: "write", path: join(root, "src/a") }];
    const remote = (): ToolEffect[] => effects().map((effect) => ({ ...effect, remote: "web" }));
    const more = { properties: { x: { type: "string" } } };
    for (const [known, asked] of [
      [{ effects, origin: "@toolcrib/tools-own" }, 0],
      [{ effects: remote, origin: "web: @toolcrib/tools-own" }, 0],
      [{ effects, origin: "web: @toolcrib/tools-own" }, 1],
      [{ effects, origin: "own" }, 1],
      [{ effects, origin: "@toolcrib/mcp" }, 1],
    ] as const) {
      expect(await ask(tool("a", {}, known))).toBe(1);
      expect([known.origin, await ask(tool("a", more, known))]).toEqual([known.origin, asked]);
    }
  });

  test("to a command holds only for a command that is confined in the same way", async () => {
    const store = memoryStore();
    const ask = async (way: BashToolOptions, more: Args = {}): Promise<PolicyQuestion[]> => {
      const runner: BashToolOptions["runner"] = () => Promise.reject(new Error("not run"));
      const tools = createBashTools({ cwd: root, background: true, runner, ...way });
      return (await always(policyWith(store), tools, "run_bash", { command: "touch made", ...more })).asked;
    };
    const confined: BashToolOptions = { sandbox: true, scrubEnv: true };
    const [first] = await ask(confined);
    expect(first?.effects[0]?.confinement).toContain("sandbox");
    expect(first?.remember?.text).toContain("run: touch made (sandbox; scrubEnv;");
    expect(await ask(confined)).toEqual([]);
    for (const way of [
      { ...confined, sandbox: false },
      { ...confined, sandbox: { network: true } },
      { ...confined, sandbox: { unixSockets: true } },
      { ...confined, scrubEnv: false },
      {},
    ]) {
      expect(await ask(way), JSON.stringify(way)).toHaveLength(1);
    }
    expect(await ask(confined, { background: true })).toHaveLength(1);
    expect(await ask(confined)).toEqual([]);
  });

  test.each<[ToolEffect, string]>([
    [{ kind: "network", host: "x.com" }, "reach x.com"],
    [{ kind: "network", host: "x.com", path: "/a", command: "b" }, "reach x.com"],
    [{ kind: "network" }, "use the network"],
    [{ kind: "write" }, "write files that are not named"],
  ])("to %j holds only for the same arguments", async (effect, what) => {
    const store = memoryStore();
    const plain = { name: "own", description: "a", parameters: { type: "object" }, execute: () => "" };
    const tool = { ...defineTool(plain), effects: () => [effect] };
    const ask = async (args: Args): Promise<PolicyQuestion[]> =>
      (await always(policyWith(store), [tool], "own", args)).asked;
    const [first] = await ask({ u: "a", v: 1 });
    expect(first?.remember?.text).toBe(`own: ${what} with exactly {"u":"a","v":1}`);
    expect(await ask({ v: 1, u: "a" })).toEqual([]);
    expect(await ask({ u: "zzz", body: "secret" })).toHaveLength(1);
    expect(await ask({})).toHaveLength(1);
  });

  test("is listed, and revoked", async () => {
    const store = memoryStore();
    const policy = policyWith(store);
    await always(policy, files(), ...write("src/a"));
    const elsewhere = createPolicy({ roots: state, remembered: store });
    expect(await elsewhere.list()).toEqual([]);
    const [answer] = await policy.list();
    expect(answer).toMatchObject({
      tool: "write_file",
      origin: "@toolcrib/tools-fs",
      folders: [root],
      text: "write_file: write src/a",
    });
    expect(Date.parse(answer?.at ?? "")).not.toBeNaN();
    expect(await policy.revoke("another")).toBe(false);
    expect(await policy.revoke(answer?.id ?? "")).toBe(true);
    expect(await policy.list()).toEqual([]);
    expect((await always(policy, files(), ...write("src/a"))).asked).toHaveLength(1);
  });

  test("is kept for a question that waited in another process", async () => {
    const store = memoryStore();
    const registry = new ToolRegistry(files()).guard(policyWith(store).guard);
    const checked = await registry.check(...write("src/a"));
    if (checked.ok || checked.error.code !== "approval_required") throw new Error("not asked");
    const question = JSON.parse(
      JSON.stringify((checked.error.details as { question: ApprovalQuestion }).question),
    ) as ApprovalQuestion;
    const tool = files().find(({ name }) => name === "write_file") as ExecutableTool;
    await policyWith(store).remember({ name: "write_file", args: write("src/a")[1], tool }, question);
    expect((await registry.check(...write("src/a"))).ok).toBe(true);
  });

  test("is kept once when given twice", async () => {
    const policy = policyWith(memoryStore());
    const seen: [GuardedCall, ApprovalQuestion][] = [];
    const registry = new ToolRegistry(files()).guard(policy.guard);
    const approve = (call: GuardedCall, question: ApprovalQuestion): boolean => seen.push([call, question]) > 0;
    await registry.execute(...write("src/a"), { approve });
    const [call, question] = seen[0] as [GuardedCall, ApprovalQuestion];
    await policy.remember(call, question);
    await expect(policy.remember(call, question)).rejects.toThrow("cannot be remembered");
    expect(await policy.list()).toHaveLength(1);
  });

  test("never beats deny, an ask rule or a protected path, and is not offered there", async () => {
    const store = memoryStore();
    await always(policyWith(store), files(), ...write("src/a"));
    const denied = await always(policyWith(store, { deny: ["effect:write(src/a)"] }), files(), ...write("src/a"));
    expect(denied.output).toContain("Permission denied");
    const asked = await always(policyWith(store, { ask: ["effect:write(src/a)"] }), files(), ...write("src/a"));
    expect(asked.asked[0]?.remember).toBeUndefined();
    const protectedNow = await always(policyWith(store, { protect: ["src/a"] }), files(), ...write("src/a"));
    expect(protectedNow.asked[0]?.decidedBy).toEqual({ by: "protected", pattern: "src/a" });
    expect(protectedNow.asked[0]?.remember).toBeUndefined();
    const readOnly = await always(policyWith(store, { mode: "read-only" }), files(), ...write("src/a"));
    expect(readOnly.output).toContain("Permission denied");
  });

  test("is kept only for the call of the question, and only where it may be kept", async () => {
    const policy = policyWith(memoryStore(), { ask: ["mkdir"] });
    const seen: [GuardedCall, ApprovalQuestion][] = [];
    const registry = new ToolRegistry(files()).guard(policy.guard);
    const approve = (call: GuardedCall, question: ApprovalQuestion): boolean => seen.push([call, question]) < 0;
    await registry.execute(...write("src/a"), { approve });
    await registry.execute(...write("src/b"), { approve });
    await registry.execute("mkdir", { path: "src/c" }, { approve });
    const [[a], [, questionB], [c, questionC]] = seen as [
      [GuardedCall, ApprovalQuestion],
      [GuardedCall, ApprovalQuestion],
      [GuardedCall, ApprovalQuestion],
    ];
    await expect(policy.remember(a, questionB)).rejects.toThrow("about another call");
    await expect(policy.remember(a, { text: "x" })).rejects.toThrow("about another call");
    await expect(policy.remember(c, questionC)).rejects.toThrow("cannot be remembered");
    await expect(createPolicy({ roots: root }).remember(a, questionB)).rejects.toThrow("pass the option remembered");
    expect(await policy.list()).toEqual([]);
  });

  test("is not offered for arguments that JSON cannot distinguish, or that are too long", async () => {
    const tool = (value: unknown): ExecutableTool => ({
      ...defineTool({ name: "own", description: "a", parameters: { type: "object" }, execute: () => "" }),
      parseArguments: () => ({ value: { value } }),
    });
    const asked = async (value: unknown): Promise<boolean> => {
      const { asked } = await always(policyWith(memoryStore()), [tool(value)], "own", {});
      expect(asked).toHaveLength(1);
      return asked[0]?.remember !== undefined;
    };
    for (const value of [
      new Map(),
      new Date(),
      Number.NaN,
      10n,
      () => 1,
      [new Set()],
      { deep: new Date() },
      "x".repeat(100_000),
    ]) {
      expect(await asked(value), String(value).slice(0, 20)).toBe(false);
    }
    for (const value of [null, true, 1, "x", [1, { a: undefined }], {}]) expect(await asked(value)).toBe(true);
    let deep: unknown = [];
    for (let level = 0; level < 120; level += 1) deep = [deep];
    expect(await asked(deep)).toBe(false);
  });
});

describe("the file of remembered answers", () => {
  const path = (): string => join(state, "answers.json");

  test("is refused below a root, through a link too, and by a relative path", () => {
    symlinkSync(join(root, "src"), join(state, "link"));
    for (const inside of [join(root, "a.json"), join(root, "src/deep/a.json"), join(state, "link/a.json")]) {
      expect(() => policyWith(fileStore(inside))).toThrow("below a root");
    }
    expect(() => createPolicy({ roots: state, cwd: root, remembered: fileStore(join(root, "a")) })).toThrow(
      "below a root",
    );
    expect(() => fileStore("answers.json")).toThrow("must be absolute");
    expect(() => fileStore("/a\0b")).toThrow(TypeError);
    expect(() => policyWith({} as RememberedStore)).toThrow("must be a store");
    expect(() => policyWith(null as unknown as RememberedStore)).toThrow("must be a store");
  });

  test.each([
    "{",
    "[]",
    '{"answers":1}',
    '{"answers":[{}]}',
    '{"answers":[null]}',
    '{"answers":[{"id":"x","tool":"t","origin":"o","folders":[1],"text":"t","at":""}]}',
  ])("that holds %s counts as empty, gives a warning, and is replaced", async (text) => {
    writeFileSync(path(), text, { mode: 0o600 });
    const warnings: string[] = [];
    const store = fileStore(path(), { onWarning: (message) => warnings.push(message) });
    expect(await store.load()).toEqual([]);
    expect(warnings).toEqual([
      `${path()} does not contain remembered answers, so none count; the next answer replaces it`,
    ]);
    await always(policyWith(store), files(), ...write("src/a"));
    expect(await store.load()).toHaveLength(1);
  });

  test("that others can write counts as empty, gives a warning, and is not written", async () => {
    await always(policyWith(fileStore(path())), files(), ...write("src/a"));
    chmodSync(path(), 0o666);
    const warnings: string[] = [];
    const store = fileStore(path(), { onWarning: (message) => warnings.push(message) });
    expect(await store.load()).toEqual([]);
    expect(warnings[0]).toContain("the file that stores the remembered answers is not trusted: others can write it");
    await expect(store.change(() => [])).rejects.toThrow("not trusted");
    expect((await always(policyWith(fileStore(path())), files(), ...write("src/b"))).output).toContain(
      "Permission denied",
    );
  });

  test("is not made by reading", async () => {
    expect(await fileStore(path()).load()).toEqual([]);
    expect(existsSync(path())).toBe(false);
  });

  test.each([
    ["file", () => fileStore(path())],
    ["memory", memoryStore],
  ] as const)("keeps the newest thousand (%s)", async (_name, make) => {
    const answers = Array.from(
      { length: 1001 },
      (_, index): RememberedAnswer => ({ id: String(index), tool: "t", origin: "o", folders: [], text: "x", at: "" }),
    );
    const store = make();
    await store.change(() => answers);
    const kept = await store.load();
    expect(kept).toHaveLength(1000);
    expect(kept[0]?.id).toBe("1");
  });
});
