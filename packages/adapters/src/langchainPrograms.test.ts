import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Command, type Interrupt, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { createProgramTools } from "@toolcrib/tools-program";
import { createAgent, type HITLRequest } from "langchain";
import { beforeEach, describe, expect, test } from "vitest";
import { registryMiddleware, toLangChainTools } from "./langchain.ts";

/** Everything that ran, over all processes. */
let ran: string[] = [];
let saver = new MemorySaver();
/** The lines of programs as a database has them: JSON text, by the id of the call. */
let kept: Map<string, string[]>;
beforeEach(() => {
  ran = [];
  saver = new MemorySaver();
  kept = new Map();
});

const root = "/work";
const asksForPays: Guard = ({ name, args }) =>
  name !== "pay" || { ask: { text: `Pay ${String(args.to)}?`, data: { upTo: root } } };
const asksForAll: Guard = (call) => (call.name === "run_program" ? { ask: "Run it?" } : asksForPays(call));

/** The registry of a process that has just started. */
function registryOf(guard: Guard): ToolRegistry {
  const parameters = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
  const tools = ["pay", "look"].map((name) =>
    defineTool({
      ...{ name, description: "Pays or looks.", parameters, readOnly: name === "look" },
      effects: ({ to }) => [{ kind: name === "pay" ? "write" : "read", path: `${root}/accounts/${to}` }],
      execute: ({ to }) => {
        ran.push(`${name} ${to}`);
        return `${name} ${to}: done`;
      },
    }),
  );
  const registry = new ToolRegistry(tools);
  registry.register(...createProgramTools(registry, { tools: ["pay", "look"] }));
  return registry.guard(guard);
}

const log = (id: string) => ({
  lines: (kept.get(id) ?? []).map((line) => JSON.parse(line) as object),
  write: (lines: readonly object[]): void => {
    kept.set(id, [...(kept.get(id) ?? []), ...lines.map((line) => JSON.stringify(line))]);
  },
});

const ways = ["the middleware", "a task for each call", "one ToolNode"] as const;
type Way = (typeof ways)[number];
interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}
const program = (code: string): Call => ({ name: "run_program", args: { code } });

/** Builds the graph anew over the same store, as another process does. */
function build(way: Way, calls: readonly Call[], guard: Guard) {
  const tool_calls = calls.map((call, at) => ({ ...call, id: `call${at}` }));
  const first = (messages: BaseMessage[]): AIMessage =>
    messages.length > 1 ? new AIMessage("end") : new AIMessage({ content: "", tool_calls });
  const model = fakeModel().respond(first).respond(new AIMessage("end"));
  const registry = registryOf(guard);
  const options = { interrupt, log };
  if (way === "the middleware")
    return createAgent({ model, middleware: [registryMiddleware(registry, options)], checkpointer: saver });
  const tools = toLangChainTools(registry, options);
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

const approve = { type: "approve" };
const reject = { type: "reject", message: "not now" };

/** Starts a graph whose model makes these calls; the function that it returns starts it, and then gives it values, each time in a new process. */
function graph(way: Way, calls: readonly Call[], guard: Guard = asksForPays) {
  return async (...decisions: object[]) => {
    const input =
      decisions.length === 0 ? { messages: [new HumanMessage("go")] } : new Command({ resume: { decisions } });
    const config = { configurable: { thread_id: "1" } };
    const reply: Reply = await build(way, calls, guard).invoke(input as never, config);
    const requests = (reply.__interrupt__ ?? []).flatMap(({ value }) => value?.actionRequests ?? []);
    const told = reply.messages.flatMap((message) => (message.type === "tool" ? [message.text] : []));
    return { asked: requests.map(({ description }) => description), requests, told };
  };
}

const loop = `text(await tools.look({ to: "Eve" }));
  for (const to of ["Bob", "Ann"]) text(await tools.pay({ to }).catch((error) => error.message));
  return "end"`;
const together = `return (await Promise.allSettled(["Bob", "Ann"].map((to) => tools.pay({ to })))).map((one) => one.status).join()`;

describe.each(ways)("a program under %s", (way) => {
  test("that asks parks, and goes on by its record in another process: no call runs twice, a denial is caught", async () => {
    const go = graph(way, [program(loop)]);
    expect(await go()).toMatchObject({ asked: ["Pay Bob?"], requests: [{ id: "call0:2", name: "pay" }] });
    expect(ran).toEqual(["look Eve"]);
    expect((await go(approve)).asked).toEqual(["Pay Ann?"]);
    const { told, asked } = await go(reject);
    expect([told, asked]).toEqual([
      ["look Eve: done\npay Bob: done\nError executing pay: Permission denied: not now\nend"],
      [],
    ]);
    expect(ran).toEqual(["look Eve", "pay Bob"]);
  });

  test("asks about the calls of a Promise.all by one interrupt", async () => {
    const go = graph(way, [program(together)]);
    expect((await go()).asked).toEqual(["Pay Bob?", "Pay Ann?"]);
    // No answer to exactly these questions: nothing runs, and they are asked again.
    expect([(await go(approve)).asked, ran]).toEqual([["Pay Bob?", "Pay Ann?"], []]);
    expect((await go(reject, approve)).told).toEqual(["rejected,fulfilled"]);
    expect(ran).toEqual(["pay Ann"]);
  });

  test("takes an approval for up to n such calls", async () => {
    const go = graph(way, [program(`for (let n = 1; n <= 4; n += 1) await tools.pay({ to: "p" + n }); return "paid"`)]);
    expect((await go()).requests).toMatchObject([{ upTo: `${root}/accounts` }]);
    expect((await go({ ...approve, upTo: 0 })).asked).toEqual(["Pay p1?"]);
    expect((await go({ ...approve, upTo: 3 })).asked).toEqual(["Pay p4?"]);
    expect(ran).toEqual(["pay p1", "pay p2", "pay p3"]);
    expect((await go(approve)).told).toEqual(["paid"]);
  });

  test("comes after the question about the program itself, which is asked once", async () => {
    const go = graph(way, [program(loop)], asksForAll);
    expect([(await go()).asked, ran]).toEqual([["Run it?"], []]);
    expect((await go(approve)).asked).toEqual(["Pay Bob?"]);
    expect((await go(approve)).asked).toEqual(["Pay Ann?"]);
    expect((await go(approve)).told.join()).toContain("pay Ann: done\nend");
    expect(ran).toEqual(["look Eve", "pay Bob", "pay Ann"]);
  });
});

test("two programs of one reply park side by side where each has a task of its own", async () => {
  const go = graph("a task for each call", [program(loop), program(loop)]);
  expect((await go()).asked).toEqual(["Pay Bob?", "Pay Bob?"]);
  expect(kept.size).toBe(2);
});

test("calls that share a task with another do not park: a question rejects in the program, and nothing runs twice", async () => {
  const go = graph("one ToolNode", [program(loop), { name: "look", args: { to: "Zoe" } }]);
  const { told, asked } = await go();
  expect(asked).toEqual([]);
  expect(told[0]).toContain("Approval required: Pay Bob?");
  expect([...ran].sort()).toEqual(["look Eve", "look Zoe"]);
  expect(kept.size).toBe(0);
});
