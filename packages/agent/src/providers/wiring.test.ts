import { readdirSync, readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import {
  answerWith,
  jsonOf,
  replyEvents,
  sharedWireServer,
  sse,
  streamOf,
  type WireFormat,
  wireFormats,
} from "@toolcrib/testing";
import OpenAI from "openai";
import { afterEach, describe, expect, test, vi } from "vitest";
import { read } from "../../testing/turns.ts";
import { listRegistry, wireProvider } from "../../testing/wireFaultRun.ts";
import { Agent } from "../agent.ts";
import type { Provider, ProviderEvent } from "../provider.ts";
import { AnthropicProvider } from "./anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./chat/openrouter.ts";
import { OpenAIProvider } from "./openai/openai.ts";

const server = await sharedWireServer();
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const apiKey = "sk-wiring-0123456789";
const call = (path: string) => ({ name: "list_dir", args: JSON.stringify({ path }) });

async function collect(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const all: ProviderEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

function request(text = "Hello", signal = new AbortController().signal) {
  return {
    systemPrompt: "",
    messages: [{ role: "user", content: [{ type: "text", text }] }],
    tools: [],
    signal,
  } as const;
}

describe.each(wireFormats)("the %s wire", (format) => {
  test("yields the same events streamed and not, except for the pieces of the text", async () => {
    const events = [];
    for (const stream of [true, false]) {
      server.script(answerWith({ text: "Looking at it.", calls: [{ id: "call_1", ...call(".") }] }));
      const all = await collect(wireProvider(format, server.url, { stream }).send(request()));
      const text = all.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
      const thinking = all.map((event) => (event.type === "reasoning-delta" ? event.text : "")).join("");
      const reply = all.at(-1);
      // Each scripted reply has its own item ids.
      events.push(JSON.stringify({ text, thinking, reply }).replace(/"(rs|msg|fc|sig|opaque)_\d+(==)?"/g, '"$1"'));
    }
    expect(events[1]).toBe(events[0]);
  });

  test("loads the SDK that the user brings, once and by the name of its package", async () => {
    const asked: string[] = [];
    const loadSdk = async (name: string) => {
      asked.push(name);
      return { default: name === "openai" ? OpenAI : Anthropic };
    };
    server.script(answerWith({ text: "One." }), answerWith({ text: "Two." }));
    const provider = wireProvider(format, server.url, { loadSdk });
    for (const text of ["Hello", "Again"]) await collect(provider.send(request(text)));
    expect(asked).toEqual([format === "messages" ? "@anthropic-ai/sdk" : "openai"]);
  });

  test("leaving the stream ends the request at the service", async () => {
    server.script(({ format }) =>
      streamOf(sse(replyEvents(format, { text: "One. Two." })).slice(0, -3), { end: "hang" }),
    );
    const before = server.openAnswers();
    for await (const { type } of wireProvider(format, server.url).send(request())) if (type === "text-delta") break;
    await expect.poll(() => server.openAnswers(), { interval: 10 }).toBeLessThanOrEqual(before);
  });

  test("the wait that a rate-limited service asks for is passed to the loop, which tries again", async () => {
    server.script(
      jsonOf({ error: { message: "slow" } }, { status: 429, headers: { "retry-after-ms": "5" } }),
      answerWith({ text: "Fine." }),
    );
    const events = await read(new Agent(wireProvider(format, server.url)).streamChat("Hello"));
    expect(events.find((event) => event.type === "retry")).toMatchObject({ delayMs: 5, attempt: 2 });
    expect(events.at(-1)).toMatchObject({ type: "end", text: "Fine." });
  });
});

test.each([true, false])(
  "after a lost connection no two messages of the user stand in a row (joined: %s)",
  async (joinUserMessages) => {
    const compat = { joinUserMessages };
    const provider = new OpenAICompatibleProvider({ baseURL: `${server.url}/v1`, model: "m", compat });
    const agent = new Agent(provider, { attempts: 1 });
    server.script({ chunks: [], refuse: true }, answerWith({ text: "Yes." }), answerWith({ text: "Yes." }));
    await expect(agent.chat("One.")).rejects.toMatchObject({ code: "network" });
    await agent.chat("Two.");
    await agent.chat("Three.");
    const roles = server.requests.map(({ body }) =>
      (body.messages as { role: string }[]).map(({ role }) => role).join(),
    );
    const first = joinUserMessages ? "user" : "user,user";
    expect(roles).toEqual(["user", first, `${first},assistant,user`]);
  },
);

test.each(wireFormats)("over the %s wire pings alone do not keep a reply alive, and its parts do", async (format) => {
  const ping = format === "messages" ? 'event: ping\ndata: {"type":"ping"}\n\n' : ": still working\n\n";
  const run = (chunks: string[]) => {
    server.script(streamOf(chunks, { gapMs: 40 }));
    const limits = { attempts: 1, contentTimeoutMs: 600 };
    return new Agent(wireProvider(format, server.url), limits).chat("Hello");
  };
  const reply = sse(replyEvents(format, { text: "At last.", calls: [] }));
  await expect(run([...Array(100).fill(ping), ...reply])).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("contentTimeoutMs"),
  });
  expect(await run(reply)).toBe("At last.");
});

