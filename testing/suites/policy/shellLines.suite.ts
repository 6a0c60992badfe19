import { sharedFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createPolicy } from "../../../packages/policy/src/policy.ts";
import { generatedRules, judgeAndCheck, makeFolders, type Violation } from "../../shell/checkLines.ts";
import { shellLine } from "../../shell/generateLines.ts";
import { judgeLine } from "../../shell/judgeLine.ts";
import { cannotRecord, type Folders } from "../../shell/recordShell.ts";

/** TOOLCRIB_ROUNDS=1000 is the full size: 100,000 lines. */
const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 30);
const linesARound = 100;
const sandboxesAtOnce = 2;

const base = sharedFolder("policy-suite");
let folders: Folders;

beforeAll(() => {
  folders = makeFolders(base);
});

describe.skipIf(cannotRecord !== undefined)("generated shell lines", () => {
  test(`${rounds * linesARound} lines start nothing in real shells but what a rule allows`, {
    timeout: 7_200_000,
  }, async () => {
    const policy = createPolicy({
      roots: folders.project,
      cwd: folders.project,
      home: folders.home,
      allow: generatedRules,
    });
    const allows = async (line: string, shell: string): Promise<boolean> =>
      (await judgeLine(policy, line, folders.project, shell)).decision === "allow";
    const lines = fc.sample(shellLine, rounds * linesARound);
    const violations: Violation[] = [];
    let allowed = 0;
    let runs = 0;
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < lines.length) {
        const batch = lines.slice(next, next + linesARound * 5);
        next += batch.length;
        const checked = await judgeAndCheck(batch, allows, folders);
        violations.push(...checked.violations);
        allowed += checked.allowed;
        runs += checked.runs;
      }
    };
    await Promise.all(Array.from({ length: sandboxesAtOnce }, worker));
    console.log(
      `${lines.length} lines (${new Set(lines).size} different), ${allowed} allowed, ${runs} runs in real shells`,
    );
    expect(violations).toEqual([]);
  });
});
