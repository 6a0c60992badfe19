import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyOptions } from "../../../packages/policy/src/options.ts";
import { createPolicy } from "../../../packages/policy/src/policy.ts";
import {
  acceptsEdits,
  asks,
  forbiddenRules,
  forbids,
  generatedRules,
  judgeAndCheck,
  type Oracle,
  sharedFolders,
  type Violation,
} from "../../shell/checkLines.ts";
import { shellLine } from "../../shell/generateLines.ts";
import { judgeLine } from "../../shell/judgeLine.ts";
import { cannotRecord } from "../../shell/recordShell.ts";

/** TOOLCRIB_ROUNDS=1000 is the full size: 200,000 lines under the mode `ask`, a tenth of that under others. */
const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 30);
const linesInBatch = 500;
const sandboxesAtOnce = 2;

const folders = sharedFolders("policy-suite");

interface Case {
  readonly name: string;
  readonly size: number;
  readonly options: PolicyOptions;
  readonly oracle: Oracle;
}

const cases: readonly Case[] = [
  { name: "ask", size: rounds * 200, options: { allow: generatedRules }, oracle: asks },
  {
    name: "accept-edits",
    size: rounds * 20,
    options: { mode: "accept-edits", allow: generatedRules },
    oracle: acceptsEdits,
  },
  { name: "full with denials", size: rounds * 20, options: { mode: "full", deny: forbiddenRules }, oracle: forbids },
];

describe.skipIf(cannotRecord !== undefined)("real shells do nothing for an allowed line that is not allowed", () => {
  test.each(cases)("$name: $size generated lines", { timeout: 7_200_000 }, async ({ name, size, options, oracle }) => {
    const policy = createPolicy({ roots: folders.project, cwd: folders.project, home: folders.home, ...options });
    const judge = async (line: string, shell: string): Promise<boolean> =>
      (await judgeLine(policy, line, folders.project, shell)).decision === "allow";
    const lines = fc.sample(shellLine, size);
    const violations: Violation[] = [];
    let allowed = 0;
    let runs = 0;
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < lines.length) {
        const batch = lines.slice(next, next + linesInBatch);
        next += batch.length;
        const checked = await judgeAndCheck(batch, judge, folders, { oracle });
        violations.push(...checked.violations);
        allowed += checked.allowed;
        runs += checked.runs;
      }
    };
    await Promise.all(Array.from({ length: sandboxesAtOnce }, worker));
    console.log(`${name}: ${size} lines (${new Set(lines).size} different), ${allowed} allowed, ${runs} runs`);
    expect(violations).toEqual([]);
    expect(allowed).toBeGreaterThan(size / 10);
  });

  test("what a policy by first words would let through is seen", async () => {
    const starts = /^(?:git status|npm test|ls|cat|echo|cd|for)\b/;
    const every: Oracle = (...run) => [asks, acceptsEdits, forbids].map((oracle) => oracle(...run)).join("\n");
    const outcomes: readonly (readonly [line: string, problem: string])[] = [
      ["echo a; rm b.txt", "no rule allows"],
      ["ls && EVIL=1 ls", "was set"],
      ["echo x > evil", "files were changed"],
      ["echo x > ~/evil", "files outside were changed"],
      ["cat /etc/passwd", "lies outside"],
      ["ls; touch evil", "a rule denies"],
    ];
    const generated = fc.sample(shellLine, 400);
    const judge = async (line: string): Promise<boolean> => starts.test(line);
    const lines = [...outcomes.map(([line]) => line), ...generated];
    const { violations } = await judgeAndCheck(lines, judge, folders, { oracle: every, everywhere: true });
    for (const [line, problem] of outcomes) {
      const seen = violations.filter((one) => one.line === line && one.problem.includes(problem));
      expect(new Set(seen.map(({ shell }) => shell)), line).toEqual(new Set(["dash", "bash", "bash --posix"]));
    }
    expect(violations.some(({ line }) => generated.includes(line))).toBe(true);
  });
});
