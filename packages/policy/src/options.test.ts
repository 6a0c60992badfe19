import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { defineTool, type ExecutableTool, type GuardDecision, type ToolEffect } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { oneLine } from "./describe.ts";
import type { PolicyOptions, PolicyQuestion } from "./index.ts";

const system = vi.hoisted(() => ({ account: (): { homedir: string } => ({ homedir: "/home/of-the-account" }) }));

vi.mock("node:os", async (importOriginal) => ({
  ...(await importOriginal<typeof import("node:os")>()),
  userInfo: () => system.account(),
}));

// Test files share a process: the modules are loaded again with this account, and once more afterwards.
vi.resetModules();
const { createPolicy } = await import("./index.ts");
afterAll(() => {
  vi.doUnmock("node:os");
  vi.resetModules();
});

const { account } = system;

afterEach(() => {
  vi.unstubAllEnvs();
  system.account = account;
});

describe("an impossible option is refused", () => {
  test.each([
    [{ mod: "ask" }, 'unknown option "mod"; did you mean "mode"?'],
    [{ mode: "yolo" }, "mode must be one of ask, read-only, accept-edits, full"],
    [{ mode: null }, "mode must be one of"],
    [{ allow: "read_file" }, "allow must be an array of rules"],
    [{ deny: ["nope("] }, "deny: "],
    [{ deny: ["effect:read(a/../b)"] }, 'deny: "effect:read(a/../b)" is malformed: Invalid path pattern'],
    [{ allow: ["write_file(!x)"] }, 'allow: "write_file(!x)" is malformed'],
    [{ ask: ["run_bash(a | b)"] }, 'ask: "run_bash(a | b)" is malformed: it must be one simple command'],
    [{ ask: ["effect:execute(*)"] }, "it names no program"],
    [{ deny: ["effect:network(a b)"] }, "not the name or address of a host"],
    [{ roots: [] }, "root must be the path of a directory"],
    [{ roots: 5 }, "root must be"],
    [{ roots: "" }, "root must be the path of a directory"],
    [{ readable: [5] }, "root must be"],
    [{ cwd: "" }, "cwd must be the path of a directory"],
    [{ home: "relative", deny: ["effect:read(~/x)"] }, "home"],
    [{ home: "" }, "createPolicy: home must be an absolute path"],
    [{ home: 5 }, "createPolicy: home must be an absolute path"],
    [{ denied: [1] }, "denied must be an array of path patterns"],
    [[], "options must be a plain object"],
  ])("%j", (options, message) => {
    expect(() => createPolicy(options as unknown as PolicyOptions)).toThrow(message);
  });

  test("no home at all", () => {
    vi.stubEnv("HOME", "");
    system.account = () => {
      throw new Error("no such user");
    };
    expect(() => createPolicy()).toThrow("createPolicy: the user's home is not known, since HOME is not an absolute");
    expect(() => createPolicy({ home: "/home/me" })).not.toThrow();
    system.account = () => ({ homedir: "relative" });
    expect(() => createPolicy()).toThrow("set it, or pass the option home");
  });

  test("too many rules", () => {
    const rules = Array.from({ length: 10_001 }, (_, index) => `tool${index}`);
    expect(() => createPolicy({ allow: rules })).toThrow(RangeError);
    expect(() => createPolicy({ allow: rules.slice(1) })).not.toThrow();
  });
});

function toolWith(effects: readonly ToolEffect[], more: object = {}): ExecutableTool {
  const plain = defineTool({ name: "own", description: "own", parameters: { type: "object" }, execute: () => "" });
  return { ...plain, effects: () => effects, ...more };
}

async function decide(options: PolicyOptions, tool: ExecutableTool, args: object = {}): Promise<GuardDecision> {
  const effects = await tool.effects?.({});
  const call = {
    name: tool.name,
    args: { ...args },
    tool,
    origin: "own",
    effects,
    callId: undefined,
    labels: undefined,
    signal: undefined,
  };
  return createPolicy(options).guard(call);
}

