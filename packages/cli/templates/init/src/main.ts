// npm start -- "what to do"
import { chooseModel } from "@toolcrib/agent/models";
import { createAgent } from "./agent.ts";

const prompt = process.argv.slice(2).join(" ") || "list src";
const { provider, reason } = await chooseModel();
console.error(`${provider.name}/${provider.model}: ${reason}`);

for await (const event of createAgent(provider, process.cwd()).streamChat(prompt)) {
  if (event.type === "text-delta") process.stdout.write(event.text);
  if (event.type === "tool-call") console.error(`→ ${event.name}`, event.args);
  if (event.type === "end") console.log();
}
