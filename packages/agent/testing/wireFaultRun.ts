import assert from "node:assert/strict";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { faultKey, type WireFault } from "@toolcrib/testing/wireFaults";
import { answerWith } from "@toolcrib/testing/wireReplies";
import type { WireFormat, WireServer } from "@toolcrib/testing/wireServer";
import { Agent } from "../src/agent.ts";
import { isAgentError } from "../src/errors.ts";
import type { AgentEvent } from "../src/messages.ts";
import type { Provider } from "../src/provider.ts";
import { AnthropicProvider } from "../src/providers/anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "../src/providers/chat/openaiCompatible.ts";
import { OpenAIProvider } from "../src/providers/openai/openai.ts";
import { assertConversation } from "../src/testing.ts";

const silenceMs = 500;

/** The provider of a wire format, over its real SDK, at a loopback server. */
export function wireProvider(
  format: WireFormat,
  url: string,
  options: { stream?: boolean; limitMs?: number; loadSdk?: (name: string) => Promise<unknown> } = {},
): Provider {
  const { stream = true, limitMs, loadSdk } = options;
  const shared = { apiKey: faultKey, stream, loadSdk, requestTimeoutMs: limitMs, idleTimeoutMs: limitMs };
  switch (format) {
    case "responses":
      return new OpenAIProvider({ ...shared, baseURL: `${url}/v1` });
    case "messages":
      return new AnthropicProvider({ ...shared, baseURL: url });
    default:
      return new OpenAICompatibleProvider({ ...shared, baseURL: `${url}/v1`, model: "m" });
  }
}

/** One tool, `list_dir`, that answers the same each time. */
export function listRegistry(): ToolRegistry {
  const registry = new ToolRegistry();
  registry.register(
    defineTool({
      name: "list_dir",
      description: "List a directory.",
      parameters: {
        type: "object",
        properties: { path: { type: "string" } },
        required: ["path"],
        additionalProperties: false,
      },
      readOnly: true,
      execute: () => "one.txt",
    }),
  );
  return registry;
}

/**
 * Runs a turn whose first reply calls a tool and whose second is the fault, then a turn without faults. Throws unless the fault
 * ends as its table says, every request was valid for a strict service, and the key appeared nowhere.
 */
export async function runFault(
  server: WireServer,
  format: WireFormat,
  stream: boolean,
  fault: WireFault,
  connect: typeof wireProvider = wireProvider,
): Promise<void> {
  server.reset();
  const expected = typeof fault.outcome === "function" ? fault.outcome(format) : fault.outcome;
  const provider = connect(format, server.url, { stream, ...(fault.silent && { limitMs: silenceMs }) });
  const agent = new Agent(provider, { tools: listRegistry(), systemPrompt: "Be brief.", attempts: 1 });
  server.script(
    answerWith({ text: "Looking.", calls: [{ id: "call_first", name: "list_dir", args: '{"path":"."}' }] }),
    fault.script,
  );
  if ("answered" in expected) server.script(answerWith({ text: "The end." }));
  const { events, error } = await turn(agent);
  const end = events.at(-1);
  if ("error" in expected) {
    assert.ok(isAgentError(error), `expected an AgentError, got ${String(error)}, end ${JSON.stringify(end)}`);
    assert.equal(error.code, expected.error, error.message);
    assert.equal(error.retryable, expected.retryable, error.message);
    assert.ok(!keyIn(error), `the key came out: ${error.message}`);
  } else {
    assert.equal(error, undefined);
    assert.ok(end?.type === "end");
    assert.equal(end.reason, "end" in expected ? expected.end : "stop");
  }
  assert.ok(!JSON.stringify(events).includes(faultKey), "the key came out in an event");
  assertConversation(agent.sessionContext as Parameters<typeof assertConversation>[0]);
  server.script(answerWith({ text: "All is well." }));
  assert.match(await agent.chat("Are you there?"), /All is well\.$|The end\.$/);
  assert.deepEqual(server.problems(), []);
}

async function turn(agent: Agent): Promise<{ events: AgentEvent[]; error: unknown }> {
  const events: AgentEvent[] = [];
  try {
    for await (const event of agent.streamChat("List it.")) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

/** Returns whether the key is anywhere in an error: its message, stack, fields or causes. */
function keyIn(error: unknown): boolean {
  if (!(error instanceof Error)) return JSON.stringify(error ?? "").includes(faultKey);
  const fields = Object.getOwnPropertyNames(error).map((name) => String((error as never)[name]));
  return (
    [error.message, error.stack ?? "", ...fields].some((text) => text.includes(faultKey)) ||
    (error.cause !== undefined && keyIn(error.cause))
  );
}
