import { defineTool, type ExecutableTool, type ToolEffect, ToolError } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { describe, expect, test } from "vitest";
import { createPolicy, type Explanation, type PolicyOptions } from "../index.ts";

const root = sharedFolder("policy");

async function explain(
  options: PolicyOptions,
  name: string,
  effects: readonly ToolEffect[] | (() => never),
  more: object = {},
): Promise<Explanation> {
  const plain = defineTool({ name, description: "x", parameters: { type: "object" }, execute: () => "" });
  const tool: ExecutableTool = { ...plain, effects: typeof effects === "function" ? effects : () => effects, ...more };
  return createPolicy({ roots: root, ...options }).explain({ name, args: {}, tool });
}

/** The decision, what decided, and the words after `run_bash would`. */
async function line(options: PolicyOptions, command: string): Promise<unknown[]> {
  const { decision, decidedBy, text } = await explain(options, "run_bash", [{ kind: "execute", command, cwd: root }]);
  return [decision, decidedBy, text.replace(/^\w+: run_bash would /, "")];
}

const mode = (name: string): object => ({ by: "mode", mode: name });
const rule = (list: string, text: string): object => ({ by: "rule", list, rule: text });

describe("the reason of a decision about a shell line", () => {
  test.each([
    ["effect:delete(**)", "npm test", "test"],
    ["effect:read(.env)", "node --env-file=.env x", ".env"],
    ["effect:write(*.lock)", "yarn add -o=a.lock", "a.lock"],
    ["effect:network(*.example.com)", "curl https://a.example.com/x", "https://a.example.com/x"],
  ])("names the word that the rule %s may be about: %s", async (text, command, word) => {
    for (const [list, verb] of [
      ["deny", "denies"],
      ["ask", "asks about"],
    ] as const)
      expect(await line({ mode: "full", [list]: [text] }, command)).toEqual([
        list,
        rule(list, text),
        `run: ${command}; its word ${word} may name what the rule ${text} ${verb}.`,
      ]);
  });

  test("is a rule, with the command", async () => {
    expect(await line({ deny: ["run_bash(rm *)"] }, "ls; rm x")).toEqual([
      "deny",
      rule("deny", "run_bash(rm *)"),
      "run: ls; rm x; the rule run_bash(rm *) denies it.",
    ]);
    const { parts } = await explain({ deny: ["run_bash(rm *)"] }, "run_bash", [
      { kind: "execute", command: "ls; rm x", cwd: root },
    ]);
    expect(parts).toMatchObject([{ command: "rm x", effect: { kind: "execute" } }]);
    expect(await line({ ask: ["run_bash(rm *)"] }, "ls; rm x")).toEqual([
      "ask",
      rule("ask", "run_bash(rm *)"),
      "run: ls; rm x; the rule run_bash(rm *) asks before it.",
    ]);
    expect(await line({ deny: ["effect:execute"] }, "ls")).toEqual([
      "deny",
      rule("deny", "effect:execute"),
      "run: ls; the rule effect:execute denies it.",
    ]);
    expect(await line({ allow: ["run_bash"] }, "rm x")).toEqual([
      "allow",
      rule("allow", "run_bash"),
      "run: rm x; the rule run_bash allows it.",
    ]);
    expect(await line({ allow: ["run_bash"] }, "cat $X")).toEqual([
      "allow",
      rule("allow", "run_bash"),
      "run: cat $X; the rule run_bash allows it.",
    ]);
    expect(await line({ allow: ["run_bash(rm x)"] }, "rm x")).toEqual([
      "allow",
      rule("allow", "run_bash(rm x)"),
      "run: rm x; the rule run_bash(rm x) allows it.",
    ]);
  });

  test("is the mode", async () => {
    expect(await line({ mode: "full" }, "rm x")).toEqual([
      "allow",
      mode("full"),
      "run: rm x; the mode full allows it.",
    ]);
    expect(await line({}, "ls")).toEqual(["allow", mode("ask"), "run: ls; it only reads."]);
    expect(await line({}, "x=1")).toEqual(["allow", mode("ask"), "run: x=1; it only sets variables."]);
    expect(await line({}, "cd .")).toEqual(["allow", mode("ask"), "run: cd .; it only changes the working directory."]);
    expect(await line({}, "# nothing")).toEqual(["allow", mode("ask"), "run: # nothing; it runs nothing."]);
    expect(await line({}, "rm x")).toEqual([
      "ask",
      mode("ask"),
      "run: rm x; no rule allows it (rm is not in the table of read-only commands).",
    ]);
    expect(await line({ mode: "read-only" }, "rm x")).toEqual([
      "deny",
      mode("read-only"),
      "run: rm x; the mode read-only allows only read-only commands (rm is not in the table of read-only commands).",
    ]);
    expect(await line({}, "x=$SECRET_KEY")).toEqual([
      "ask",
      mode("ask"),
      "run: x=$SECRET_KEY; no rule allows it (it reads the variable SECRET_KEY).",
    ]);
    const [, , hidden] = await line({}, "git -c a.b=c log");
    expect(hidden).toMatch(/^run: git -c a\.b=c log; no rule allows it \([a-z-].*[^.]\)\.$/);
  });

  test("names the word that a rule does not stand for, and a rule that does", async () => {
    const why = async (allow: string, command: string): Promise<unknown> =>
      (await line({ allow: [allow] }, command))[2];
    for (const [rule, command, word, better] of [
      ["run_bash(awk *)", "awk '{print}' a", "awk runs what its words say", "run_bash(awk '{print}' a)"],
      [
        "run_bash(gh pr create *)",
        "gh pr create -d --title x y",
        "--title of gh pr create may ",
        "run_bash(gh pr create -d --title x *)",
      ],
      ["run_bash(bun run *)", 'bun run a --flag "b"', "bun runs a", "run_bash(bun run a *)"],
      [
        "effect:execute(npm run *)",
        "npm run a --flag b c",
        "--flag of npm run may ",
        "effect:execute(npm run a --flag b *)",
      ],
    ] as const) {
      const text = await why(rule, command);
      expect(text).toContain(`no rule allows it (${word}`);
      expect(text).toContain(`; the * of ${rule} does not stand for that, but the rule ${better} would).`);
      expect(await why(better, command)).toContain(`the rule ${better} allows it`);
    }
    expect(await why("run_bash(vim *)", "vim a")).toContain("; the * of run_bash(vim *) does not stand for that).");
    expect(await why("run_bash(awk *)", "rm a")).not.toContain("stand for");
  });

  test("is the part that a rule allows, where all of a line runs", async () => {
    const options = { allow: ["run_bash(npm run test)"] };
    for (const command of ["env NODE_ENV=test npm run test", "ls && npm run test"])
      expect((await line(options, command))[2]).toBe("run: npm run test; the rule run_bash(npm run test) allows it.");
  });

  test("is what surrounds the command", async () => {
    expect(await line({}, "cd - && ls")).toEqual([
      "ask",
      mode("ask"),
      "run: cd - && ls; it changes the working directory in a way that cannot be followed.",
    ]);
    expect(await line({}, "PATH=. ls")).toEqual([
      "ask",
      mode("ask"),
      "run: PATH=. ls; it sets the variable PATH, which could change what runs.",
    ]);
  });

  test("is that it cannot be read", async () => {
    const cause = { by: "unreadable" };
    const [decision, decidedBy, text] = await line({}, "cat $X");
    expect([decision, decidedBy]).toEqual(["ask", cause]);
    expect(text).toMatch(/^run: cat \$X; it cannot be judged: [a-z].*[^.]\.$/);
    expect((await line({ deny: ["run_bash(zzz)"] }, "cat $X"))[2]).toMatch(/it cannot be judged: /);
    expect((await line({ mode: "full", deny: ["run_bash(zzz)"] }, "cat $X"))[2]).toMatch(
      /what the rule run_bash\(zzz\) is about could be hidden in it: /,
    );
    expect((await line({ mode: "full", ask: ["effect:network"], deny: ["effect:write(x)"] }, "cat $X"))[2]).toContain(
      "the rule effect:write(x)",
    );
    expect((await line({ mode: "full", ask: ["effect:network"] }, "cat $X"))[2]).toContain("the rule effect:network");
    expect(await line({ mode: "full", deny: ["run_bash(git push)"] }, "mise x -- git push")).toEqual([
      "ask",
      cause,
      "run: mise x -- git push; mise may start what the rule run_bash(git push) denies.",
    ]);
    expect((await line({ mode: "full", deny: ["own(x)", "other"] }, "cat $X"))[0]).toBe("allow");
    const none = await explain({}, "run_bash", [{ kind: "execute", cwd: root }]);
    expect(none.text).toBe(
      "Asked: run_bash would run a program that is not named; it cannot be judged: the tool does not say what it runs.",
    );
  });
});

