// node main.ts FOLDER "Why did checkout fail last night?"
import { messageOf, showInvisible, withoutControls } from "@toolcrib/core/text";
import { investigate } from "./investigate.ts";
import { modelFromEnvironment } from "./model.ts";

const [folder, question] = process.argv.slice(2);
try {
  const model = await modelFromEnvironment();
  if (!folder || !question) throw new Error('Usage: node main.ts FOLDER "QUESTION"');
  for await (const event of investigate(model, folder, question)) {
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
