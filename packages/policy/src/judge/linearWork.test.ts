import { type StepCounter, startCountingSteps } from "@toolcrib/testing/countSteps";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import type { Policy } from "../policy.ts";

const steps: StepCounter = startCountingSteps();
// Test files share a process, and only code that has not run yet is counted in full.
vi.resetModules();
const { createPolicy } = await import("../policy.ts");

const root = sharedFolder("policy-linear");
let policy: Policy;

beforeAll(async () => {
  policy = createPolicy({
    roots: root,
    cwd: root,
    home: root,
    allow: ["run_bash(x *)"],
    deny: ["run_bash(y z *)", "run_bash(git push -f)"],
  });
  // What is compiled once is not counted.
  await judgeLine(policy, 'git commit -m "$x"; find . -exec ls {} \\;; export x=1; tar -x; u git log git', root);
});

afterAll(() => {
  steps.stop();
});

const short = 1600;

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

test("rules about the same program read a long line once", async () => {
  const stepsWith = (rules: number): Promise<number> => {
    const deny = Array.from({ length: rules }, (_, at) => `run_bash(git y${at} --z)`);
    const many = createPolicy({ roots: root, cwd: root, home: root, deny });
    const line = lineOf(4 * short, [`u${rules} ${"git log ".repeat(9)}`, "--n ", ""]);
    return steps.count("/packages/policy/src/", () => judgeLine(many, line, root));
  };
  expect(await stepsWith(16)).toBeLessThan(1.5 * (await stepsWith(1)));
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
    ["options of a denied program", ["git push ", "--aN ", "x"]],
    ["programs that an unknown one may start", ["u ", "y --N ", ""]],
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
