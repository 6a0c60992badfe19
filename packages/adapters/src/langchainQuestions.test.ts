import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Command, type Interrupt, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { createAgent, type HITLRequest } from "langchain";
import { beforeEach, describe, expect, test } from "vitest";
import { registryMiddleware, toLangChainTools } from "./langchain.ts";

/** Everything that ran, over all processes. */
let ran: string[] = [];
let saver = new MemorySaver();
beforeEach(() => {
  ran = [];
  saver = new MemorySaver();
});

const asks: Guard = ({ name, args }) => name === "look" || { ask: `Pay ${String(args.to)}?` };
const asksOther: Guard = ({ name, args }) => name === "look" || { ask: `Pay ${String(args.to)} twice?` };

/** The registry of a process that has just started. */
function start(guard: Guard, names = ["pay", "look"]): ToolRegistry {
  const parameters = { type: "object", properties: { to: { type: "string" } } } as const;
  const tools = names.map((name) =>
    defineTool({
      name,
      description: "Pays or looks.",
      parameters,
      execute: ({ to }) => {
        ran.push(`${name} ${to}`);
        return `${name} ${to}: done`;
      },
    }),
  );
  return new ToolRegistry(tools).guard(guard);
}

const ways = ["the middleware", "the middleware, version v1", "a task for each call", "one ToolNode"] as const;
type Way = (typeof ways)[number];
type Call = readonly [name: string, to: string];
const calls: readonly Call[] = [
  ["pay", "Bob"],
  ["look", "Eve"],
  ["pay", "Ann"],
];

function scripted(made: readonly Call[]) {
  const tool_calls = made.map(([name, to], at) => ({ name, args: { to }, id: `call${at}` }));
  const first = (messages: BaseMessage[]): AIMessage =>
    messages.length > 1 ? new AIMessage("end") : new AIMessage({ content: "", tool_calls });
  return fakeModel().respond(first).respond(new AIMessage("end"));
}

/** Builds the graph anew over the same store, as another process does. */
function build(way: Way, guard: Guard, made: readonly Call[]) {
  const model = scripted(made);
  const registry = start(guard);
  if (way === "the middleware" || way === "the middleware, version v1") {
    const version = way === "the middleware" ? "v2" : "v1";
    const middleware = [registryMiddleware(registry, { interrupt })];
    return createAgent({ model, version, middleware, checkpointer: saver });
  }
  const tools = toLangChainTools(registry, { interrupt });
  if (way === "a task for each call") return createAgent({ model, tools, checkpointer: saver });
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", new ToolNode(tools))
    .addEdge("__start__", "model")
    .addConditionalEdges("model", ({ messages }) => (messages.length > 2 ? "__end__" : "tools"))
    .addEdge("tools", "model")
    .compile({ checkpointer: saver });
}

interface Reply {
  messages: BaseMessage[];
  __interrupt__?: Interrupt<HITLRequest>[];
}

const thread = { configurable: { thread_id: "1" } };
const approve = { type: "approve" };
const reject = { type: "reject", message: "not now" };

/** Starts the run, or gives a value to what it asks. */
async function go(way: Way, resume?: unknown, { guard = asks, made = calls } = {}) {
  const input = resume === undefined ? { messages: [new HumanMessage("go")] } : new Command({ resume });
  const { messages, __interrupt__: pending = [] }: Reply = await build(way, guard, made).invoke(input as never, thread);
  const asked = pending.flatMap(({ value }) => value?.actionRequests.map(({ description }) => description) ?? []);
  const told = messages.flatMap((message) => (message.type === "tool" ? [message.text] : []));
  return { asked, told, ids: pending.map(({ id }) => id ?? ""), isDone: messages.at(-1)?.text === "end" };
}

const both = ["Pay Bob?", "Pay Ann?"];
const paid = (): string[] => ran.filter((line) => line.startsWith("pay"));
const looked = (): string[] => ran.filter((line) => line.startsWith("look"));
const refused = "Error executing pay: Permission denied: not now";

describe.each(ways)("%s", (way) => {
  const isOne = way !== "a task for each call";

  test("asks about every call of a reply, and runs nothing that waits", async () => {
    const { asked, ids } = await go(way);
    expect([asked, ids.length, paid()]).toEqual([both, isOne ? 1 : 2, []]);
  });

  test.each([
    ["approve", [approve], ["pay Bob"], "pay Bob: done"],
    ["reject", [reject], [], refused],
    ["reject without a reason", [{ type: "reject" }], [], "Error executing pay: Permission denied"],
  ])("a single question takes a single decision: %s", async (_name, decisions, expected, result) => {
    const made = calls.slice(0, 1);
    await go(way, undefined, { made });
    const { told, isDone } = await go(way, { decisions }, { made });
    expect([ran, isDone, told.join()]).toEqual([expected, true, expect.stringContaining(result)]);
  });

  test("a decision with a call's id answers that call, in any order", async () => {
    await go(way);
    const decisions = [
      { ...reject, id: "call2" },
      { ...approve, id: "call0" },
    ];
    const { told, isDone } = await go(way, { decisions });
    expect([paid(), isDone, told]).toEqual([["pay Bob"], true, ["pay Bob: done", "look Eve: done", refused]]);
    expect(looked()).toHaveLength(1);
  });

  test.each([
    ["too few", { decisions: [approve] }],
    ["too many", { decisions: [approve, approve, approve] }],
    ["of another kind", { decisions: [{ type: "edit", editedAction: { name: "pay", args: {} } }, { type: "edit" }] }],
    ["of the wrong id", { decisions: [approve, approve].map((each) => ({ ...each, id: "call1" })) }],
    ["two for one call", { decisions: ["call0", "call0", "call2", "call2"].map((id) => ({ ...approve, id })) }],
    ["a text", "yes"],
    ["no list", { decisions: approve }],
    ["a list of nothing", { decisions: [null, null] }],
  ])("nothing runs and the same questions are asked again: %s", async (_name, resume) => {
    await go(way);
    expect((await go(way, resume)).asked).toEqual(both);
    expect((await go(way, resume)).asked).toEqual(both);
    expect([paid(), looked().length <= 1]).toEqual([[], true]);
    const decisions = ["call0", "call2"].map((id) => ({ ...approve, id }));
    expect((await go(way, { decisions })).isDone).toBe(true);
    expect([paid(), looked()]).toEqual([["pay Bob", "pay Ann"], ["look Eve"]]);
  });

  test("an answer to another question counts for nothing: the new one is asked", async () => {
    await go(way);
    const decisions = ["call0", "call2"].map((id) => ({ ...approve, id }));
    const { asked } = await go(way, { decisions }, { guard: asksOther });
    expect([asked, paid()]).toEqual([["Pay Bob twice?", "Pay Ann twice?"], []]);
    await go(way, { decisions: decisions.map((each) => ({ ...reject, id: each.id })) }, { guard: asksOther });
    expect(paid()).toEqual([]);
  });

  test("asks nothing about a call whose arguments are none", async () => {
    const made = [["pay", 5 as unknown as string]] as const;
    const { asked, told, isDone } = await go(way, undefined, { made });
    expect([asked, isDone, told[0]]).toEqual([[], true, expect.stringContaining("Invalid arguments: ")]);
  });
});