test("bytes without content keep a slow stream alive", async () => {
  const events = sse(replyEvents("chat", { text: "At last." }));
  const pings = Array.from({ length: 9 }, () => ": still working\n\n");
  server.script(streamOf([events[0] ?? "", ...pings, events.slice(1).join("")], { gapMs: 200 }));
  const agent = new Agent(wireProvider("chat", server.url), { attempts: 1, idleTimeoutMs: 1500 });
  expect(await agent.chat("Hello")).toBe("At last.");
});

test("Anthropic gets two cache points: behind the system prompt, and at the end of the conversation", async () => {
  server.script(answerWith({ text: "Yes." }));
  const options = { tools: listRegistry(), systemPrompt: "Be brief." };
  await new Agent(wireProvider("messages", server.url), options).chat("Hello");
  const { body } = server.requests[0] ?? {};
  expect(body?.cache_control).toEqual({ type: "ephemeral" });
  expect(body?.system).toEqual([{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]);
});

test("OpenAI is asked to store nothing and to return its reasoning encrypted", async () => {
  server.script(answerWith({ text: "Yes." }));
  await new Agent(wireProvider("responses", server.url)).chat("Hello");
  expect(server.requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
});

test("options are sent: tokens, reasoning, extra fields and headers", async () => {
  const extraBody = { metadata: { a: "b" } };
  const shared = { apiKey, headers: { "x-team": "blue" }, maxTokens: 77, reasoning: "high", extraBody } as const;
  const url = server.url;
  const v1 = { ...shared, baseURL: `${url}/v1` };
  const compat = { maxTokensField: "max_completion_tokens" } as const;
  const bodies: [provider: Provider, expected: object][] = [
    [new OpenAIProvider(v1), { max_output_tokens: 77, reasoning: { effort: "high", summary: "auto" } }],
    [new AnthropicProvider({ ...shared, baseURL: url }), { max_tokens: 77, output_config: { effort: "high" } }],
    [new OpenRouterProvider(v1), { max_tokens: 77, reasoning: { effort: "high" }, usage: { include: true } }],
    [
      new OpenAICompatibleProvider({ ...v1, model: "m", compat }),
      { max_completion_tokens: 77, reasoning_effort: "high" },
    ],
  ];
  for (const [provider, expected] of bodies) {
    server.reset();
    server.script(answerWith({ text: "Yes." }));
    await collect(provider.send(request()));
    expect(server.requests[0]?.body).toMatchObject({ ...expected, metadata: { a: "b" }, model: provider.model });
    expect(server.requests[0]?.headers["x-team"]).toBe("blue");
  }
});

test("what is new is asked for at the service alone, its betas beside the user's own", async () => {
  const baseURL = server.url;
  const headers = { "Anthropic-Beta": "context-management-2025-06-27" };
  for (const fullApi of [true, false]) {
    server.script(answerWith({ text: "Yes." }));
    const provider = new AnthropicProvider({ apiKey, baseURL, headers, fullApi, model: "claude-opus-5-5" });
    await collect(provider.send(request()));
  }
  const [full, plain] = server.requests;
  expect(full?.body.thinking).toMatchObject({ type: "adaptive", display: "updates" });
  expect(full?.headers["anthropic-beta"]).toMatch(/^context-management-2025-06-27,thinking-display-updates-2026-08-18/);
  expect(plain?.body).not.toHaveProperty("thinking");
  expect(plain?.headers["anthropic-beta"]).toBe("context-management-2025-06-27");
});

test("a setting that the model refuses is an error when the provider is made", () => {
  expect(() => new AnthropicProvider({ apiKey, model: "claude-opus-5-5", reasoning: "none" })).toThrow(/always thinks/);
  expect(() => new OpenAIProvider({ apiKey, model: "gpt-6.1-sol", reasoning: "none" })).toThrow(/always thinks/);
  expect(() => new AnthropicProvider({ apiKey, cacheTtl: "2h" as "1h" })).toThrow(/cacheTtl is "5m" or "1h"/);
  expect(() => new AnthropicProvider({ apiKey, fullApi: 1 as never })).toThrow(/fullApi must be true or false/);
});

test("a ready client is used as it is, without its own retries", async () => {
  const clients: [WireFormat, OpenAIProvider | AnthropicProvider][] = [
    ["responses", new OpenAIProvider({ client: new OpenAI({ apiKey, baseURL: `${server.url}/v1` }) })],
    ["messages", new AnthropicProvider({ client: new Anthropic({ apiKey, baseURL: server.url }) })],
  ];
  for (const [format, provider] of clients) {
    server.reset();
    server.script(jsonOf({ error: { message: `no ${apiKey}` } }, { status: 500 }));
    const error: unknown = await collect(provider.send(request())).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "server" });
    expect(String(error)).not.toContain(apiKey);
    expect(server.requests.map((received) => received.format)).toEqual([format]);
  }
});

