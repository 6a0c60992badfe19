// node main.ts start FOLDER "TASK", then node main.ts answer FOLDER until nothing waits
import { createInterface } from "node:readline/promises";
import { messageOf, showInvisible, withoutControls } from "@toolcrib/core/text";
import { answerAll, startAll } from "./batch.ts";
import { modelFromEnvironment } from "./model.ts";

const [command, folder = ".", task = ""] = process.argv.slice(2);
const terminal = createInterface(process.stdin, process.stdout);
const closed = new AbortController();
terminal.once("close", () => closed.abort());
try {
  const model = await modelFromEnvironment();
  if (command !== "answer" && !(command === "start" && task)) throw new Error("Usage: see the first line of main.ts");
  const reports = await (command === "start"
    ? startAll(model, folder, task)
    : answerAll(model, folder, async (repository, { question, args }) => {
        console.log(`\n${repository}: ${showInvisible(question.text)}\n${showInvisible(JSON.stringify(args))}`);
        return (await terminal.question("y/n ", closed)) === "y";
      }));
  for (const { repository, text, pending } of reports)
    console.log(withoutControls(`${repository}: ${pending.length > 0 ? `${pending.length} waiting` : text}`));
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
} finally {
  terminal.close();
}
