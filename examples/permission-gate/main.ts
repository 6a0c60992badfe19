// node main.ts [FOLDER]: a conversation on the terminal; Ctrl-D ends it
import { createInterface } from "node:readline/promises";
import { Agent } from "@toolcrib/agent";
import type { Approve } from "@toolcrib/core";
import { messageOf, showInvisible, withoutControls } from "@toolcrib/core/text";
import { createGuardedTools } from "./gate.ts";
import { modelFromEnvironment } from "./model.ts";

const terminal = createInterface(process.stdin, process.stdout);
terminal.once("close", () => process.exit());

const approve: Approve = async ({ args }, question) => {
  // What is allowed must be what is seen.
  console.log(`\n${showInvisible(question.text)}\n${showInvisible(JSON.stringify(args))}`);
  const answer = await terminal.question("y to allow, or why not: ");
  return answer === "y" || answer || false;
};

async function runTurn(agent: Agent, message: string): Promise<void> {
  for await (const event of agent.streamChat(message, { approve })) {
    if (event.type === "text-delta") process.stdout.write(withoutControls(event.text));
    if (event.type === "tool-result" && event.isError) console.log(`\n${withoutControls(event.output)}`);
  }
  console.log();
}

try {
  const tools = createGuardedTools(process.argv[2] ?? process.cwd());
  const agent = new Agent(await modelFromEnvironment(), { tools });
  // A turn that fails leaves the conversation as it was before; the next one can go on.
  for (;;) await runTurn(agent, await terminal.question("> ")).catch((error) => console.error(messageOf(error)));
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
  terminal.close();
}
