import { ScriptedProvider } from "@toolcrib/agent/testing";
import { expect, test } from "vitest";
import { agentWorkflow } from "./workflow.ts";

test("what is no agent is refused when the workflow is made", () => {
  const provider = new ScriptedProvider([]);
  expect(() => agentWorkflow("", { provider })).toThrow("The name of an agent");
  expect(() => agentWorkflow("review", {} as never)).toThrow("must be { provider, tools");
  expect(agentWorkflow("review", { provider }).name).toBe("review");
});
