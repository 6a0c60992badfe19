import { setTimeout as sleep } from "node:timers/promises";
import { Agent, AgentError, type AgentErrorCode, type AgentOptions, type ProviderEvent } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import {
  defineTool,
  type ExecutableTool,
  type ToolCallInfo,
  ToolError,
  ToolRegistry,
  toolOutput,
} from "@toolcrib/core";

type Run = (args: Record<string, unknown>, call: ToolCallInfo) => unknown;

/** A picture of one pixel. */
const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const picture = { type: "image", data, mimeType: "image/png" } as const;
const codes: AgentErrorCode[] = ["rate_limit", "server", "network", "timeout", "bad_reply", "invalid_request"];
const stops = ["stop", "token-limit", "refusal", "content-filter", "pause"] as const;

/** Reasoning of a reply that fails and is asked for again. */
export const reasoningTakenBack = "before the fault";

/** An agent whose model does anything that a provider may do, with tools that succeed, fail, hang, ask, report and call others. */
export function createRandomAgent(random: () => number, options: AgentOptions = {}): Agent {
  const provider = new ScriptedProvider(Array.from({ length: 100_000 }, () => () => randomReply(random)));
  const limits = { maxSteps: 6, baseDelayMs: 0.1, idleTimeoutMs: 5, requestTimeoutMs: 5 };
  return new Agent(provider, { ...limits, tools: randomTools(random), ...options });
}

function randomReply(random: () => number): ScriptedReply {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const kind = random();
  if (kind < 0.06)
    return new AgentError({ code: pick(codes), message: "fault", retryable: random() < 0.8, retryAfterMs: 0 });
  if (kind < 0.08) return new TypeError("a fault of the provider");
  if (kind < 0.13) return () => broken();
  if (kind < 0.15) return () => silent();
  const names = ["look", "look", "draw", "change", "fail", "slow", "program", "absent", "a b"];
  const calls = Array.from({ length: Math.floor(random() * 4) }, () => ({
    id: pick(["", "a", "b", "call_1", "x".repeat(80)]),
    name: pick(names),
    args: { value: pick([1, null, [], { deep: ["\ud800"] }, "text"]) },
    ...(random() < 0.1 && { malformed: "Unexpected end" }),
  }));
  return {
    text: pick(["", "some words to read", "\ud800 half", "<b>no markup</b>"]),
    reasoning: pick(["", "", "thinking"]),
    calls,
    ...(random() < 0.15 && { stop: pick(stops) }),
    usage: { inputTokens: Math.floor(random() * 1000), outputTokens: 7 },
  };
}

async function* broken(): AsyncGenerator<ProviderEvent, void> {
  yield { type: "reasoning-delta", text: reasoningTakenBack };
  yield { type: "text-delta", text: "half a reply" };
  throw new AgentError({ code: "network", message: "dropped", retryable: true, retryAfterMs: 0 });
}

async function* silent(): AsyncGenerator<ProviderEvent, void> {
  yield { type: "activity" };
  await new Promise(() => {});
}

function randomTools(random: () => number): ToolRegistry {
  const tool = (name: string, readOnly: boolean, execute: Run): ExecutableTool =>
    defineTool({ name, description: name, readOnly, timeoutMs: 5, parameters: { type: "object" }, execute });
  const tools = new ToolRegistry([
    tool("look", true, (_args, { onProgress }) => {
      onProgress?.({ progress: 1, total: 2, message: "half" });
      return random() < 0.5 ? "seen" : sleep(1).then(() => "seen later \ud800");
    }),
    tool("draw", true, () => toolOutput("drawn", { content: [picture] })),
    tool("change", false, () => "done"),
    tool("fail", true, () => Promise.reject(new Error("failed"))),
    tool("slow", false, () => new Promise(() => {})),
    createProgram(random),
  ]);
  tools.guard(({ name }) => name === "program" || random() < 0.75 || (random() < 0.8 ? { ask: "May it run?" } : "no"));
  return tools;
}

/** A program that makes three calls, as far as the loop sees it: lines of its record. The second may ask. */
function createProgram(random: () => number): ExecutableTool {
  const program = defineTool({
    name: "program",
    description: "calls others",
    parameters: { type: "object" },
    async execute(_args, { caller, callId, signal }) {
      const log = caller?.log;
      if (!log) return "no record";
      const ended = log.lines.filter((line) => "type" in line && line.type === "end").length;
      for (let number = ended + 1; number < 4; number += 1) {
        const id = `${callId}:${number}`;
        const args = { in: "program" };
        const answer = log.answers?.[id];
        if (number === 2 && answer === undefined && random() < 0.5) {
          const question = { text: "May the program go on?" };
          const within = [{ callId: id, name: "change", args, question }];
          throw new ToolError({ code: "approval_required", message: question.text, details: { question, within } });
        }
        await log.write([{ type: "call", number, name: "change", args: JSON.stringify(args) }]);
        await sleep(random() < 0.5 ? 0 : 1);
        // The record of a turn that is over takes no more lines.
        signal?.throwIfAborted();
        await log.write([{ type: "end", number, ok: answer !== false, text: JSON.stringify("inner") }]);
      }
      return "the program has ended";
    },
  });
  return { ...program, composite: true };
}
