import { createHash } from "node:crypto";
import { toolFingerprint } from "@toolcrib/core";
import type { AgentSource } from "./run.ts";
import { createAgent, defineAgent } from "./turn.ts";

/** How a turn is cut into steps. Another number does not go on with a turn that was begun with this one. */
const stepsVersion = 1;

/** A digest of the tools of all agents: workers with other tools do not go on with each other's turns. */
export async function manifestVersion(agents: Readonly<Record<string, AgentSource>>): Promise<string> {
  const tools: [string, string[]][] = [];
  for (const name of Object.keys(agents).sort()) {
    const definition = await defineAgent(agents, name, { id: "", tenant: undefined, labels: {} });
    const { agent } = await createAgent(definition, {});
    tools.push([name, agent.toolRegistry.listTools().map(toolFingerprint).sort()]);
  }
  return digest({ stepsVersion, tools });
}

/** A digest of the names: workers with the same agents share their queues and versions. */
export function namesDigest(agents: Readonly<Record<string, AgentSource>>): string {
  return digest(Object.keys(agents).sort());
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
