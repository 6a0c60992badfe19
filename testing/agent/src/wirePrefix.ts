import { join } from "node:path";
import { Agent, type AgentOptions } from "@toolcrib/agent";
import { assertConversation } from "@toolcrib/agent/testing";
import { createToolSearch, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { inForce } from "@toolcrib/testing/wire/inForce";
import { answerWith, type WireReply } from "@toolcrib/testing/wireReplies";
import type { WireRequest, WireServer } from "@toolcrib/testing/wireServer";
import { expect } from "vitest";
import type { WireService } from "./wireServices.ts";
import { call, say, searched, tool as shortTool } from "./wireTalk.ts";

/** Fewer tokens are not cached. */
const leastCached = 1024;
const words = "Read this carefully. ".repeat(30);

const tool = (
  name: string,
  { description = `Does ${name}.`, ...more }: { description?: string; [option: string]: unknown } = {},
) => shortTool(name, { description: `${description} ${words}`, ...more });

const deferred = ["mail", "post"];

function firstTools(): ToolRegistry {
  const tools = new ToolRegistry([tool("look"), tool("count"), tool("write")]);
  for (const name of deferred) tools.register(tool(name, { deferred: true }));
  tools.register(createToolSearch(tools));
  tools.register(tool("stop", { execute: () => `${tools.disable("count")}` }));
  return tools.guard(({ name }) => (name === "write" ? { ask: "Write?" } : true));
}

const done = say("Done.");
const script = ({ server }: Pick<Talk, "server">, ...replies: WireReply[]): void =>
  server.script(...replies.map(answerWith));

/** A conversation that grows, with what may change in it. */
interface Talk {
  readonly server: WireServer;
  readonly service: WireService;
  readonly journal: string;
  tools: ToolRegistry;
  agent: Agent;
  count: number;
}

async function resume(talk: Talk, options: AgentOptions = {}): Promise<void> {
  const { server, service, journal, tools } = talk;
  talk.agent = await Agent.resume(service.connect(server), journal, { tools, attempts: 1, ...options });
}

async function turn(talk: Talk): Promise<void> {
  script(talk, call("look"), done);
  expect(await talk.agent.chat("Go.")).toContain("Done.");
}

/** Each is a turn, or what changes before one. */
const actions: Readonly<Record<string, (talk: Talk) => unknown>> = {
  talk: () => {},
  choose: async ({ server, agent }) => {
    script({ server }, call("look"), done);
    const at = server.requests.length;
    await agent.chat("Go.", { toolChoice: "auto" });
    expect(server.requests[at]?.body.tool_choice).toBeDefined();
  },
  toggle: ({ tools }) => tools.enable("count") || tools.disable("count"),
  prompt: ({ agent, count }) => agent.setSystemPrompt(`Be brief. This is turn ${count}.`),
  // OpenAI's pages do not say how to tell of another schema of a known tool.
  add: ({ service, tools, count }) =>
    void (
      tools.hasTool("late") ||
      tools.register(tool("late", { description: `Late ${service.isChecked ? count % 3 : ""}.` }))
    ),
  remove: ({ tools }) => void (tools.hasTool("late") && tools.unregister("late")),
  resume: (talk) => resume(talk),
  otherWords: (talk) => resume(talk, { systemPrompt: `Be polite. This is turn ${talk.count}.` }),
  otherTools: async (talk) => {
    talk.tools = firstTools();
    talk.tools.unregister("write");
    await resume(talk);
  },
  steer: ({ agent }) => agent.steer("And be quick."),
  toolsOfTurn: async ({ server, agent }) => {
    script({ server }, call("other"), done);
    await agent.chat("Go.", { tools: new ToolRegistry([tool("look"), tool("other")]) });
    expect(lastOf(server).tools).toEqual(["look", "other"]);
  },
  search: async ({ server, agent }) => {
    script({ server }, searched, call("mail"), done);
    await agent.chat("Mail it.");
    expect(lastOf(server).tools).toContain("mail");
  },
  disableInTurn: async ({ server, agent }) => {
    script({ server }, call("stop"), call("look"), done);
    await agent.chat("Go.");
    expect(lastOf(server).tools).not.toContain("count");
  },
  steerInTurn: async ({ server, agent }) => {
    script({ server }, call("look"), done);
    for await (const { type } of agent.streamChat("Go.")) if (type === "tool-call") agent.steer("Only the first.");
    expect(server.requests.at(-1)?.text).toContain("Only the first.");
  },
  askInPlace: async ({ server, agent, tools }) => {
    for (const answer of tools.hasTool("write") ? ([true, "not now"] as const) : []) {
      script({ server }, call("write", "look"), done);
      await agent.chat("Write it.", { approve: async () => answer });
    }
  },
  // The next message leaves it without an answer.
  ask: async (talk) => {
    if (!talk.tools.hasTool("write")) return;
    script(talk, call("look", "write", "count"));
    await expect(talk.agent.chat("Write it.")).rejects.toMatchObject({ reason: "approval" });
  },
  askElsewhere: async (talk) => {
    await actions.ask?.(talk);
    if (talk.agent.pending.length === 0) return;
    await resume(talk);
    script(talk, done);
    const answers = Object.fromEntries(talk.agent.pending.map(({ callId }) => [callId, true]));
    expect(await talk.agent.approve(answers)).toContain("Done.");
  },
};

/** Those after which the request begins as before, at any service. */
export const unchanging: readonly string[] = "talk resume steer steerInTurn askInPlace ask askElsewhere".split(" ");

function lastOf(server: WireServer) {
  const { format, body } = server.requests.at(-1) as WireRequest;
  return inForce(format, body);
}

/** All of a request up to the end of its history, without the bracket that closes it. */
function prefixOf({ text, body }: WireRequest): string {
  const history = JSON.stringify(body.input ?? body.messages);
  return text.slice(0, text.indexOf(history) + history.length - 1);
}

/** The names of what may happen without a loss of cache. */
export const actionNames: readonly string[] = Object.keys(actions).filter((name) => name !== "choose");

/**
 * Checks that the service always has the tools and the words of the moment. Where a change can be appended, or nothing changes, each request
 * begins with the bytes of the one before, which are read from a cache; elsewhere thinking before a change may be lost, and nothing else.
 */
export async function checkTalk(server: WireServer, service: WireService, names: readonly string[]): Promise<void> {
  const { isAppended, isChecked } = service;
  server.reset();
  Object.assign(server.account, service.account, { countsTokens: isAppended });
  const tools = firstTools();
  const journal = join(temporaryFolder("prefix"), "session.jsonl");
  const options = { tools, systemPrompt: `Be brief. ${words}`, attempts: 1, journal };
  const talk: Talk = { server, service, journal, tools, agent: new Agent(service.connect(server), options), count: 0 };
  await turn(talk);
  for (const name of names) {
    talk.count += 1;
    await actions[name]?.(talk);
    await turn(talk);
    assertConversation(talk.agent.sessionContext);
    const offered = talk.agent.getTools().map((schema) => schema.function.name);
    const found = server.requests.some(({ text }) => text.includes("mail done"));
    const expected = offered.filter((tool) => !deferred.includes(tool) || (tool === "mail" && found));
    const { tools: sent, instructions } = lastOf(server);
    expect(sent, name).toEqual(expected.sort());
    // A message that tells of tools alone has no words.
    const told = instructions.findLast((text) => text !== "");
    expect(told, name).toContain(talk.agent.systemPrompt);
  }
  const isSame = names.every((name) => unchanging.includes(name));
  const problems = server.takeProblems();
  if (isAppended || !isChecked || isSame) expect(problems).toEqual([]);
  for (const problem of problems) expect(problem).toMatch(/different conversation|thinking is lost|is left out/);
  // The service says it once; then the client knows.
  expect(problems.filter((problem) => problem.includes("different conversation")).length).toBeLessThan(2);
  if (isAppended || isSame) checkPrefix(server);
  if (isAppended && !names.includes("choose")) checkCache(talk);
}

/** Each request begins with the bytes of the one before. */
function checkPrefix({ requests }: WireServer): void {
  for (const [index, request] of requests.slice(1).entries())
    expect(prefixOf(request).startsWith(prefixOf(requests[index] as WireRequest)), `request ${index + 2}`).toBe(true);
}

function checkCache({ server: { requests }, agent }: Talk): void {
  for (const [index, request] of requests.slice(1).entries()) {
    const { plain = 0, read = 0, write = 0 } = requests[index]?.tokens ?? {};
    const total = plain + read + write;
    if (total >= leastCached) expect(request.tokens?.read, `request ${index + 2}`).toBeGreaterThanOrEqual(total - 1);
  }
  const cost = requests.reduce((sum, { tokens }) => sum + (tokens?.cost ?? 0), 0);
  expect(cost).toBeGreaterThan(0);
  // As the service charges it.
  expect(agent.usage.cost).toBeCloseTo(cost, 9);
}
