import assert from "node:assert/strict";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { Agent } from "../agent.ts";
import { assertConversation } from "../conversation/checkConversation.ts";
import { callsOf, textOf } from "../conversation/conversation.ts";
import { isAgentError } from "../errors.ts";
import type { AgentEvent, Message } from "../messages.ts";
import type { ModelRequest, Provider, ProviderEvent } from "../provider.ts";

/** A runner's way to declare a test: `test` of vitest or node:test. */
export type DeclareTest = (name: string, run: () => Promise<void>) => unknown;

/** The provider under test. */
export interface ProviderUnderTest {
  /** Makes a new provider; called for each check. */
  create: (options: { readonly stream: boolean }) => Provider | Promise<Provider>;
  /**
   * A message that the service behind it answers with at least two words of text, and one that it answers with one call
   * `list_dir {"path": …}` and, after its result, with text. Defaults: `help` and `list .`.
   */
  prompts?: { readonly text: string; readonly toolCall: string };
  /** A provider whose service refuses every request. */
  createFailing?: () => Provider | Promise<Provider>;
  /** Milliseconds within which an aborted request has to end. Default 60,000. */
  settleMs?: number;
}

/** Ends a check that hangs; it does not measure speed. */
const settleLimitMs = 60_000;

type Check = (subject: ProviderUnderTest, stream: boolean) => Promise<void>;

/** The checks by name. Each throws an AssertionError when a provider does not pass it. */
export const providerChecks: Readonly<Record<string, Check>> = {
  "has a lower-case name and a model": async (subject, stream) => {
    const { name, model } = await subject.create({ stream });
    assert.match(name, /^[a-z][a-z0-9-]*$/);
    assert.ok(model.length > 0, "the model is blank");
  },
  "yields text that adds up to its one reply, which comes last": async (subject, stream) => {
    const events = await ask(await subject.create({ stream }), promptsOf(subject).text);
    const replies = events.filter((event) => event.type === "reply");
    assert.equal(replies.length, 1, `${replies.length} replies`);
    const reply = events.at(-1);
    assert.ok(reply?.type === "reply", "the reply is not last");
    const text = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
    assert.ok(text.length > 0, "no text came");
    assert.equal(text, textOf(reply.message));
    assert.equal(reply.stop, "stop");
    for (const count of Object.values(reply.usage ?? {})) assert.ok(count >= 0, `usage ${count}`);
  },
  "gives a call whole: a name, an id and an object": async (subject, stream) => {
    const reply = (await ask(await subject.create({ stream }), promptsOf(subject).toolCall)).at(-1);
    assert.ok(reply?.type === "reply" && reply.stop === "tool-calls", "no tool call came");
    const [call] = callsOf(reply.message);
    assert.equal(call?.name, "list_dir");
    assert.equal(typeof call?.args.path, "string");
    assert.equal(call?.malformed, undefined);
    assert.notEqual(call?.id, "");
  },
  "leaves the request as it was": async (subject, stream) => {
    const request = requestOf(promptsOf(subject).toolCall);
    const before = JSON.stringify(request);
    await collect((await subject.create({ stream })).send(deepFreeze(request)));
    assert.equal(JSON.stringify(request), before);
  },
  "carries a turn with a tool through the loop, and a second one": async (subject, stream) => {
    const agent = new Agent(await subject.create({ stream }), { tools: registryWithList() });
    for (const prompt of [promptsOf(subject).toolCall, promptsOf(subject).text, promptsOf(subject).toolCall]) {
      const events: AgentEvent[] = [];
      for await (const event of agent.streamChat(prompt)) events.push(event);
      const end = events.at(-1);
      assert.ok(end?.type === "end" && end.reason === "stop" && end.text.length > 0, "no answer came");
      const results = events.filter((event) => event.type === "tool-result");
      assert.equal(results.length, prompt === promptsOf(subject).toolCall ? 1 : 0);
      assert.ok(results.every((result) => !result.isError && result.output === listing));
      assertConversation(agent.sessionContext);
    }
  },
  "sends nothing once the signal has fired": async (subject, stream) => {
    const request = { ...requestOf(promptsOf(subject).text), signal: AbortSignal.abort() };
    await assertFails((await subject.create({ stream })).send(request), "aborted", subject.settleMs);
  },
  "ends soon after an abort, and the agent works on": async (subject, stream) => {
    const agent = new Agent(await subject.create({ stream }), { tools: registryWithList() });
    const controller = new AbortController();
    const turn = agent.chat(promptsOf(subject).toolCall, { signal: controller.signal });
    setImmediate(() => controller.abort());
    await within(
      turn.catch(() => undefined),
      subject.settleMs,
    );
    assertConversation(agent.sessionContext);
    assert.ok((await agent.chat(promptsOf(subject).text)).length > 0, "no answer came");
  },
  "fails with an AgentError when the service refuses": async (subject) => {
    if (!subject.createFailing) return;
    await assertFails((await subject.createFailing()).send(requestOf("help")), undefined, undefined);
  },
};

/**
 * Declares one test for each of `providerChecks`, streamed and not, with the runner's own `test`:
 * `testProvider(test, { create: ({ stream }) => new MyProvider({ stream }) })`.
 */
export function testProvider(test: DeclareTest, subject: ProviderUnderTest): void {
  for (const stream of [true, false]) {
    for (const [name, check] of Object.entries(providerChecks)) {
      test(`a provider ${name} (${stream ? "streamed" : "not streamed"})`, () => check(subject, stream));
    }
  }
}

const listing = "one.txt\ntwo/";

/** Returns the tool that the checks offer: `list_dir`, which answers the same each time. */
function registryWithList(): ToolRegistry {
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
      execute: () => listing,
    }),
  );
  return registry;
}

function promptsOf({ prompts = { text: "help", toolCall: "list ." } }: ProviderUnderTest): {
  text: string;
  toolCall: string;
} {
  return prompts;
}

function requestOf(text: string): ModelRequest {
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text }] }];
  const tools = registryWithList().getEnabledSchemas();
  return { systemPrompt: "Be brief.", messages, tools, signal: new AbortController().signal };
}

function ask(provider: Provider, text: string): Promise<ProviderEvent[]> {
  return collect(provider.send(requestOf(text)));
}

async function collect(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const all: ProviderEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

async function assertFails(
  events: AsyncIterable<ProviderEvent>,
  code: string | undefined,
  settleMs: number | undefined,
): Promise<void> {
  const thrown: unknown = await within(
    collect(events).then(
      () => undefined,
      (error: unknown) => error,
    ),
    settleMs,
  );
  assert.ok(isAgentError(thrown), `expected an AgentError, got ${String(thrown)}`);
  if (code !== undefined) assert.equal(thrown.code, code);
}

async function within<T>(running: Promise<T>, limitMs = settleLimitMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `did not end in ${limitMs} ms` })), limitMs);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || "aborted" in value) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
