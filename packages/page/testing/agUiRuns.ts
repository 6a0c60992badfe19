import type { HttpAgent } from "@ag-ui/client";
import type { AGUIEvent, ContentPart, Message, ToolCall } from "@ag-ui/core";
import { HttpAgent as HttpAgent0, runHttpRequest, transformHttpEventStream } from "ag-ui-client-0";
import { createAgUiHandler } from "../src/agUi.ts";
import { PageAgent } from "../src/agUiClient.ts";
import { PageSessions } from "../src/index.ts";
import { createRandomAgent, reasoningTakenBack } from "./randomAgent.ts";

const url = "http://page.invalid/chat";

/** One thread: an agent of ours, and a client of AG-UI, of the present version or of 0.0.59. Returns what is wrong, in words. */
export async function checkRandomThread(random: () => number, runs: number, journal: string): Promise<string[]> {
  const agent = createRandomAgent(random, { journal });
  const sessions = new PageSessions({ open: () => ({ journal, agent: () => agent }), explain: String });
  const isOld = random() < 0.4;
  const served = serveInProcess(sessions, random);
  const config = { url, threadId: "thread", fetch: served.fetch };
  const client = isOld ? new OldPageAgent(config) : new PageAgent(config);
  /** Of a turn that was broken off a client shows what it has seen, the session less, or more: until the client joins a later turn. */
  let isSame = true;
  try {
    for (let run = 0; run < runs; run += 1) {
      const open = client.pendingInterrupts;
      const resume = open.map(({ id }) => ({ interruptId: id, ...randomAnswer(random) }));
      if (open.length === 0) client.addMessage({ id: crypto.randomUUID(), role: "user", content: "go" });
      const problems: string[] = [];
      await client.runAgent(open.length > 0 ? { resume } : {}).catch((error: unknown) => {
        problems.push(`the client: ${String(error)}`);
      });
      problems.push(...problemsOf(served.events, isOld));
      const asked = agent.pending.filter(({ answer }) => answer === undefined).map(({ callId }) => callId);
      const told = client.pendingInterrupts.map(({ toolCallId }) => toolCallId);
      const kept = await served.history();
      const last = served.events.at(-1);
      const isWhole = last?.type === "RUN_FINISHED" && last.outcome?.type !== "cancelled";
      if (last?.type !== "RUN_ERROR" && String(asked) !== String(told)) problems.push(`asked ${asked}, told ${told}`);
      isSame &&= isWhole;
      const compare = (): string[] => {
        // While a question waits, the session has calls behind it of which nothing was told yet.
        return isSame && asked.length === 0
          ? difference(outline(client.messages as Message[]), outline(kept.messages))
          : [];
      };
      problems.push(...compare());
      if (!isWhole || random() < 0.2) {
        // As a page that was loaded again. The turn is still readable, so the client sees it once more.
        Object.assign(client, { messages: [], pendingInterrupts: [] });
        await client.connectAgent();
        isSame = isWhole;
        problems.push(...compare());
        if (String(asked) !== String(client.pendingInterrupts.map(({ toolCallId }) => toolCallId)))
          problems.push("joined without the questions");
      }
      if (problems.length > 0) return [...problems, JSON.stringify(served.events).slice(0, 5000)];
    }
    return [];
  } finally {
    await sessions.close();
  }
}

/** Connects as PageAgent does, with a client of 0.0.59. */
class OldPageAgent extends HttpAgent0 {
  protected override connect({ runId }: Parameters<HttpAgent0["run"]>[0]): ReturnType<HttpAgent0["run"]> {
    return transformHttpEventStream(runHttpRequest(() => this.fetch(`${url}/thread/stream?runId=${runId}`, {})));
  }
}

function randomAnswer(random: () => number) {
  if (random() < 0.1) return { status: "cancelled" } as const;
  const payload = random() < 0.7 ? { approved: true } : { approved: false, reason: "not now" };
  return { status: "resolved", payload } as const;
}

