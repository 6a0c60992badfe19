import { fileURLToPath } from "node:url";
import { Agent, type AgentEvent, type Provider } from "@toolcrib/agent";
import { ToolRegistry } from "@toolcrib/core";
import { createSkills } from "@toolcrib/skills";
import { createFsTools } from "@toolcrib/tools-fs";

const ownSkills = fileURLToPath(new URL("skills", import.meta.url));

/** Works on a task in the folder `root`; the model reads the skills that fit. Yields what happens, the answer in the last event. */
export function work(provider: Provider, root: string, task: string): AsyncIterable<AgentEvent> {
  const skills = createSkills({ folders: [ownSkills] });
  for (const warning of skills.warnings) console.error(warning);
  // The model may read the other files of a skill, too, but changes nothing: neither there nor in the folder.
  const reading = createFsTools({ root, readable: skills.readable }).filter(({ readOnly }) => readOnly);
  const tools = new ToolRegistry([...reading, ...skills.tools]);
  const systemPrompt = `Do the task with the files of the folder. Answer with the result alone.\n\n${skills.catalogue}`;
  return new Agent(provider, { tools, systemPrompt }).streamChat(task);
}
