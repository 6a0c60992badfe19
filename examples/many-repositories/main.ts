// node main.ts start FOLDER "TASK", then node main.ts answer FOLDER until nothing waits
import { createInterface } from "node:readline/promises";
import { answerAll, startAll } from "./batch.ts";
import { modelFromEnvironment } from "./model.ts";

const [command, folder = ".", task = ""] = process.argv.slice(2);
const terminal = createInterface(process.stdin, process.stdout);
try {
  const model = await modelFromEnvironment();
  if (command !== "answer" && !(command === "start" && task)) throw new Error("Usage: see the first line of main.ts");
  const reports = await (command === "start"
    ? startAll(model, folder, task)
    : answerAll(model, folder, async (repository, { question, args }) => {
        console.log(`\n${repository}: ${question.text}\n${JSON.stringify(args, undefined, 2)}`);
        return (await terminal.question("y/n ")) === "y";
      }));
  for (const { repository, text, failed, pending } of reports)
    console.log(
      `${repository}: ${failed ? "failed: " : ""}${pending.length > 0 ? `${pending.length} calls wait` : text}`,
    );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  terminal.close();
}