test("a missing key or model is an error that says what to set", () => {
  for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"]) vi.stubEnv(name, " ");
  const failing: (readonly [() => unknown, string, RegExp])[] = [
    [() => new OpenAIProvider(), "missing_key", /OPENAI_API_KEY/],
    [() => new AnthropicProvider(), "missing_key", /ANTHROPIC_API_KEY/],
    [() => new OpenRouterProvider(), "missing_key", /OPENROUTER_API_KEY/],
    [() => new OpenAICompatibleProvider({ model: "" }), "invalid_option", /option model/],
    ...[undefined, {}].map(
      (none) =>
        [() => new OpenAICompatibleProvider(none as never), "invalid_option", /needs the option model/] as const,
    ),
  ];
  for (const [create, code, message] of failing) {
    expect(create).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  }
});

test("keys and addresses come from the environment", async () => {
  vi.stubEnv("OPENAI_API_KEY", apiKey);
  vi.stubEnv("OPENAI_ADMIN_KEY", "sk-openai-admin");
  vi.stubEnv("OPENAI_BASE_URL", `${server.url}/v1`);
  vi.stubEnv("ANTHROPIC_API_KEY", apiKey);
  vi.stubEnv("ANTHROPIC_BASE_URL", server.url);
  server.script(answerWith({ text: "Yes." }), answerWith({ text: "Yes." }));
  for (const provider of [new OpenAIProvider(), new AnthropicProvider()]) await collect(provider.send(request()));
  expect(server.requests.map(({ format }) => format)).toEqual(["responses", "messages"]);
  for (const { headers } of server.requests) expect(headers.authorization).toBe(`Bearer ${apiKey}`);
});

test("nothing that the environment holds for OpenAI goes to another service, and no key means no header", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-openai-secret");
  vi.stubEnv("OPENAI_ADMIN_KEY", "sk-openai-admin");
  vi.stubEnv("OPENAI_ORG_ID", "org-secret");
  vi.stubEnv("OPENAI_PROJECT_ID", "project-secret");
  vi.stubEnv("OPENAI_CUSTOM_HEADERS", "x-gateway: secret\nAuthorization: Bearer secret");
  const baseURL = `${server.url}/v1`;
  server.script(answerWith({ text: "Yes." }), answerWith({ text: "Yes." }));
  await collect(new OpenAICompatibleProvider({ baseURL, model: "m" }).send(request()));
  await collect(new OpenRouterProvider({ baseURL, apiKey }).send(request()));
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, `Bearer ${apiKey}`]);
  expect(JSON.stringify(server.requests.map(({ headers }) => headers))).not.toMatch(/secret|admin/);
});

test("a broken chunk is an error that is not printed, and a server's own words are told", async () => {
  const print = vi.spyOn(console, "error").mockReturnValue(undefined);
  const provider = wireProvider("chat", server.url);
  server.script(streamOf(["data: {broken\n\n"]), jsonOf({ detail: "no such field" }, { status: 400 }));
  await expect(collect(provider.send(request()))).rejects.toThrow(/broken chunk/);
  await expect(collect(provider.send(request()))).rejects.toThrow(/no such field/);
  expect(print).not.toHaveBeenCalled();
});

test("a model server without an address is that of OLLAMA_HOST", async () => {
  vi.stubEnv("OLLAMA_HOST", "box:1234");
  const asked = vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("fetch failed"));
  const sent = collect(new OpenAICompatibleProvider({ model: "m" }).send(request()));
  await expect(sent).rejects.toMatchObject({ code: "network" });
  expect(String(asked.mock.calls[0]?.[0])).toBe("http://box:1234/v1/chat/completions");
});

test("TOOLCRIB_DEBUG=1 prints each request to standard error without its key", async () => {
  vi.stubEnv("TOOLCRIB_DEBUG", "1");
  const print = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  server.script(answerWith({ text: "Yes." }));
  await collect(new OpenRouterProvider({ apiKey, baseURL: `${server.url}/v1` }).send(request(`My key is ${apiKey}`)));
  const line = String(print.mock.calls[0]?.[0]);
  expect(line).toMatch(/^\[toolcrib\] openrouter request \{.*\[redacted\].*\}\n$/);
  expect(line).not.toContain(apiKey);
});

test("no provider loads an SDK when it is imported", () => {
  const folder = new URL(".", import.meta.url);
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test(-d)?)\.ts$/.test(file),
  );
  expect(sources.length).toBeGreaterThan(10);
  for (const file of sources) {
    const text = readFileSync(new URL(file, folder), "utf8");
    expect(text).not.toMatch(/^import (?!type)[^;]*"(?:openai|@anthropic-ai\/sdk)/m);
  }
});
