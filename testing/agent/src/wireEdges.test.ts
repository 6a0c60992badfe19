import { join } from "node:path";
import { Agent, type AgentOptions } from "@toolcrib/agent";
import { AnthropicProvider } from "@toolcrib/agent/anthropic";
import { OpenAIProvider } from "@toolcrib/agent/openai";
import { OpenRouterProvider } from "@toolcrib/agent/openrouter";
import { createToolSearch, ToolRegistry, toolOutput } from "@toolcrib/core";
import { withoutSharp } from "@toolcrib/testing/pictures";
import { routeServices } from "@toolcrib/testing/routeServices";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { inForce } from "@toolcrib/testing/wire/inForce";
import { answerWith, jsonOf, type WireReply } from "@toolcrib/testing/wireReplies";
import { beforeEach, describe, expect, test } from "vitest";
import { everydayServices } from "./wireServices.ts";
import { call, pictureOf, say, searched, tool } from "./wireTalk.ts";

/* What a conversation may begin with or come to only rarely, and what the services then still take. */

const server = await sharedWireServer();
routeServices(server);
const apiKey = "sk-services-0123456789";

const script = (...replies: WireReply[]): void => server.script(...replies.map(answerWith));
const offered = (): readonly string[] => {
  const { format, body } = server.requests.at(-1) ?? { format: "chat" as const, body: {} };
  return inForce(format, body).tools;
};

describe.each(everydayServices)("with $title", ({ account, isAppended, isChecked, connect }) => {
  beforeEach(() => {
    Object.assign(server.account, account);
  });
  const agentOf = (tools: ToolRegistry, options: AgentOptions = {}): Agent =>
    new Agent(connect(server), { tools, systemPrompt: "Be brief.", attempts: 1, ...options });

  /** Nothing was refused. Where a change cannot be appended, thinking before it may be left out. */
  function expectTaken(): void {
    const problems = server.takeProblems();
    if (isAppended || !isChecked) expect(problems).toEqual([]);
    for (const problem of problems) expect(problem).toMatch(/thinking is lost|is left out/);
  }

  test("a conversation that begins without tools gets some, is summed up, and must call one", async () => {
    const agent = agentOf(new ToolRegistry());
    script(say("Hi."));
    await agent.chat("Go. ".repeat(3000));
    agent.addTool(tool("look"));
    script(call("look"), say("Done."));
    await agent.chat("Go.", { toolChoice: "required" });
    script(call("look"), say("In short."));
    expect(await agent.compact()).toBeDefined();
    script(call("look"), say("Done."));
    expect(await agent.chat("Go.")).toContain("Done.");
    expectTaken();
  });

  test("a conversation that begins with deferred tools alone finds them later", async () => {
    const tools = new ToolRegistry([tool("mail", { deferred: true }), tool("post", { deferred: true })]);
    tools.register(createToolSearch(tools));
    tools.disable("search_tools");
    const journal = join(temporaryFolder("edges"), "session.jsonl");
    const agent = agentOf(tools, { journal });
    script(say("Hi."));
    await agent.chat("Go.");
    tools.enable("search_tools");
    script(searched, call("mail"), say("Done."));
    await agent.chat("Mail it.");
    expect(offered()).toEqual(["mail", "search_tools"]);
    const resumed = await Agent.resume(connect(server), journal, { tools, attempts: 1 });
    script(call("mail"), say("Done."));
    await resumed.chat("Mail it.");
    tools.disable("search_tools");
    script(call("mail"), say("Done."));
    await resumed.chat("Mail it.");
    expect(offered()).toEqual(["mail"]);
    expectTaken();
  });

  test("a deferred tool that has another schema before it is found", async () => {
    const tools = new ToolRegistry([tool("look"), tool("mail", { deferred: true }), tool("post", { deferred: true })]);
    tools.register(createToolSearch(tools));
    const agent = agentOf(tools);
    script(call("look"), say("Hi."));
    await agent.chat("Go.");
    for (const description of ["Does mail otherwise.", "Does mail best."]) {
      tools.unregister("mail");
      tools.register(tool("mail", { deferred: true, description }));
      script(call("look"), say("Hi."));
      await agent.chat("Go.");
    }
    script(searched, call("mail"), say("Done."));
    await agent.chat("Mail it.");
    expect(server.requests.at(-1)?.text).toContain("Does mail best.");
    expect(offered()).toEqual(["look", "mail", "search_tools"]);
    script(call("mail"), say("Done."));
    await agent.chat("Mail it.");
    expectTaken();
  });

  test("one that is shortened after other words, and with a tool that was found", async () => {
    const long = () => "line\n".repeat(3000);
    const tools = new ToolRegistry([tool("look", { execute: long }), tool("mail", { deferred: true, execute: long })]);
    tools.register(createToolSearch(tools));
    const agent = agentOf(tools);
    const tooLong = jsonOf({ type: "error", error: { message: "maximum context length is 40000" } }, { status: 400 });
    for (const words of ["Be brief.", "Be clear.", "Be kind."]) {
      agent.setSystemPrompt(words);
      script(call("look"), searched, call("mail"));
      server.script(tooLong);
      script(call("mail", "look"), say("Done."));
      expect(await agent.chat("Mail it.")).toContain("Done.");
      expect(server.requests.at(-1)?.text).toContain("shortened to fit");
      expect(offered()).toEqual(["look", "mail", "search_tools"]);
    }
    for (const problem of server.takeProblems()) expect(problem).toMatch(/thinking is lost|is left out/);
  });

  test("more strict tools than a request may have, some of them added later", async () => {
    const parameters = {
      type: "object",
      properties: { path: { type: ["string", "null"] } },
      required: ["path"],
      additionalProperties: false,
    } as const;
    const strict = (name: string, more: object = {}) => tool(name, { strict: true, ...more });
    const plain = { parameters: { ...parameters, properties: { path: { type: "string" } } } };
    const tools = new ToolRegistry([...Array(18).keys()].map((at) => strict(`union${at}`, { parameters })));
    const agent = agentOf(tools);
    script(call("union1"), say("Hi."));
    await agent.chat("Go.");
    for (let at = 0; at < 6; at += 1) {
      tools.register(strict(`late${at}`, plain));
      script(call("union1"), say("Hi."));
      await agent.chat("Go.");
    }
    expectTaken();
  });
});

