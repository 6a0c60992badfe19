import { createHash } from "node:crypto";
import { toolFingerprint } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import type { AgentSource } from "./run.ts";
import { createAgent, defineAgent } from "./turn.ts";

/** The version of how a turn is cut into steps. Another version does not go on with a turn begun with this one. */
const stepsVersion = 2;

/**
 * Returns a digest of the tools, models and options of all agents: workers with others do not go on with each other's turns. Not of prompts,
 * which are recorded, and not of paths, which may differ from machine to machine. A tool that keeps a record counts with the version of it: in
 * the middle of a program, another engine would take other steps than those that are recorded.
 */
export async function manifestVersion(agents: Readonly<Record<string, AgentSource>>): Promise<string> {
  const manifests: unknown[] = [];
  for (const name of Object.keys(agents).sort()) {
    const definition = await defineAgent(agents, name, { id: "", tenant: undefined, labels: {} });
    const { agent } = await createAgent(definition, {});
    const { provider, tools: _, systemPrompt, sessionContextFilePath, ...options } = definition;
    const registry = agent.toolRegistry;
    const tools = registry.listTools().map((tool) => {
      const version = attempt(() => registry.get(tool.name)?.recordVersion);
      return version === undefined ? toolFingerprint(tool) : `${toolFingerprint(tool)} ${version}`;
    });
    manifests.push({
      name,
      tools: tools.sort(),
      provider: [provider.name, provider.model],
      options: Object.entries(options).sort(([one], [other]) => (one < other ? -1 : 1)),
    });
  }
  return digest({ stepsVersion, manifests });
}

/** Returns a digest of the names: workers with the same agents share their queues and versions. */
export function namesDigest(agents: Readonly<Record<string, AgentSource>>): string {
  return digest(Object.keys(agents).sort());
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
