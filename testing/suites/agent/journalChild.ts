// One life of a session: resumes the journal if there is one, and works until it ends or is killed.
// Arguments: URL of the model, journal file, file of effects.
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type AgentOptions, type Provider, type ProviderEvent } from "@toolcrib/agent";
import { defineTool, ToolRegistry } from "@toolcrib/core";

const [url = "", journal = "", effects = ""] = process.argv.slice(2);

const provider: Provider = {
  name: "remote",
  model: "m",
  async *send({ messages, signal }) {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(messages), signal });
    yield (await answer.json()) as ProviderEvent;
  },
};

const tools = new ToolRegistry();
for (const name of ["look", "change"]) {
  tools.register(
    defineTool({
      name,
      description: name,
      parameters: { type: "object" },
      readOnly: name === "look",
      async execute(_, call) {
        appendFileSync(effects, `${call.callId}\n`);
        await sleep(Math.random() * 3);
        return `did ${call.callId}`;
      },
    }),
  );
}

const options: AgentOptions = { tools, journal };
const agent = existsSync(journal) ? await Agent.resume(provider, journal, options) : new Agent(provider, options);
for (;;) {
  for await (const event of agent.streamChat("go on")) {
    if (event.type === "tool-result") process.stdout.write(`${JSON.stringify([event.id, event.output])}\n`);
  }
}
