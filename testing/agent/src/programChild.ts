// One life of an agent whose program calls tools: begins or resumes a journal, says yes to what is asked (for two calls where that is offered) and
// goes on until the model has answered. Kills itself at a given moment. Arguments: journal, file of effects, number of the moment (0: never).
import { appendFileSync, existsSync, readFileSync, rmSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { Agent, type AgentOptions } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { createProgramTools } from "@toolcrib/tools-program";

const [journal = "", effects = "", moment = "0"] = process.argv.slice(2);

/** Written at once, so that a kill loses nothing of it. */
const say = (...words: readonly unknown[]): void => void writeSync(1, `${JSON.stringify(words)}\n`);

let moments = 0;
function reach(name: string): void {
  moments += 1;
  if (moments !== Number(moment)) return;
  say("killed", name);
  process.kill(process.pid, "SIGKILL");
}

// Each piece of the journal: before it is written, half written, and whole.
const probe = await open(process.execPath);
const prototype = Object.getPrototypeOf(probe) as Pick<FileHandle, "appendFile">;
const { appendFile } = prototype;
prototype.appendFile = async function (this: FileHandle, text) {
  reach("before a write");
  const half = String(text).slice(0, String(text).length / 2);
  if (moments + 1 === Number(moment)) await appendFile.call(this, half);
  reach("within a write");
  await appendFile.call(this, text);
  reach("after a write");
};
await probe.close();

const tools = new ToolRegistry();
const traits = { look: { readOnly: true }, put: { idempotent: true }, charge: {} };
for (const [name, trait] of Object.entries(traits)) {
  const execute = (_: object, { callId }: { readonly callId?: string | undefined }): string => {
    reach("before an effect");
    appendFileSync(effects, `${name} ${callId}\n`);
    reach("after an effect");
    return `did ${callId}`;
  };
  const effect = (): ToolEffect[] => [{ kind: "write", path: resolve("/box/one") }];
  tools.register(
    defineTool({ name, description: name, parameters: { type: "object" }, ...trait, effects: effect, execute }),
  );
}
tools.register(...createProgramTools(tools, { tools: Object.keys(traits) }));
tools.guard(({ args, callId }) => {
  const text = `May ${callId} run?`;
  if (args.many === true) return { ask: { text, data: { upTo: resolve("/box") } } };
  return args.ask === true ? { ask: text } : true;
});

const code = `const told = [];
const tell = async (call) => told.push(await call.catch((error) => error.message));
for (let n = 0; n < 3; n += 1) {
  await tell(tools.look({ n, chance: Math.random() }));
  await tell(tools.charge({ n, at: Date.now() }));
}
await Promise.all([tools.charge({}), tools.look({}), tools.look({}), tools.charge({ ask: true }), tools.put({}), tools.charge({ ask: true })].map(tell));
await tell(tools.charge({ ask: true, last: true }));
for (let n = 0; n < 3; n += 1) await tell(tools.charge({ many: true, n }));
return told`;
const script: ScriptedReply[] = [{ calls: [{ id: "c", name: "run_program", args: { code } }] }, "done"];

const stepsOf = (agent: Agent): number => agent.sessionContext.filter((one) => one.role === "assistant").length;
const provider = new ScriptedProvider(
  Array.from(
    { length: 9 },
    (): ScriptedReply =>
      ({ messages }) =>
        script[messages.filter((one) => one.role === "assistant").length] ?? "done",
  ),
);
// One without a whole line is none.
const isBegun = existsSync(journal) && readFileSync(journal, "utf8").includes("\n");
if (!isBegun) rmSync(journal, { force: true });
const options: AgentOptions = { tools, journal };
const agent = isBegun ? await Agent.resume(provider, journal, options) : new Agent(provider, options);
while (stepsOf(agent) < script.length) {
  const unanswered = agent.pending.filter(({ answer }) => answer === undefined);
  const answers = Object.fromEntries(
    unanswered.map(({ callId, question }) => [callId, question.data === undefined ? true : { upTo: 2 }]),
  );
  for await (const { type } of agent.pending.length > 0 ? agent.streamApprove(answers) : agent.streamChat("go"))
    reach(`event ${type}`);
}
say("ends", agent.sessionContext.find((one) => one.role === "tool")?.output, moments);