test.each(["the middleware", "one ToolNode"] as const)(
  "%s takes the decisions in the order of the questions",
  async (way) => {
    await go(way);
    const { told } = await go(way, { decisions: [approve, reject] });
    expect([paid(), looked(), told[2]]).toEqual([["pay Bob"], ["look Eve"], refused]);
  },
);

test("two registries of an agent ask one after the other, and an answer counts for one", async () => {
  const agent = () => {
    const registries = ["pay", "give"].map((name) => start(asks, [name]));
    const tool_calls = ["pay", "give"].map((name, at) => ({ name, args: { to: name }, id: `call${at}` }));
    const first = (messages: BaseMessage[]): AIMessage =>
      messages.length > 1 ? new AIMessage("end") : new AIMessage({ content: "", tool_calls });
    const middleware = registries.map((registry) => registryMiddleware(registry, { interrupt }));
    return createAgent({ model: fakeModel().respond(first), middleware, checkpointer: saver });
  };
  const give = async (input: unknown) =>
    ((await agent().invoke(input as never, thread)) as Reply).__interrupt__?.length;
  expect(await give({ messages: "go" })).toBe(1);
  expect([await give(new Command({ resume: { decisions: [approve] } })), ran]).toEqual([1, []]);
  expect(await give(new Command({ resume: { decisions: [reject] } }))).toBeUndefined();
  expect(ran).toEqual(["give give"]);
});

test("asks about a call whose id an earlier reply had, too", async () => {
  const model = fakeModel();
  for (const name of ["look", "pay"])
    model.respond(new AIMessage({ content: "", tool_calls: [{ name, args: { to: "Bob" }, id: "call0" }] }));
  const middleware = [registryMiddleware(start(asks), { interrupt })];
  const agent = createAgent({ model, middleware, checkpointer: saver });
  const { __interrupt__ = [] } = await agent.invoke({ messages: "go" }, thread);
  expect([__interrupt__.length, paid()]).toEqual([1, []]);
});

describe("several interrupts", () => {
  const way = "a task for each call";

  test("one value for all of them counts for none", async () => {
    await go(way);
    for (const decisions of [[approve], [reject], [approve, reject]])
      expect((await go(way, { decisions })).asked).toEqual(both);
    expect(paid()).toEqual([]);
  });

  test("each is answered by its own id, also after a value for all; what is left alone takes a plain decision", async () => {
    await go(way);
    const { ids } = await go(way, { decisions: [approve] });
    const { asked } = await go(way, { [ids[1] ?? ""]: { decisions: [reject] } });
    expect([asked, paid()]).toEqual([["Pay Bob?"], []]);
    const { told } = await go(way, { decisions: [approve] });
    expect([paid(), looked(), told]).toEqual([["pay Bob"], ["look Eve"], ["pay Bob: done", "look Eve: done", refused]]);
  });

  test("agents that run side by side are not answered by one value", async () => {
    const agentOf = (to: string) =>
      createAgent({
        model: scripted([["pay", to]]),
        middleware: [registryMiddleware(start(asks), { interrupt })],
      }).graph;
    const graph = () =>
      new StateGraph(MessagesAnnotation)
        .addNode("one", agentOf("Bob"))
        .addNode("two", agentOf("Ann"))
        .addEdge("__start__", "one")
        .addEdge("__start__", "two")
        .compile({ checkpointer: saver });
    const give = async (input: unknown): Promise<Interrupt[]> => {
      const { __interrupt__ = [] }: Partial<Reply> = await graph().invoke(input as never, thread);
      return __interrupt__;
    };
    expect(await give({ messages: [new HumanMessage("go")] })).toHaveLength(2);
    const again = await give(new Command({ resume: { decisions: [approve] } }));
    expect([again.length, ran]).toEqual([2, []]);
    const [one = "", two = ""] = again.map(({ id }) => id);
    await give(new Command({ resume: { [one]: { decisions: [approve] }, [two]: { decisions: [reject] } } }));
    expect(ran).toHaveLength(1);
  });
});