describe("a rule of hosts", () => {
  const decide = async (options: PolicyOptions, effect: ToolEffect): Promise<string> =>
    (await explain(options, "own", [effect])).decision;
  const host: ToolEffect = { kind: "network", host: "a.test" };
  const unnamed: ToolEffect = { kind: "network" };

  test("is about its host, and about any where the tool names none", async () => {
    expect(await decide({ mode: "full", deny: ["effect:network(b.test)"] }, host)).toBe("allow");
    expect(await decide({ mode: "full", deny: ["effect:network(b.test)", "effect:network(a.test)"] }, host)).toBe(
      "deny",
    );
    expect(await decide({ mode: "full", deny: ["effect:network(b.test)"] }, unnamed)).toBe("deny");
    expect(await decide({ mode: "full", ask: ["own(b.test)"] }, unnamed)).toBe("ask");
    expect(await decide({ allow: ["effect:network(b.test)"] }, unnamed)).toBe("ask");
    expect(await decide({ allow: ["effect:network(b.test)", "own(src/*)"] }, host)).toBe("ask");
    expect(await decide({ allow: ["own"] }, host)).toBe("allow");
    expect(await decide({ mode: "full", deny: ["effect:network"] }, unnamed)).toBe("deny");
  });

  test("that can only be about paths binds in deny and ask, and never allows", async () => {
    expect(await decide({ mode: "full", deny: ["own(src/*)"] }, host)).toBe("deny");
    expect(await decide({ mode: "full", deny: ["own(b.test)", "own(src/*)"] }, host)).toBe("deny");
    expect(await decide({ mode: "full", ask: ["own(src/*)"] }, host)).toBe("ask");
    expect(await decide({ allow: ["own(src/*)"] }, host)).toBe("ask");
  });

  test("names its list", async () => {
    expect((await explain({ mode: "full", ask: ["own(a.test)"] }, "own", [host])).decidedBy).toEqual(
      rule("ask", "own(a.test)"),
    );
    expect((await explain({ allow: ["own(a.test)"] }, "own", [host])).decidedBy).toEqual(rule("allow", "own(a.test)"));
  });
});

