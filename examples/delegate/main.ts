// node main.ts FOLDER "How does a payment become a refund?"
import { messageOf, showInvisible, withoutControls } from "@toolcrib/core/text";
import { answer } from "./answer.ts";
import { modelFromEnvironment } from "./model.ts";

const [folder, question] = process.argv.slice(2);
try {
  // Reading takes most of the tokens: a smaller model may do for the reader.
  const models = { writer: await modelFromEnvironment(), reader: await modelFromEnvironment() };
  if (!folder || !question) throw new Error('Usage: node main.ts FOLDER "QUESTION"');
  for await (const event of answer(models, folder, question)) {
    // The answer goes to standard output, what is done on the way to standard error.
    if (event.type === "text-delta") process.stdout.write(withoutControls(event.text));
    if (event.type === "tool-call") console.error(showInvisible(`${event.name}: ${event.args.task}`));
    if (event.type === "tool-progress") console.error(showInvisible(`  ${event.progress.message}`));
    if (event.type === "end" && event.reason !== "stop") throw new Error(`No answer: ${event.detail ?? event.reason}`);
  }
  console.log();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