describe("Anthropic's prompt cache", () => {
  beforeEach(() => {
    server.account.countsTokens = true;
  });
  const agentOf = (): Agent =>
    new Agent(new AnthropicProvider({ apiKey }), {
      tools: new ToolRegistry([tool("look", { readOnly: true })]),
      systemPrompt: "Be brief. ".repeat(400),
      attempts: 1,
    });
  const read = (at: number): number => server.requests.at(at)?.tokens?.read ?? 0;
  const whole = (at: number): number => {
    const { plain = 0, read: from = 0, write = 0 } = server.requests.at(at)?.tokens ?? {};
    return plain + from + write;
  };

  test("is read also where one step adds more blocks than it looks back", async () => {
    const agent = agentOf();
    script(call(...Array(30).fill("look")), call(...Array(11).fill("look")), say("Done."));
    await agent.chat("Go. ".repeat(3000));
    expect(read(1)).toBe(whole(0));
    expect(read(2)).toBe(whole(1));
    script(say("Done."));
    await agent.chat([...Array(25).keys()].map((at) => ({ type: "text", text: `Part ${at}.` })));
    expect(read(3)).toBe(whole(2));
  });

  test("is read for a summary", async () => {
    const agent = agentOf();
    script(say("Hi."), call("look"), say("Done."));
    await agent.chat("Go. ".repeat(3000));
    await agent.chat("Look.");
    script(say("In short."));
    expect(await agent.compact()).toBeDefined();
    expect(read(3)).toBe(whole(2));
  });
});

test("OpenRouter is asked to cache what goes to Anthropic's models, and nothing else", async () => {
  const cached: unknown[] = [];
  for (const model of ["anthropic/claude-sonnet-5.5", "openai/gpt-6.1-terra"]) {
    script(say("Hi."));
    await new Agent(new OpenRouterProvider({ apiKey, model }), { attempts: 1 }).chat("Go.");
    cached.push(server.requests.at(-1)?.body.cache_control);
  }
  expect(cached).toEqual([{ type: "ephemeral" }, undefined]);
});

test.each([
  [
    "top_k of 1 at Anthropic",
    () => new AnthropicProvider({ apiKey, extraBody: { top_k: 1 } }),
    /does not accept top_k/,
  ],
  ["temperature at OpenAI", () => new OpenAIProvider({ apiKey, extraBody: { temperature: 1 } }), /accept temperature/],
  ["top_logprobs", () => new OpenAIProvider({ apiKey, extraBody: { top_logprobs: 1 } }), /not accept top_logprobs/],
])("%s is refused in words before a request", (_what, make, words) => expect(make).toThrow(words));

test("Anthropic's default temperature is sent", async () => {
  script(say("Hi."));
  await new Agent(new AnthropicProvider({ apiKey, extraBody: { temperature: 1 } }), { attempts: 1 }).chat("Go.");
});

test("large pictures that another model was given are left out, the same ones in each request, and only where they are too many", async () => {
  withoutSharp();
  const journal = join(temporaryFolder("pictures"), "session.jsonl");
  const draw = tool("draw", { execute: () => toolOutput("drawn", { content: [pictureOf(3000)] }) });
  const options = { tools: new ToolRegistry([draw]), attempts: 1 };
  const first = new Agent(new OpenAIProvider({ apiKey }), { ...options, journal });
  script(call(...Array(12).fill("draw")), say("Done."));
  await first.chat([{ type: "text", text: "These." }, ...Array(12).fill(pictureOf(3000)), pictureOf(1000)]);
  const second = await Agent.resume(new AnthropicProvider({ apiKey }), journal, options);
  const sent: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    script(call("draw"), say("Done."));
    expect(await second.chat("Draw.")).toContain("Done.");
    sent.push(server.requests.at(-1)?.text.split('"type":"image"').length ?? 0);
  }
  expect(sent).toEqual([21, 21, 21]);
});
