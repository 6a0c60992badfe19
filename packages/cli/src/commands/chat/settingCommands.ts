import { nearestName, oneLine } from "@toolcrib/core/internal";
import type { BackgroundJobs } from "@toolcrib/tools-bash";
import { permissionFlags } from "../../sharedFlags.ts";
import { modeDescriptions } from "../../tools/permissions.ts";
import type { Conversation } from "../conversation.ts";
import type { CommandReply, SlashContext } from "./slashContext.ts";

export async function changeModel(context: SlashContext, name: string | undefined): Promise<CommandReply> {
  const wanted = name ?? (await pickModel(context));
  const why = wanted === undefined ? undefined : await context.useModel(wanted);
  return why ?? context.model;
}

async function pickModel({ program, offeredModels, pick }: SlashContext): Promise<string | undefined> {
  if (!pick) return undefined;
  const { models, problem } = await offeredModels();
  if (problem !== undefined) program.terminal.aside(`${problem}; /model PROVIDER/MODEL names one.`);
  return models.length > 0 ? models[(await pick(models)) ?? -1]?.text : undefined;
}

export function changeMode(conversation: Conversation, name: string | undefined): string {
  const modes = permissionFlags.mode.value;
  const mode = modes.find((one) => one === name);
  if (name !== undefined && !mode) return `There is no mode ${name}; the modes are ${modes.join(", ")}.`;
  if (mode) conversation.setMode(mode);
  const { mode: now } = conversation.permissions;
  if (mode) return `${now}: ${modeDescriptions[now]}.`;
  return modes.map((one) => `${one === now ? "→" : " "} ${one.padEnd(12)}  ${modeDescriptions[one]}`).join("\n");
}

export function changeTools({ agent }: Conversation, [verb, name = ""]: readonly string[]): string {
  const registry = agent.toolRegistry;
  if (verb === undefined) {
    return registry
      .listTools()
      .map((tool) => `${tool.enabled ? "on " : "off"}  ${tool.name}`)
      .join("\n");
  }
  if (verb !== "enable" && verb !== "disable") return "Write /tools, /tools enable NAME or /tools disable NAME.";
  const known = verb === "enable" ? agent.enableTool(name) : agent.disableTool(name);
  if (known) return `${name} is ${registry.isToolEnabled(name) ? "on" : "off"}.`;
  const nearest = nearestName(name, registry.getToolNames());
  return `There is no tool ${name || "without a name"}${nearest ? `; did you mean ${nearest}?` : "."}`;
}

export async function changeJobs(jobs: BackgroundJobs, [verb, id = ""]: readonly string[]): Promise<string> {
  if (verb === "stop")
    return (await jobs.stop(id))
      ? `${id} has ended.`
      : `There is no job ${oneLine(id, 40) || "without an id"}; /jobs lists them.`;
  if (verb !== undefined) return "Write /jobs, or /jobs stop ID.";
  const rows = jobs.list().map(({ id, running, exitCode, command }) => {
    const state = running ? "running" : `exit ${exitCode}`;
    return `${id}  ${state.padEnd(8)}  ${oneLine(command, 100)}`;
  });
  return rows.length > 0 ? rows.join("\n") : "No command was started in the background.";
}
