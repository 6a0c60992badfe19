import { defineTool } from "@toolcrib/core";
import { expect } from "vitest";
import type { Explanation, Policy } from "../../packages/policy/src/policy.ts";

const tool = defineTool({
  name: "run_bash",
  description: "Runs a command.",
  parameters: { type: "object" },
  effects: ({ command, shell, cwd }) => [
    { kind: "execute", command: String(command), shell: String(shell), cwd: String(cwd) },
  ],
  execute: () => "",
});

/** Asks a policy about a shell line, without the tool that would run it. */
export function judgeLine(policy: Policy, command: string, cwd: string, shell = "sh"): Promise<Explanation> {
  return policy.explain({ name: tool.name, args: { command, shell, cwd }, tool });
}

/** Expects that a policy judges all of the lines so. */
export async function expectJudged(
  policy: Policy,
  lines: readonly string[],
  expected: string,
  cwd: string,
): Promise<void> {
  const found: Record<string, string> = {};
  for (const line of lines) found[line] = (await judgeLine(policy, line, cwd)).decision;
  expect(found).toEqual(Object.fromEntries(lines.map((line) => [line, expected])));
}