function question(decision: GuardDecision): { text: string; data: PolicyQuestion } {
  const ask = typeof decision === "object" && "ask" in decision ? decision.ask : undefined;
  if (typeof ask !== "object") throw new Error(`not asked: ${JSON.stringify(decision)}`);
  return { text: ask.text, data: ask.data as PolicyQuestion };
}

test("without roots the working folder is the root", async () => {
  const read = (path: string): ExecutableTool => toolWith([{ kind: "read", path }]);
  expect(await decide({}, read(join(process.cwd(), "x")))).toBe(true);
  expect(await decide({}, read("/etc/x"))).not.toBe(true);
  const folder = temporaryFolder("policy");
  expect(await decide({ cwd: folder }, read(join(folder, "x")))).toBe(true);
  expect(await decide({ cwd: folder }, read(join(process.cwd(), "x")))).not.toBe(true);
  expect(
    question(await decide({ roots: folder }, toolWith([{ kind: "write", path: join(folder, "x") }]))).text,
  ).toContain("write x;");
});

describe("a question", () => {
  test("is one line without invisible characters and cursor movements", async () => {
    const path = "/a\u001b[2J\nb\u202ec\u200bd";
    const { text } = question(await decide({}, toolWith([{ kind: "write", path }])));
    expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(text.length).toBeLessThan(2000);
  });

  test("shows the head and the tail of a long command", async () => {
    const command = `tool ${"x".repeat(5000)} tail`;
    const { text, data } = question(await decide({}, toolWith([{ kind: "execute", command }])));
    expect(text).toMatch(/^own would run: tool x{100,250} … x{50,150} tail; asked because/);
    expect(data.commands[0]).toMatch(/^tool x+ … x+ tail$/);
    expect(oneLine("abc", 3)).toBe("abc");
    expect(oneLine("abcd", 3)).toBe("ab … d");
    expect(oneLine(`${"a".repeat(8)}😀`, 3)).toBe("aa … ");
    expect(oneLine("a \n b")).toBe("a ⏎ b");
  });

  test("is bounded, whatever the call", async () => {
    const long = "x".repeat(100_000);
    const effects = Array.from(
      { length: 900 },
      (): ToolEffect => ({ kind: "write", path: "/x", env: { [long]: long } }),
    );
    const { text, data } = question(await decide({}, toolWith(effects, { name: "own" })));
    expect(text.length).toBeLessThan(2000);
    expect(text).toContain("(and 899 more to ask about)");
    expect(data.effects).toHaveLength(50);
    expect(JSON.stringify(data).length).toBeLessThan(500_000);
    const half: ToolEffect = { kind: "write", path: `/${long}`, givenPath: `/${long}` };
    const cut = question(await decide({ mode: "full" }, toolWith([half])));
    expect(cut.text).toContain("the paths in it are too long to judge");
    expect(cut.data.effects[0]?.path).toHaveLength(2000);
    const reached: ToolEffect = { kind: "network", host: long.slice(50) };
    expect(await decide({ mode: "full" }, toolWith([reached, reached]))).toBe(true);
    expect(await decide({ mode: "full" }, toolWith([reached, reached, reached]))).not.toBe(true);
  });

  test("has the data that a program needs, as plain JSON", async () => {
    const effects: ToolEffect[] = [{ kind: "write", path: "/x/a", tree: true }];
    const { text, data } = question(await decide({}, toolWith(effects)));
    expect(text).toBe("own would write /x/a and all below it; asked because it is outside the roots");
    expect(data).toEqual({
      tool: "own",
      origin: "own",
      mode: "ask",
      decidedBy: { by: "mode", mode: "ask" },
      why: "it is outside the roots",
      effects,
      commands: [],
    });
    expect(JSON.parse(JSON.stringify(data))).toEqual(data);
  });

  test("asks about the strictest part of a call", async () => {
    const effects: ToolEffect[] = [
      { kind: "read", path: join(process.cwd(), "x") },
      { kind: "network", host: "a.test" },
      { kind: "write", path: join(process.cwd(), "y") },
    ];
    expect(question(await decide({}, toolWith(effects))).text).toBe(
      "own would reach a.test (and 1 more to ask about); asked because the mode ask asks before each use of the network",
    );
    expect(await decide({ deny: ["effect:write"] }, toolWith(effects))).toEqual({
      deny: "own would write y; the rule effect:write denies it",
      details: { by: "rule", rule: "effect:write", path: join(process.cwd(), "y") },
    });
  });
});

