// node main.ts [FOLDER]: a conversation on the terminal
import { createInterface } from "node:readline/promises";
import { stripVTControlCharacters } from "node:util";
import { Agent } from "@toolcrib/agent";
import { createGuardedTools } from "./gate.ts";
import { modelFromEnvironment } from "./model.ts";

const terminal = createInterface(process.stdin, process.stdout);
try {
  const agent = new Agent(await modelFromEnvironment(), {
    tools: createGuardedTools(process.argv[2] ?? process.cwd()),
  });
  for (;;) {
    const message = await terminal.question("> ");
    const turn = agent.streamChat(message, {
      approve: async ({ args }, question) => {
        // JSON, so that no character of the arguments can change what the terminal shows.
        console.log(`\n${stripVTControlCharacters(question.text)}\n${JSON.stringify(args, undefined, 2)}`);
        const answer = await terminal.question("y to allow, or why not: ");
        return answer === "y" || answer || false;
      },
    });
    for await (const event of turn) {
      if (event.type === "text-delta") process.stdout.write(event.text);
      if (event.type === "tool-result" && event.isError) console.log(`\n${stripVTControlCharacters(event.output)}`);
    }
    console.log();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  terminal.close();
}
