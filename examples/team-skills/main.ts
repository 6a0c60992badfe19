// node main.ts FOLDER "Write the release notes of 2.0 from CHANGES.md"
import { messageOf, showInvisible, withoutControls } from "@toolcrib/core/text";
import { modelFromEnvironment } from "./model.ts";
import { work } from "./work.ts";

const [folder, task] = process.argv.slice(2);
try {
  const model = await modelFromEnvironment();
  if (!folder || !task) throw new Error('Usage: node main.ts FOLDER "TASK"');
  for await (const event of work(model, folder, task)) {
    // The answer goes to standard output, what is done on the way to standard error.
    if (event.type === "text-delta") process.stdout.write(withoutControls(event.text));
    if (event.type === "tool-call") console.error(showInvisible(`${event.name} ${JSON.stringify(event.args)}`));
    if (event.type === "end" && event.reason !== "stop") throw new Error(`No answer: ${event.detail ?? event.reason}`);
  }
  console.log();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