test("a guard never throws: a call that cannot be judged is denied", async () => {
  const plain = { name: "own", tool: toolWith([]), origin: "own" };
  const broken = {
    ...plain,
    get effects(): never {
      throw new Error("broken");
    },
  };
  const { guard } = createPolicy();
  expect(await guard(broken as never)).toBe("the policy could not judge the call, so the call is denied: broken");
  // In Jest and in vm pools errors are of another realm.
  const foreign = { ...plain, effects: new Proxy([], { get: () => runInNewContext("throw new Error('foreign')") }) };
  expect(await guard(foreign as never)).toMatch(/could not judge the call, so the call is denied: foreign$/);
  expect(await guard(undefined as never)).toContain("could not judge");
  for (const relative of [
    { kind: "read", path: "x" },
    { kind: "read", path: "/x", givenPath: "x" },
    { kind: "execute", command: "ls", cwd: "x" },
  ]) {
    const decision = await createPolicy({ mode: "full" }).guard({ ...plain, effects: [relative] } as never);
    expect(question(decision).text).toContain("a path in it is not absolute");
  }
  expect(await guard({ ...plain, effects: [null] } as never)).toContain("could not judge");
});

describe("explain", () => {
  const path = join(process.cwd(), "x");

  test("gives the decision and its reason, and runs nothing", async () => {
    let ran = false;
    const tool = toolWith([{ kind: "write", path }], {
      execute: async () => {
        ran = true;
        return "";
      },
    });
    const { explain } = createPolicy({ deny: ["effect:write(x)"] });
    const explanation = await explain({ name: "own", args: {}, tool });
    expect(explanation).toMatchObject({
      decision: "deny",
      text: "Denied: own would write x; the rule effect:write(x) denies it.",
      mode: "ask",
      decidedBy: { by: "rule", list: "deny", rule: "effect:write(x)" },
    });
    expect(explanation.parts).toHaveLength(1);
    expect(ran).toBe(false);
  });

  const mode = (name: string): object => ({ by: "mode", mode: name });
  const rule = (list: string, text: string): object => ({ by: "rule", list, rule: text });
  const silent = { effects: undefined };
  const elsewhere: PolicyOptions = { roots: ["/usr", process.cwd()], cwd: process.cwd() };
  const untold = "run; the tool does not say what it does, so it may do what the rule effect:read is about";
  const kept = "run; the mode read-only allows only tools that are known to change nothing";

  test.each<[PolicyOptions, ToolEffect["kind"], object, string, object, string]>([
    [{ mode: "read-only" }, "delete", {}, "deny", mode("read-only"), "delete x; the mode read-only allows no changes"],
    [{}, "delete", {}, "ask", mode("ask"), "delete x; the mode ask asks before each deletion"],
    [{ mode: "full" }, "delete", {}, "allow", mode("full"), "delete x; the mode full allows it"],
    [{ allow: ["own(x)"] }, "write", {}, "allow", rule("allow", "own(x)"), "write x; the rule own(x) allows it"],
    [{ ask: ["own(x)"] }, "read", {}, "ask", rule("ask", "own(x)"), "read x; the rule own(x) asks before it"],
    [elsewhere, "write", {}, "ask", mode("ask"), "write x; the mode ask asks before each change"],
    [
      ...([{ mode: "read-only" }, "network", {}, "deny", mode("read-only")] as const),
      "use the network; the mode read-only allows no use of the network",
    ],
    [{}, "network", {}, "ask", mode("ask"), "use the network; the mode ask asks before each use of the network"],
    [{ mode: "full" }, "network", {}, "allow", mode("full"), "use the network; the mode full allows it"],
    [{}, "read", { ...silent, readOnly: true }, "allow", mode("ask"), "run; the tool changes nothing"],
    [{ mode: "read-only" }, "read", silent, "deny", mode("read-only"), kept],
    [{ mode: "full" }, "read", silent, "allow", mode("full"), "run; the mode full allows it"],
    [{ allow: ["own"] }, "read", silent, "allow", rule("allow", "own"), "run; the rule own allows it"],
    [{ deny: ["effect:read"], mode: "full" }, "read", silent, "ask", rule("deny", "effect:read"), untold],
    [{}, "read", { effects: () => [] }, "allow", mode("ask"), "run; it does nothing that a policy decides about"],
    [
      {},
      "paint" as "read",
      {},
      "ask",
      { by: "effects" },
      "do something; it does something that this policy does not know",
    ],
    [{ mode: "read-only" }, "paint" as "read", {}, "deny", { by: "effects" }, expect.any(String)],
  ])("names what decides: %j %s %j", async (options, kind, more, expected, cause, why) => {
    const tool = toolWith([{ kind, path }], more);
    const { decision, decidedBy, text, parts } = await createPolicy(options).explain({ name: "own", args: {}, tool });
    expect(parts[0]?.cause).toEqual(decidedBy);
    const said = { allow: "Allowed", ask: "Asked", deny: "Denied" }[decision];
    expect([decision, decidedBy]).toEqual([expected, cause]);
    expect(text).toEqual(typeof why === "string" ? `${said}: own would ${why}.` : why);
  });

  test.each(["read-only", "ask"] as const)("names the effects where a tool cannot give them, in %s", async (one) => {
    const effects = (): never => {
      throw new Error("x");
    };
    const call = { name: "own", args: {}, tool: toolWith([], { effects }) };
    expect((await createPolicy({ mode: one }).explain(call)).decidedBy).toEqual({ by: "effects" });
  });

  test("gives the same for a call as a guard gets it", async () => {
    const tool = toolWith([]);
    const call = {
      name: "own",
      args: {},
      tool,
      origin: "own",
      effects: [{ kind: "read", path } as const],
      callId: undefined,
      labels: undefined,
      signal: undefined,
    };
    expect((await createPolicy().explain(call)).text).toBe("Allowed: own would read x; the mode ask allows it.");
  });

  test("reports a tool that cannot give its effects, or gives none", async () => {
    const broken = toolWith([], {
      effects: () => {
        throw undefined;
      },
    });
    const { explain } = createPolicy();
    expect((await explain({ name: "own", args: {}, tool: broken })).text).toBe(
      "Asked: own would run; the tool could not say what it would do.",
    );
    const silent = toolWith([], { effects: undefined, origin: "mcp:x" });
    expect((await explain({ name: "own", args: {}, tool: silent })).text).toBe(
      "Asked: own would run; the tool does not say what it does.",
    );
  });
});

describe("a home that is empty or relative", () => {
  test.each(["", "home/me"])("%j gives way to that of the user's account", async (home) => {
    vi.stubEnv("HOME", home);
    const options: PolicyOptions = { mode: "full", deny: ["effect:read(~/secret)"] };
    const denied = await decide(options, toolWith([{ kind: "read", path: "/home/of-the-account/secret" }]));
    expect(denied).toMatchObject({ deny: expect.stringContaining("the rule effect:read(~/secret) denies it") });
    const asked = await decide(options, toolWith([{ kind: "write", path: "/home/of-the-account/.config/x" }]));
    expect(question(asked).text).toContain("it is protected (~/.config/)");
    expect(await decide(options, toolWith([{ kind: "read", path: "/home/me/secret" }]))).toBe(true);
  });
});
