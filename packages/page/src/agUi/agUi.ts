import type { AGUIEvent } from "@ag-ui/core";
import { EventEncoder } from "@ag-ui/encoder";
import type { AgentEvent } from "@toolcrib/agent";
import { option, readOptions } from "@toolcrib/core/internal";
import { explain } from "../errors.ts";
import { createHandler, type PageHandler } from "../handle.ts";
import type { PageSessions } from "../pageSessions.ts";
import type { PageProtocol, PageReader, SessionState } from "../protocol.ts";
import { interruptsOf } from "./questions.ts";
import { actionOf, readInput } from "./readInput.ts";
import { type AgUiRun, toAgUiMessages, writeRun } from "./writeRun.ts";

/** Options of the protocol. */
export interface AgUiOptions {
  /** Names of tools that a page may bring and run itself. Default: none. */
  readonly pageTools?: readonly string[] | undefined;
}

type RunOf = (state: SessionState) => AgUiRun;

/** Serves sessions over AG-UI. */
export function createAgUiHandler(sessions: PageSessions, options: AgUiOptions = {}): PageHandler {
  return createHandler(
    sessions,
    agUiProtocol(readOptions("createAgUiHandler", options, { pageTools: option.texts }), (error) =>
      explain(error, sessions),
    ),
  );
}

function agUiProtocol({ pageTools: names = [] }: AgUiOptions, explain: AgUiRun["explain"]): PageProtocol {
  const pageTools: ReadonlySet<string> = new Set(names);
  return {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
    read(body) {
      const input = readInput(body);
      const { threadId, runId } = input;
      const run = { threadId, runId, isCurrent: isCurrent(input.protocolVersion), pageTools, explain };
      // CopilotKit takes its answer to a question for the result of the call, and shows no other.
      const runOf = ({ pending }: SessionState): AgUiRun => {
        const asked = new Set(pending.flatMap(({ name, callId }) => (pageTools.has(name) ? [] : [callId])));
        const messages = input.messages.filter((one) => one.role !== "tool" || !asked.has(one.toolCallId));
        return { ...run, messages, isSent: messages.length < input.messages.length };
      };
      return { id: threadId, action: (state) => actionOf(input, state, pageTools), ...readerOf(runOf) };
    },
    join(url) {
      const threadId = decodeURIComponent(url.pathname.split("/").at(-2) ?? "");
      const version = isCurrent(url.searchParams.get("protocolVersion"));
      const runId = url.searchParams.get("runId") ?? crypto.randomUUID();
      const run = { threadId, runId, isSent: true, isCurrent: version, pageTools, explain };
      return readerOf((state) => ({ ...run, messages: toAgUiMessages(state, version) }));
    },
    history: (state) => ({
      messages: toAgUiMessages(state, true),
      interrupts: interruptsOf(state.pending, pageTools),
    }),
  };
}

function isCurrent(protocolVersion: unknown): boolean {
  return protocolVersion === "1.0";
}

function readerOf(runOf: RunOf): Required<PageReader> {
  return {
    stream: (turn) => encode(writeRun(turn.events(), runOf(turn.before))),
    idle: (state) => encode(writeRun(endOf(state), runOf(state))),
  };
}

/** Tells what waits in a session in which no turn runs. */
async function* endOf({ pending }: SessionState): AsyncGenerator<AgentEvent, void> {
  yield pending.length > 0
    ? { type: "end", reason: "approval", text: "", pending }
    : { type: "end", reason: "stop", text: "" };
}

async function* encode(events: AsyncIterable<AGUIEvent>): AsyncGenerator<string, void> {
  const encoder = new EventEncoder();
  for await (const event of events) yield encoder.encodeSSE(event);
}
