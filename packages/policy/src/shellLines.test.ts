import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { bypassLines } from "../../../testing/shell/bypassLines.ts";
import {
  acceptsEdits,
  asks,
  forbiddenRules,
  forbids,
  generatedRules,
  judgeAndCheck,
  type Oracle,
  sharedFolders,
} from "../../../testing/shell/checkLines.ts";
import { evasions } from "../../../testing/shell/evasionLines.ts";
import { shellLine } from "../../../testing/shell/generateLines.ts";
import { judgeLine } from "../../../testing/shell/judgeLine.ts";
import { cannotRecord } from "../../../testing/shell/recordShell.ts";
import type { PolicyOptions } from "./options.ts";
import type { Policy } from "./policy.ts";

// Every `rm -rf /` would look through the machine's own root, which holds more than is looked through, hundreds of times.
vi.mock("./judge/folders.ts", async (importOriginal) => {
  const { findBelow, ...others } = await importOriginal<typeof import("./judge/folders.ts")>();
  const below: typeof findBelow = async (folder, ...rest) =>
    folder === "/" ? { complete: false } : findBelow(folder, ...rest);
  return { ...others, findBelow: below };
});

// Test files share a process: the modules are loaded again with this look, and once more afterwards.
vi.resetModules();
const { createPolicy } = await import("./policy.ts");
afterAll(() => {
  vi.doUnmock("./judge/folders.ts");
  vi.resetModules();
});

const folders = sharedFolders("policy-lines");

const policies = new Map<string, Policy>();

function policyOf(options: PolicyOptions): Policy {
  const key = JSON.stringify(options);
  const policy =
    policies.get(key) ?? createPolicy({ roots: folders.project, cwd: folders.project, home: folders.home, ...options });
  policies.set(key, policy);
  return policy;
}

async function expectAsked(options: PolicyOptions, line: string): Promise<void> {
  const policy = policyOf(options);
  for (const shell of ["sh", "bash"]) {
    const { decision, text } = await judgeLine(policy, line, folders.project, shell);
    expect(decision, `${shell} ${JSON.stringify(options)}: ${text}`).not.toBe("allow");
  }
}

describe("no line that other agents' rules let through runs unasked", () => {
  test.each(bypassLines)("$source: $line", async ({ line, allow, writesInside }) => {
    await expectAsked({ allow }, line);
    await expectAsked({ mode: "read-only", allow }, line);
    if (!writesInside) await expectAsked({ mode: "accept-edits", allow }, line);
  });
});

describe("no line that got around other agents' rules of deny and ask runs unasked", () => {
  test.each(evasions.flatMap(({ lines, ...rest }) => lines.map((line) => ({ line, ...rest }))))(
    "$source: $line",
    ({ line, deny = [], ask = [] }) => expectAsked({ mode: "full", deny, ask }, line),
  );
});

const allows =
  (options: PolicyOptions) =>
  async (line: string, shell: string): Promise<boolean> =>
    (await judgeLine(policyOf(options), line, folders.project, shell)).decision === "allow";

describe.skipIf(cannotRecord !== undefined)("real shells", () => {
  test("start nothing for an allowed line from the grammar but what a rule allows", async () => {
    const lines = fc.sample(shellLine, 150);
    const judge = allows({ allow: generatedRules });
    const { allowed, violations } = await judgeAndCheck(lines, judge, folders, { everywhere: true });
    expect(violations).toEqual([]);
    expect(allowed).toBeGreaterThan(20);
  });

  test("write nothing outside of the folder in the mode accept-edits", async () => {
    const judge = allows({ mode: "accept-edits", allow: generatedRules });
    const { violations } = await judgeAndCheck(fc.sample(shellLine, 80), judge, folders, { oracle: acceptsEdits });
    expect(violations).toEqual([]);
  });

  test("start nothing in the mode full that a rule denies", async () => {
    const judge = allows({ mode: "full", deny: forbiddenRules });
    const { allowed, violations } = await judgeAndCheck(fc.sample(shellLine, 80), judge, folders, { oracle: forbids });
    expect(violations).toEqual([]);
    expect(allowed).toBeGreaterThan(20);
  });

  test("show what a policy by first words would let through", async () => {
    const starts = /^(?:git status|npm test|ls|cat|echo|cd|for)\b/;
    const every: Oracle = (...run) => [asks, acceptsEdits, forbids].map((oracle) => oracle(...run)).join("\n");
    const lines = ["echo x > ~/evil", ...fc.sample(shellLine, 200)];
    const { violations } = await judgeAndCheck(lines, async (line) => starts.test(line), folders, { oracle: every });
    const problems = violations.map(({ problem }) => problem).join("\n");
    for (const kind of [
      "no rule allows",
      "was set",
      "files were changed",
      "files outside",
      "lies outside",
      "a rule denies",
    ]) {
      expect(problems).toContain(kind);
    }
  });
});
