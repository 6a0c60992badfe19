// node main.ts FOLDER "How many lines does each kind of file have?"
import { messageOf, showInvisible, withoutControls } from "@toolcrib/core/text";
import { count } from "./count.ts";
import { modelFromEnvironment } from "./model.ts";

const [folder, question] = process.argv.slice(2);
try {
  const model = await modelFromEnvironment();
  if (!folder || !question) throw new Error('Usage: node main.ts FOLDER "QUESTION"');
  for await (const event of count(model, folder, question)) {
    // The answer goes to standard output, the programs and their calls to standard error.
    if (event.type === "text-delta") process.stdout.write(withoutControls(event.text));
    if (event.type === "tool-call" && event.within === undefined) console.error(withoutControls(`${event.args.code}`));
    if (event.type === "tool-result" && event.within !== undefined)
      console.error(showInvisible(`  ${event.isError ? "✗" : "✓"} ${event.name}`));
    if (event.type === "end" && event.reason !== "stop") throw new Error(`No answer: ${event.detail ?? event.reason}`);
  }
  console.log();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
