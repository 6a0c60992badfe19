// node main.ts FOLDER "REQUEST"
import { createInterface } from "node:readline/promises";
import { messageOf, showInvisible, withoutControls } from "@toolcrib/core/text";
import { ask } from "./ask.ts";
import { modelFromEnvironment } from "./languageModel.ts";

const [folder, request] = process.argv.slice(2);
const terminal = createInterface(process.stdin, process.stdout);
const closed = new AbortController();
terminal.once("close", () => closed.abort());
try {
  const model = await modelFromEnvironment();
  if (!folder || !request) throw new Error('Usage: node main.ts FOLDER "REQUEST"');
  const answer = await ask(model, folder, request, async (question, _name, input) => {
    console.log(`${showInvisible(question)}\n${showInvisible(JSON.stringify(input))}`);
    return (await terminal.question("y/n ", closed)) === "y";
  });
  console.log(withoutControls(answer));
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
} finally {
  terminal.close();
}