describe("a tool that cannot say what it would do", () => {
  const broken = (error: unknown) => (): never => {
    throw error;
  };
  const decide = async (options: PolicyOptions, error: unknown, more: object = {}): Promise<string[]> => {
    const { decision, text } = await explain(options, "own", broken(error), more);
    return [decision, text];
  };

  test("is denied in its own words where it refuses, and asked about where it fails", async () => {
    const invalid = new ToolError({
      code: "invalid_arguments",
      message: "Invalid arguments: path: Permission denied: no",
    });
    expect(await decide({ mode: "full" }, invalid)).toEqual([
      "deny",
      "Denied: own would run; Invalid arguments: path: Permission denied: no.",
    ]);
    const failed = new ToolError({ code: "execution_failed", message: "no" });
    expect((await decide({ mode: "full" }, failed))[0]).toBe("ask");
    expect((await decide({ mode: "full" }, { code: "permission_denied", message: "x" }))[0]).toBe("ask");
    const denied = new ToolError({ code: "permission_denied", message: "no" });
    expect((await decide({ mode: "full", ask: ["own"] }, denied))[0]).toBe("deny");
  });

  test("is bound by rules of its name", async () => {
    expect((await decide({ mode: "full", ask: ["own(x)"] }, new Error("x")))[1]).toContain(
      "the rule own(x) asks before it",
    );
    expect((await decide({ mode: "read-only", ask: ["own"] }, new Error("x")))[0]).toBe("deny");
    const silent = async (options: PolicyOptions, more: object = {}): Promise<string> =>
      (await explain(options, "own", [], { effects: undefined, ...more })).decision;
    expect(await silent({ mode: "read-only", ask: ["own"] })).toBe("deny");
    expect(await silent({ mode: "read-only", ask: ["own"] }, { readOnly: true })).toBe("ask");
    expect(await silent({ mode: "full", ask: ["own"] })).toBe("ask");
    const mounted = { effects: undefined, origin: "mcp:a", name: "mcp__a__x" };
    const both = await explain({ mode: "full", deny: ["mcp__a__*"] }, "mcp__a__x", [], mounted);
    expect(both.decidedBy).toEqual(rule("deny", "mcp__a__*"));
  });

  test("or has an effect of an unknown kind, is asked about with that reason", async () => {
    const { decidedBy, text } = await explain({ mode: "full" }, "own", [{ kind: "paint" as "read" }]);
    expect(decidedBy).toEqual({ by: "effects" });
    expect(text).toBe("Asked: own would do something; it does something that this policy does not know.");
  });
});
