// One worker of the comparison with a workflow written by hand. Argument: its options as JSON.
import { setTimeout as sleep } from "node:timers/promises";
import { DBOS } from "@dbos-inc/dbos-sdk";
import type { Provider } from "@toolcrib/agent";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { durable } from "@toolcrib/durable/dbos";

/** Kinds of work: a durable run, the same with a tool whose calls are claimed, a workflow of the engine. */
export type Kind = "durable" | "claimed" | "handwritten";

export interface CompareOptions {
  readonly kind: Kind;
  readonly databaseUrl: string;
  /** The number of calls in a run. It has one more reply than that. */
  readonly calls: number;
  readonly latencyMs: number;
}

const { kind, databaseUrl, calls, latencyMs } = JSON.parse(process.argv[2] ?? "") as CompareOptions;
const connections = 10;
const concurrency = 25;

/** The work of the model and of the tool, the same for all. */
const replyTo = async (replies: number) => {
  await sleep(latencyMs);
  return replies < calls ? { call: `call_${replies}`, args: { id: replies } } : { text: "Done." };
};
const noteOf = async ({ id }: { readonly id: number }): Promise<string> => `Noted ${id}.`;

const provider: Provider = {
  ...{ name: "scripted", model: "scripted" },
  async *send({ messages }) {
    const { text = "", call, args } = await replyTo(messages.filter(({ role }) => role === "assistant").length);
    const content = call
      ? { type: "tool-call" as const, id: call, name: "note", args }
      : { type: "text" as const, text };
    yield { type: "reply", message: { role: "assistant", content: [content] }, stop: call ? "tool-calls" : "stop" };
  },
};

async function workDurable(): Promise<void> {
  const note = defineTool({
    name: "note",
    description: "Note a number.",
    parameters: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
    idempotent: kind === "durable",
    execute: noteOf,
  });
  const agents = { worker: { provider, tools: new ToolRegistry([note]) } };
  const runs = await durable({ databaseUrl, agents, connections, limits: { worker: { concurrency } } });
  await runs.work();
}

async function runByHand(task: string): Promise<string> {
  const messages: unknown[] = [task];
  for (let replies = 0; ; replies += 1) {
    const reply = await DBOS.runStep(() => replyTo(replies), { name: `reply:${replies + 1}` });
    messages.push(reply);
    const { text, call, args } = reply;
    if (args === undefined) return text ?? "";
    messages.push(await DBOS.runStep(() => noteOf(args), { name: `call:${call}` }));
  }
}

async function workByHand(): Promise<void> {
  DBOS.registerWorkflow(runByHand, { name: "runByHand" });
  DBOS.setConfig({
    name: "handwritten",
    systemDatabaseUrl: databaseUrl,
    systemDatabasePoolSize: connections,
    applicationVersion: "1",
    executorID: String(process.pid),
    logLevel: "error",
    runAdminServer: false,
  });
  await DBOS.launch();
  await DBOS.registerQueue("hand", { workerConcurrency: concurrency, minPollingIntervalMs: 250 });
}

await (kind === "handwritten" ? workByHand() : workDurable());
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
