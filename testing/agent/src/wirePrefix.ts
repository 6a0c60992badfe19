import { join } from "node:path";
import { Agent, type AgentOptions } from "@toolcrib/agent";
import { createToolSearch, defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { inForce } from "@toolcrib/testing/wire/inForce";
import { answerWith, type WireReply } from "@toolcrib/testing/wireReplies";
import type { WireRequest, WireServer } from "@toolcrib/testing/wireServer";
import { expect } from "vitest";
import { type WireService, wireServices } from "./wireServices.ts";

/** Fewer tokens are not cached. */
const leastCached = 1024;
const words = "Read this carefully. ".repeat(30);

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: `Does ${name}. ${words}`,
    parameters: { type: "object", properties: { path: { type: "string" } }, additionalProperties: false },
    execute: () => `${name} done`,
    ...more,
  });

function firstTools(): ToolRegistry {
  const tools = new ToolRegistry([tool("look"), tool("count"), tool("write"), tool("mail", { deferred: true })]);
  tools.register(createToolSearch(tools));
  return tools.guard(({ name }) => (name === "write" ? { ask: "Write?" } : true));
}

const call = (name: string, args = '{"path": "a"}'): WireReply => ({ text: "Looking.", calls: [{ name, args }] });
const done: WireReply = { text: "Done." };
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
  await talk.agent.chat("Go.");
}

/** Each is a turn, or what changes before one. */
const actions: Readonly<Record<string, (talk: Talk) => unknown>> = {
  talk: () => {},
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
  },
  search: async ({ server, agent }) => {
    script({ server }, call("search_tools", '{"query": "mail"}'), call("mail"), done);
    await agent.chat("Mail it.");
  },
  ask: async (talk) => {
    if (!talk.tools.hasTool("write")) return;
    script(talk, call("write"));
    await talk.agent.chat("Write it.").catch(() => undefined);
    await resume(talk);
    script(talk, done);
    await talk.agent.approve(Object.fromEntries(talk.agent.pending.map(({ callId }) => [callId, true])));
  },
};

/** All of a request up to the end of its history, without the bracket that closes it. */
function prefixOf({ text, body }: WireRequest): string {
  const history = JSON.stringify(body.input ?? body.messages);
  return text.slice(0, text.indexOf(history) + history.length - 1);
}

/** The services for which a change is appended. */
export const appendedServices: readonly WireService[] = wireServices.filter(({ isAppended }) => isAppended);

/** The names of what may happen. */
export const actionNames: readonly string[] = Object.keys(actions);

/** Whatever happens, each request begins with the bytes of the one before, and all of that is read from the cache. */
export async function checkPrefix(server: WireServer, service: WireService, names: readonly string[]): Promise<void> {
  server.reset();
  Object.assign(server.account, service.account, { countsTokens: true });
  const tools = firstTools();
  const journal = join(temporaryFolder("prefix"), "session.jsonl");
  const options = { tools, systemPrompt: `Be brief. ${words}`, attempts: 1, journal };
  const talk: Talk = { server, service, journal, tools, agent: new Agent(service.connect(server), options), count: 0 };
  await turn(talk);
  for (const name of names) {
    talk.count += 1;
    await actions[name]?.(talk);
    await turn(talk);
    const { format, body } = server.requests.at(-1) as WireRequest;
    const offered = talk.agent.getTools().map((schema) => schema.function.name);
    const found = server.requests.some(({ text }) => text.includes("mail done"));
    expect(inForce(format, body).tools).toEqual(offered.filter((tool) => tool !== "mail" || found).sort());
  }
  expect(server.takeProblems()).toEqual([]);
  for (const [index, request] of server.requests.entries()) {
    const before = server.requests[index - 1];
    if (!before) continue;
    expect(prefixOf(request).startsWith(prefixOf(before)), `request ${index + 1}`).toBe(true);
    const { plain = 0, read = 0, write = 0 } = before.tokens ?? {};
    const total = plain + read + write;
    if (total >= leastCached) expect(request.tokens?.read, `request ${index + 1}`).toBeGreaterThanOrEqual(total - 1);
  }
  const cost = server.requests.reduce((sum, { tokens }) => sum + (tokens?.cost ?? 0), 0);
  expect(cost).toBeGreaterThan(0);
  // As the service charges it.
  expect(talk.agent.usage.cost).toBeCloseTo(cost, 9);
}
