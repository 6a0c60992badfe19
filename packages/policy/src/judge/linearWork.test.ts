import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import { type StepCounter, startCountingSteps } from "../../../../testing/src/countSteps.ts";
import type { Policy } from "../policy.ts";

const steps: StepCounter = startCountingSteps();
// Test files share a process, and only code that has not run yet is counted in full.
vi.resetModules();
const { createPolicy } = await import("../policy.ts");

let root: string;
let policy: Policy;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "policy-linear-")));
  policy = createPolicy({ roots: root, cwd: root, home: root, allow: ["run_bash(x *)"], deny: ["run_bash(y z *)"] });
  // What is compiled once is not counted.
  await judgeLine(policy, 'git commit -m "$x"; find . -exec ls {} \\;; export x=1; tar -x', root);
});

afterAll(() => {
  steps.stop();
  rmSync(root, { recursive: true, force: true });
});

const short = 2400;

/** A line of that many characters: a head, a part with a number in it again and again, and a tail. */
function lineOf(length: number, [head, part, tail]: readonly [string, string, string]): string {
  let line = head;
  for (let at = 0; line.length < length - tail.length - 10; at += 1) line += part.replaceAll("N", at.toString(36));
  return line + tail;
}

test("four times as many rules take about four times the work", async () => {
  const stepsWith = (rules: number): Promise<number> => {
    const deny = Array.from({ length: rules }, (_, at) => `run_bash(y${at} *)`);
    const many = createPolicy({ roots: root, cwd: root, home: root, deny });
    return steps.count("/packages/policy/src/", () => judgeLine(many, "ls", root));
  };
  const few = await stepsWith(200);
  expect(few).toBeGreaterThan(200);
  expect(await stepsWith(800)).toBeLessThan(5 * few);
});

describe("a line four times as long takes about four times the work", () => {
  test.each<[string, [string, string, string]]>([
    ["messages of git", ["git commit ", '-m "$N" ', ""]],
    ["actions of find", ["find . ", "-exec ls N {} \\; ", ""]],
    ["exported names", ["export ", "aN=1 ", ""]],
    ["assignments", ["", "aN=1 ", "ls"]],
    ["operands of test", ["[ ", '"$N" ', "]"]],
    ["file patterns", ["ls ", "*N ", ""]],
    ["words", ["cat ", "N ", ""]],
    ["expansions", ["echo ", '"$aN" ', ""]],
    ["parts of a word", ["node ", "N'N'", ""]],
    ["open brackets", ["echo ", "[N ", ""]],
    ["commands", ["", "ls N;", ""]],
    ["substitutions", ["echo ", "$(ls N) ", ""]],
    ["redirections", ["ls ", ">N ", ""]],
    ["here-documents", ["", "cat <<E\nN\nE\n", ""]],
    ["options of tar", ["tar ", "-x N ", ""]],
    ["evals", ["", "eval ", "ls"]],
    ["wrappers", ["", "sudo ", "ls"]],
    ["variables of env", ["env ", "A=N ", "ls"]],
    ["directories", ["", "cd N;", "ls"]],
    ["cases", ["case x in ", "N) ls;; ", "esac"]],
    ["loops", ["", "for x in N; do ls; done;", ""]],
  ])("%s", async (_name, parts) => {
    const stepsOf = (length: number): Promise<number> =>
      steps.count("/packages/policy/src/", () => judgeLine(policy, lineOf(length, parts), root));
    const few = await stepsOf(short);
    const many = await stepsOf(4 * short);
    expect(few).toBeGreaterThan(short / 20);
    expect(many).toBeLessThan(5 * few);
  });
});