/** Answers the requests of a client without a network. A turn may be stopped after any event. */
function serveInProcess(sessions: PageSessions, random: () => number) {
  const handler = createAgUiHandler(sessions);
  const served = {
    /** Of the last run. */
    events: [] as AGUIEvent[],
    async history(): Promise<{ messages: Message[]; interrupts: HttpAgent["pendingInterrupts"] }> {
      const reply = await handler(new Request(`${url}/thread`));
      return (await reply.json()) as Awaited<ReturnType<typeof served.history>>;
    },
    async fetch(address: string, init: RequestInit): Promise<Response> {
      const reply = await handler(new Request(address, init));
      if (!reply.ok || !reply.body) return reply;
      served.events = [];
      const stopAfter = random() < 0.3 ? Math.floor(random() * 25) : Number.POSITIVE_INFINITY;
      return new Response(reply.body.pipeThrough(new TransformStream({ transform })), reply);

      async function transform(bytes: Uint8Array, output: TransformStreamDefaultController<Uint8Array>): Promise<void> {
        served.events.push(JSON.parse(new TextDecoder().decode(bytes).slice("data: ".length)) as AGUIEvent);
        if (served.events.length === stopAfter) void handler(new Request(`${url}/thread/stop`, { method: "POST" }));
        output.enqueue(bytes);
      }
    },
  };
  return served;
}

const closers = {
  TEXT_MESSAGE_START: "TEXT_MESSAGE_END",
  TOOL_CALL_START: "TOOL_CALL_END",
  REASONING_START: "REASONING_END",
  REASONING_MESSAGE_START: "REASONING_MESSAGE_END",
  STEP_STARTED: "STEP_FINISHED",
} as const;

/** The client looks for open messages at the end of a run that finished alone; a run that failed leaves none open either. */
function problemsOf(events: readonly AGUIEvent[], isOld: boolean): string[] {
  const types = events.map(({ type }) => String(type));
  const count = (type: string): number => types.filter((one) => one === type).length;
  const problems = Object.entries(closers).flatMap(([start, end]) =>
    count(start) === count(end) ? [] : [`${start} without ${end}`],
  );
  const ends = count("RUN_FINISHED") + count("RUN_ERROR");
  if (types[0] !== "RUN_STARTED" || ends !== 1 || !/^RUN_(?:FINISHED|ERROR)$/.test(types.at(-1) ?? ""))
    problems.push(`from ${types[0]} to ${types.at(-1)}`);
  const text = JSON.stringify(events);
  if (isOld && /"cancelled"|pendingToolCallIds|protocolVersion|"source"/.test(text))
    problems.push("too new for 0.0.59");
  return problems;
}

/**
 * The content of a conversation, whatever its messages are called. Calls of programs are no part of a session, and the client has results in the order
 * in which they came.
 */
function outline(messages: readonly Message[]): string {
  const results = new Map<string, string>();
  const lines = messages.flatMap((message): object[] => {
    if (message.role === "activity") return [];
    const { content: given = "" } = message;
    const content = typeof given === "string" ? Buffer.from(given).toString() : textOf(given);
    if (message.role === "tool") results.set(message.toolCallId, content);
    if (message.role === "tool") return [];
    // A client keeps reasoning that was taken back if no other is left: MESSAGES_SNAPSHOT means that it does.
    if (content === reasoningTakenBack) return [];
    const calls = message.role === "assistant" ? (message.toolCalls ?? []).filter(({ metadata }) => !metadata) : [];
    return content === "" && calls.length === 0 ? [] : [{ role: message.role, content, calls }];
  });
  const withResults = (_key: string, value: unknown): unknown =>
    isCall(value) ? { ...value, type: "call", result: results.get(value.id) ?? null } : value;
  return JSON.stringify(lines, withResults);
}

/** Returns the text of parts: a client of 0.0.59 gets that alone. */
function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join();
}

function isCall(value: unknown): value is ToolCall {
  return typeof value === "object" && value !== null && "type" in value && value.type === "function";
}

function difference(shown: string, kept: string): string[] {
  if (shown === kept) return [];
  const at = Math.max(0, [...shown].findIndex((character, index) => character !== kept[index]) - 100);
  return [`the client shows … ${shown.slice(at, at + 400)}`, `the session has … ${kept.slice(at, at + 400)}`];
}
