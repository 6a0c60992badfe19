import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { sharedWireServer, temporaryFolder } from "@toolcrib/testing";
import { answerWith } from "@toolcrib/testing/wireReplies";
import { expect, test } from "vitest";
import { anyTool } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import type { Message } from "../messages.ts";
import { AnthropicProvider } from "../providers/anthropic/anthropic.ts";
import { OpenAIProvider } from "../providers/openai/openai.ts";
import { assertConversation } from "../testing.ts";
import journals from "./fixtures/serviceTools.json" with { type: "json" };

const server = await sharedWireServer();
const apiKey = "sk-older-0123456789";

interface Call {
  readonly name: string;
  readonly args: unknown;
}

function callsOf(messages: readonly Message[]): Call[] {
  const blocks = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return blocks.flatMap((block) => (block.type === "tool-call" ? [{ name: block.name, args: block.args }] : []));
}

function outputsOf(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "tool" ? [message.output] : []));
}

interface Block {
  readonly type: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly arguments?: string;
  readonly output?: string;
  readonly content?: readonly Block[];
  readonly text?: string;
}

/** The calls and the outputs that the service was sent. */
function sent(): { calls: Call[]; outputs: unknown[] } {
  const body = server.requests[0]?.body as { messages?: { content: Block[] }[]; input?: Block[] };
  const blocks = body.input ?? body.messages?.flatMap(({ content }) => content) ?? [];
  return {
    calls: blocks.flatMap(({ type, name = "", input, arguments: text = "{}" }) =>
      type === "tool_use" || type === "function_call" ? [{ name, args: input ?? JSON.parse(text) }] : [],
    ),
    outputs: blocks.flatMap(({ type, output, content }) =>
      type === "tool_result" || type === "function_call_output" ? [output ?? content?.[0]?.text] : [],
    ),
  };
}

// As they were written while `nativeTools` offered the text editor and shells that the services define.
test.each(journals)(
  "a session with calls of the tools of $wire itself goes on with calls of ours",
  async ({ wire, journal }) => {
    const file = join(temporaryFolder("older"), "one.jsonl");
    writeFileSync(file, `${journal.join("\n")}\n`);
    server.script(answerWith({ text: "on" }));
    const names = ["read_file", "write_file", "edit_file", "apply_patch", "run_bash"];
    const tools = new ToolRegistry(names.map((name) => anyTool(name, () => name)));
    const address = { apiKey, fullApi: true };
    const provider =
      wire === "anthropic"
        ? new AnthropicProvider({ ...address, baseURL: server.url })
        : new OpenAIProvider({ ...address, baseURL: `${server.url}/v1` });
    const agent = await Agent.resume(provider, file, { tools, attempts: 1 });
    const { sessionContext: before } = agent;
    expect(await agent.chat("go on")).toBe("on");
    expect(sent()).toEqual({ calls: callsOf(before), outputs: outputsOf(before) });
    assertConversation(agent.sessionContext);
    // Another service wrote the thinking. Tests that ran before in this process may have been given the same signatures, for other tools.
    expect(
      server.takeProblems().filter((one) => !/Invalid `signature`|could not be verified|thinking is lost/.test(one)),
    ).toEqual([]);
  },
);
