import type { Provider } from "@toolcrib/agent";
import { Agent, createDefaultToolRegistry } from "@toolcrib/defaults";
import { createCountWordsTool } from "./tools/countWords.ts";

/** Makes an agent on the files below `root`. */
export function createAgent(model: Provider, root: string): Agent {
  return new Agent(model, {
    systemPrompt: "You answer questions about the files of a folder. Look before you answer, and answer briefly.",
    maxSteps: 20,
    tools: (context) =>
      createDefaultToolRegistry(context, {
        root,
        // It only reads; remove and run_bash are off by default.
        disable: ["write_file", "mkdir", "move", "save_session_context"],
        extra: [createCountWordsTool()],
      }),
  });
}
