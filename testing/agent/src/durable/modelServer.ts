// A scripted model service on loopback in a process of its own. It answers by the plan, in the time that a model takes, checks every
// request as a strict service would, and keeps what it was asked, out of reach of the database. Argument: its options as JSON.
import { createHash } from "node:crypto";
import { isObject } from "@toolcrib/core/text";
import { answerWith } from "@toolcrib/testing/wireReplies";
import { type WireAnswer, type WireRequest, WireServer } from "@toolcrib/testing/wireServer";
import { answerOf, callsOf, fraction, now, type PlanName, plans, resultOf } from "./plan.ts";

export interface ModelServerOptions {
  readonly plan: PlanName;
  /** The time of a reply, from its request to its last byte. */
  readonly latencyMs: readonly [least: number, most: number];
}

/** One request for a reply. */
export interface Asked {
  readonly job: string;
  readonly reply: number;
  readonly worker: string;
  readonly at: number;
  /** Of the whole request: the same reply asked again must be the same request. */
  readonly digest: string;
}

export interface ModelReport {
  readonly asked: readonly Asked[];
  readonly problems: readonly string[];
  /** The most requests in flight at once. */
  readonly mostInFlight: number;
  readonly cpuMs: number;
}

const options = JSON.parse(process.argv[2] ?? "") as ModelServerOptions;
const asked: Asked[] = [];
const problems: string[] = [];
let mostInFlight = 0;

function answer(request: WireRequest): WireAnswer {
  const messages = Array.isArray(request.body.messages) ? request.body.messages.filter(isObject) : [];
  const task = messages.find(({ role }) => role === "user");
  const job = /^Do (\S+)\.$/.exec(textOf(task?.content))?.[1] ?? "?";
  const reply = messages.filter(({ role }) => role === "assistant").length + 1;
  const worker = String(request.headers.authorization).replace("Bearer ", "");
  const digest = createHash("sha256").update(request.text).digest("base64url").slice(0, 16);
  asked.push({ job, reply, worker, at: now(), digest });
  mostInFlight = Math.max(mostInFlight, server.inFlight());
  const unknown = checkResults(job, messages);
  for (const problem of request.problems) problems.push(`${job}, reply ${reply}: ${problem}`);
  // What was checked is not kept: ten thousand requests would fill the memory.
  server.requests.length = 0;
  const calls = callsOf(plans[options.plan], reply).map(({ id, name }) => ({
    id,
    name,
    args: JSON.stringify({ job, id }),
  }));
  const script = answerWith(calls.length > 0 ? { text: `Step ${reply}.`, calls } : { text: answerOf(job, unknown) });
  const whole = typeof script === "function" ? script(request) : script;
  const [least, most] = options.latencyMs;
  const latency = least + (most - least) * fraction(job, reply);
  return { ...whole, gapMs: latency / whole.chunks.length };
}

/** Every call before this request has its own result, or the word that nobody knows whether it ran. Returns how many have that. */
function checkResults(job: string, messages: readonly Record<string, unknown>[]): number {
  let unknown = 0;
  const results = new Map(
    messages.filter(({ role }) => role === "tool").map((message) => [message.tool_call_id, textOf(message.content)]),
  );
  const replies = messages.filter(({ role }) => role === "assistant").length;
  for (let reply = 1; reply <= replies; reply += 1) {
    for (const call of callsOf(plans[options.plan], reply)) {
      const result = results.get(call.id);
      if (result?.includes("may have run")) unknown += 1;
      else if (result !== resultOf(job, call)) problems.push(`${job}: the result of ${call.id} is ${result}`);
    }
  }
  return unknown;
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((part) => (isObject(part) ? String(part.text) : "")).join("");
}

const server = await WireServer.start();
server.answerAll(answer);
process.on("disconnect", () => process.exit(0));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ asked, problems, mostInFlight, cpuMs: (user + system) / 1000 } satisfies ModelReport);
});
process.send?.({ url: server.url });
