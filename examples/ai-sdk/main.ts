// node main.ts FOLDER "REQUEST"
import { createInterface } from "node:readline/promises";
import { ask } from "./ask.ts";
import { modelFromEnvironment } from "./languageModel.ts";

const [folder, request] = process.argv.slice(2);
const terminal = createInterface(process.stdin, process.stdout);
try {
  const model = await modelFromEnvironment();
  if (!folder || !request) throw new Error('Usage: node main.ts FOLDER "REQUEST"');
  const answer = await ask(model, folder, request, async (question, _name, input) => {
    console.log(`${question}\n${JSON.stringify(input, undefined, 2)}`);
    return (await terminal.question("y/n ")) === "y";
  });
  console.log(answer);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  terminal.close();
}
