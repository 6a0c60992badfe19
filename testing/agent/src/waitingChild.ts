// One life of an agent that asks before its calls run: begins or resumes a journal, answers what is pending and goes on until the model
// has answered. Kills itself at a given moment. Arguments: journal, file of effects, number of the moment (0: never),
// and "together" to wait for a line on standard input before the first answer.
import { once } from "node:events";
import { appendFileSync, existsSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { Agent, type AgentOptions, type Message } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";

const [journal = "", effects = "", moment = "0", together] = process.argv.slice(2);

/** Written at once, so that a kill loses nothing of it. */
const say = (...words: readonly unknown[]): void => void writeSync(1, `${JSON.stringify(words)}\n`);

let moments = 0;
function reach(name: string): void {
  moments += 1;
  if (moments !== Number(moment)) return;
  say("killed", name);
  process.kill(process.pid, "SIGKILL");
}

// Each line of the journal: before it is on disk, and right after.
const probe = await open(process.execPath);
const prototype = Object.getPrototypeOf(probe) as { datasync(): Promise<void> };
const { datasync } = prototype;
prototype.datasync = async function () {
  reach("before a line is on disk");
  await datasync.call(this);
  reach("after a line is on disk");
};
await probe.close();

const registry = new ToolRegistry();
for (const name of ["look", "change"]) {
  registry.register(
    defineTool({
      name,
      description: name,
      readOnly: name === "look",
      parameters: { type: "object", properties: { ask: { type: "boolean" } } },
      execute(_, { callId }) {
        reach("before an effect");
        appendFileSync(effects, `${callId}\n`);
        reach("after an effect");
        return `did ${callId}`;
      },
    }),
  );
}
registry.guard(({ args, callId }) => (args.ask === true ? { ask: `May ${callId} run?` } : true));

const call = (name: string, id: string, ask = false) => ({ name, id, args: { ask } });
const script: ScriptedReply[] = [
  { calls: [call("look", "a", true), call("look", "b"), call("look", "c", true), call("change", "d")] },
  { calls: [call("change", "e", true), call("change", "f", true)] },
  "done",
];

const stepsOf = (messages: readonly Message[]): number => messages.filter((one) => one.role === "assistant").length;
// The model goes on where the conversation stands.
const provider = new ScriptedProvider(
  Array.from(
    { length: 9 },
    (): ScriptedReply =>
      ({ messages }) =>
        script[stepsOf(messages)] ?? "done",
  ),
);
const options: AgentOptions = { tools: registry, journal };
const agent = existsSync(journal) ? await Agent.resume(provider, journal, options) : new Agent(provider, options);
say("begins", agent.pending, agent.sessionContext);
if (together) {
  await once(process.stdin, "data");
  process.stdin.destroy();
  process.once("uncaughtException", ({ message }) => {
    say("refused", message);
    process.exit(0);
  });
}

for (let turn = 1; stepsOf(agent.sessionContext) < script.length; turn += 1) {
  // One answer at a time; c is denied.
  const next = agent.pending.find((one) => one.answer === undefined);
  const answers = next ? { [next.callId]: next.callId === "c" ? "not c" : true } : {};
  const events = agent.pending.length > 0 ? agent.streamApprove(answers) : agent.streamChat(`go ${turn}`);
  let isFirst = true;
  for await (const event of events) {
    if (isFirst && next) say("recorded", answers);
    isFirst = false;
    if (event.type === "tool-result") say("result", event.id, event.output);
    if (event.type === "end") say("end", event.reason, event.pending ?? []);
    reach(`event ${event.type}`);
  }
}
say("ends", agent.sessionContext, moments);
