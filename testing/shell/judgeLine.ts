import { defineTool } from "@toolcrib/core";
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

/** How a policy judges a shell line, without the tool that would run it. */
export function judgeLine(policy: Policy, command: string, cwd: string, shell = "sh"): Promise<Explanation> {
  return policy.explain({ name: tool.name, args: { command, shell, cwd }, tool });
}
