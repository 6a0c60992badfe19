import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { connect, createScenario, type Scenario } from "../testing/scenario.ts";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder("acp");
});

const prompt = (text: string) => [{ type: "text" as const, text }];
const asks = (args: Record<string, unknown>) => ({ calls: [{ id: "q", name: "ask_user", args }] });
const choice = asks({ question: "Which?\u202e", choices: ["red", "blue"] });
const free = asks({ question: "Who are you?" });

async function open({ session }: Scenario, ask?: Parameters<typeof connect>[1]) {
  const connected = await connect({ createSession: () => session }, ask);
  const { sessionId } = await connected.agent.request("session/new", { cwd: folder, mcpServers: [] });
  const say = (text: string) => connected.agent.request("session/prompt", { sessionId, prompt: prompt(text) });
  const results = () =>
    session.agent.sessionContext.flatMap((message) => (message.role === "tool" ? [message.output] : []));
  return { ...connected, say, results };
}

describe("a question of the model", () => {
  test("with choices is put as options, and the chosen one is the answer", async () => {
    const { say, questions, results } = await open(
      createScenario(folder, [choice, "Blue, then."]),
      async () => "choice-1",
    );
    expect(await say("go")).toEqual({ stopReason: "end_turn" });
    const [question] = questions;
    expect(question?.options.map(({ optionId, name }) => [optionId, name])).toEqual([
      ["choice-0", "red"],
      ["choice-1", "blue"],
      ["none", "No answer"],
    ]);
    expect(JSON.stringify(question?.toolCall.content)).toContain("The model asks: Which?<U+202E>");
    expect(results()).toEqual(["blue"]);
  });

  test("with choices that is rejected is a no, and one that is left stays open", async () => {
    const no = await open(createScenario(folder, [choice, "Well."]), async () => "none");
    await no.say("go");
    expect(no.results()).toEqual([expect.stringContaining("Permission denied: the user gave no answer")]);
    const scenario = createScenario(folder, [choice, "Well."]);
    const left = await open(scenario);
    expect(await left.say("go")).toEqual({ stopReason: "cancelled" });
    expect(scenario.session.agent.pending).toHaveLength(1);
  });

  test("in free words ends the turn with the question, and the next message is its answer", async () => {
    const { say, text, questions, results } = await open(createScenario(folder, [free, "Hello Ann.", "More."]));
    expect(await say("go")).toEqual({ stopReason: "end_turn" });
    expect(text("agent_message_chunk")).toBe("The model asks: Who are you?");
    expect(await say("Ann")).toEqual({ stopReason: "end_turn" });
    expect([questions, results()]).toEqual([[], ["Ann"]]);
    expect(text("agent_message_chunk")).toContain("Hello Ann.");
    expect(await say("and now?")).toEqual({ stopReason: "end_turn" });
    expect(results()).toEqual(["Ann"]);
  });

  test("in free words comes after the permissions that wait beside it", async () => {
    const write = { id: "w", name: "write_note", args: { path: "a.txt", content: "x" } };
    const both = { calls: [...free.calls, write] };
    const { say, text, questions, results } = await open(createScenario(folder, [both, "Done."]), async () => "once");
    await say("go");
    // The write comes after the question in the reply, so it waits for its answer.
    expect([questions.length, text("agent_message_chunk")]).toEqual([0, "The model asks: Who are you?"]);
    await say("Ann");
    expect([questions.length, results()]).toEqual([1, ["Ann", "written"]]);
  });

  test("of a session that is opened again is told anew, and answered by the next message", async () => {
    const journal = join(folder, "one.jsonl");
    const first = createScenario(folder, [free]);
    const before = new Agent(first.provider, { tools: first.session.agent.toolRegistry, journal });
    await before.chat("hi").catch(() => undefined);
    const second = createScenario(folder, ["Hello Ann."]);
    const agent = await Agent.resume(second.provider, journal, { tools: second.session.agent.toolRegistry });
    const connected = await connect({
      createSession: () => second.session,
      openSession: async () => ({ ...second.session, agent }),
    });
    await connected.agent.request("session/resume", { sessionId: "one", cwd: folder });
    expect(connected.text("agent_message_chunk")).toBe("The model asks: Who are you?");
    await connected.agent.request("session/prompt", { sessionId: "one", prompt: prompt("Ann") });
    expect(connected.text("agent_message_chunk")).toBe("The model asks: Who are you?Hello Ann.");
    expect(agent.pending).toEqual([]);
  });
});
