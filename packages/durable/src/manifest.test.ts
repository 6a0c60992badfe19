import { ScriptedProvider } from "@toolcrib/agent/testing";
import { type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { createProgramTools } from "@toolcrib/tools-program";
import { expect, test } from "vitest";
import { manifestVersion } from "./manifest.ts";

/** The version of a worker whose agent has `run_program`, with these differences. */
function versionWith(options: object, more: object = {}): Promise<string> {
  const tools = new ToolRegistry();
  const [program] = createProgramTools(tools, options);
  tools.register({ ...(program as ExecutableTool), ...more });
  return manifestVersion({ helper: { provider: new ScriptedProvider([]), tools } });
}

test("a worker has another version where a program would be cut into other steps, and only there", async () => {
  const own = await versionWith({});
  expect(await versionWith({ memoryBytes: 2 ** 24 })).toBe(own);
  expect(await versionWith({}, { recordVersion: "another engine" })).not.toBe(own);
  expect(await versionWith({ maxConcurrent: 2 })).not.toBe(own);
});
