import { defineTool, type GuardedCall, type ToolEffect } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import type { PolicyOptions } from "../options.ts";
import { createPolicy } from "../policy.ts";
import type { PolicyQuestion } from "../question.ts";
import type { RememberedStore } from "../remembered/store.ts";

/* Text for the input of a command that runs: what reads it may run it. */

const root = import.meta.dirname;

function callWith(input: string, more: Partial<ToolEffect> = {}): GuardedCall {
  const effect: ToolEffect = { kind: "execute", input, into: "cat | sh", cwd: root, ...more };
  const tool = defineTool({
    name: "write_input",
    description: "writes",
    parameters: { type: "object", properties: {} },
    execute: () => "",
  });
  return {
    name: "write_input",
    args: { id: "job-1", text: input },
    tool,
    origin: "@toolcrib/tools-bash",
    effects: [effect],
    callId: undefined,
    labels: undefined,
    signal: undefined,
  };
}

const decisionOf = async (call: GuardedCall, options: PolicyOptions = {}): Promise<string> =>
  (await createPolicy({ roots: root, ...options }).explain(call)).decision;

async function questionOf(
  call: GuardedCall,
  options: PolicyOptions = {},
): Promise<{ text: string; data: PolicyQuestion }> {
  const answer = await createPolicy({ roots: root, ...options }).guard(call);
  if (typeof answer !== "object") return expect.fail("nothing was asked");
  return (answer as { ask: { text: string; data: PolicyQuestion } }).ask;
}

/** Texts that would run unasked as a command, and others. */
const texts = ["ls\n", "y\n", "", "rm -rf /\n", "echo $(id)\n", "\u001b[2J", "a\0b", "git status"];

describe.each(texts)("the text %j", (text) => {
  test("is asked about in each mode but full, and denied in read-only", async () => {
    for (const mode of ["ask", "accept-edits"] as const) expect(await decisionOf(callWith(text), { mode })).toBe("ask");
    expect(await decisionOf(callWith(text), { mode: "read-only" })).toBe("deny");
    expect(await decisionOf(callWith(text), { mode: "full" })).toBe("allow");
  });

  test("is allowed by a rule with the tool's name, and by no other", async () => {
    expect(await decisionOf(callWith(text), { allow: ["write_input"] })).toBe("allow");
    expect(await decisionOf(callWith(text), { mode: "read-only", allow: ["write_input"] })).toBe("deny");
    const others = [
      "run_bash",
      "run_bash(*)",
      "effect:execute",
      "effect:execute(*)",
      "effect:execute(ls *)",
      "write_input(*)",
    ];
    for (const allow of others) {
      const call = callWith(text);
      try {
        createPolicy({ roots: root, allow: [allow] });
      } catch {
        continue;
      }
      expect([allow, await decisionOf(call, { allow: [allow] })]).toEqual([allow, "ask"]);
    }
  });

  test("is denied or asked about by rules about commands, which it may hold", async () => {
    for (const rule of ["write_input", "effect:execute", "effect:execute(rm *)"]) {
      expect(await decisionOf(callWith(text), { mode: "full", deny: [rule] })).toBe("deny");
      expect(await decisionOf(callWith(text), { mode: "full", ask: [rule] })).toBe("ask");
    }
    // What a rule about files, or about commands of run_bash, forbids could be in it.
    for (const rule of ["effect:read(.env)", "run_bash(touch *)", "run_bash"]) {
      expect(await decisionOf(callWith(text), { allow: ["write_input"], deny: [rule] })).toBe("ask");
      expect(await decisionOf(callWith(text), { mode: "full", ask: [rule] })).toBe("ask");
    }
  });
});

test("a tool that names a command beside it is not judged by that command", async () => {
  expect(await decisionOf(callWith("rm -rf x\n", { command: "ls" }))).toBe("ask");
});

test("a yes is never remembered", async () => {
  const store: RememberedStore = { load: async () => [], change: async () => expect.fail("it was kept") };
  const options: PolicyOptions = { remembered: store };
  const question = await questionOf(callWith("y\n"), options);
  expect(question.data.remember).toBeUndefined();
  await expect(createPolicy({ roots: root, ...options }).remember(callWith("y\n"), question)).rejects.toThrow(
    "cannot be remembered",
  );
});

test("the question shows the text with every character, the command, and that it may run", async () => {
  const call = callWith("rm  -rf x\n\u001b[2K\u200by\0");
  const { text, data } = await questionOf(call);
  expect(text).toBe(
    "write_input would give the running command `cat | sh` as input: rm  -rf x<U+000A><U+001B>[2K<U+200B>y<U+0000>; " +
      "asked because it cannot be judged: the text may run as commands in the program that reads it",
  );
  expect(data.effects).toEqual(call.effects);
  const long = await questionOf(callWith(`${"a".repeat(500)}${"b".repeat(500)}`));
  expect(long.text).toContain(`: ${"a".repeat(200)} … 700 more characters … ${"b".repeat(100)}; asked`);
  const odd = await questionOf(callWith("y", { into: "cat #` as input: n; harmless `" }));
  expect(odd.text).toContain('running command "cat #` as input: n; harmless `" as input: y;');
  expect((await questionOf(callWith(""))).text).toContain("would close the input of the running command `cat | sh`");
});
