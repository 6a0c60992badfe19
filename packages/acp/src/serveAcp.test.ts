import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { connect, createScenario, type Scenario } from "../testing/scenario.ts";
import { permissionModes } from "./index.ts";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder("acp");
});

const prompt = (text: string) => [{ type: "text" as const, text }];
const write = (content = "new\n") => ({ calls: [{ name: "write_note", args: { path: "a.txt", content } }] });

async function open(scenario: Scenario, ask?: Parameters<typeof connect>[1], capabilities = {}) {
  const connected = await connect({ createSession: () => scenario.session }, ask, capabilities);
  const { sessionId } = await connected.agent.request("session/new", { cwd: folder, mcpServers: [] });
  const say = (text: string) => connected.agent.request("session/prompt", { sessionId, prompt: prompt(text) });
  return { ...connected, sessionId, say };
}

describe("a turn", () => {
  test("streams text, reasoning, calls with their places and results, and what was used", async () => {
    writeFileSync(join(folder, "a.txt"), "hello\n");
    const scenario = createScenario(folder, [
      {
        reasoning: "Look first.",
        calls: [{ name: "read_note", args: { path: "a.txt" } }],
        usage: { inputTokens: 40, cost: 0.1 },
      },
      { text: "It says hello.", usage: { inputTokens: 60, outputTokens: 5, cost: 0.4 } },
    ]);
    const { say, of, text } = await open(scenario);
    expect(await say("What is in it?")).toEqual({ stopReason: "end_turn" });
    expect(text("agent_thought_chunk")).toBe("Look first.");
    expect(text("agent_message_chunk")).toBe("It says hello.");
    const path = join(folder, "a.txt");
    expect(of("tool_call")).toMatchObject([
      { name: "read_note", kind: "read", title: "read_note a.txt", locations: [{ path }], rawInput: { path: "a.txt" } },
    ]);
    expect(of("tool_call_update").at(-1)).toMatchObject({
      status: "completed",
      rawOutput: { output: "hello\n" },
      content: [{ type: "content", content: { type: "text", text: "```\nhello\n```" } }],
    });
    expect(of("usage_update").at(-1)).toMatchObject({ used: 65, size: 1000, cost: { amount: 0.5, currency: "USD" } });
    expect(of("session_info_update")).toMatchObject([{ title: "What is in it?" }]);
  });

  test("gives each message of the model an id of its own", async () => {
    writeFileSync(join(folder, "a.txt"), "");
    const replies = [{ text: "One two.", calls: [{ name: "read_note", args: { path: "a.txt" } }] }, "Three."];
    const { say, of } = await open(createScenario(folder, replies));
    await say("go");
    const ids = of("agent_message_chunk").map(({ messageId }) => messageId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(2);
  });

  test("is refused in a session where one runs, and two sessions have one each", async () => {
    const [first, second] = [
      createScenario(folder, [{ calls: [{ name: "hold" }] }]),
      createScenario(folder, ["Hi."], "two"),
    ];
    const scenarios = [first, second];
    const { agent, updates } = await connect({ createSession: () => (scenarios.shift() ?? first).session });
    for (let opened = 0; opened < 2; opened += 1) await agent.request("session/new", { cwd: folder, mcpServers: [] });
    const running = agent.request("session/prompt", { sessionId: "one", prompt: prompt("hold") });
    await first.held;
    const again = agent.request("session/prompt", { sessionId: "one", prompt: prompt("again") });
    await expect(again).rejects.toMatchObject({ code: -32600, message: expect.stringContaining("A turn runs") });
    expect(await agent.request("session/prompt", { sessionId: "two", prompt: prompt("hi") })).toEqual({
      stopReason: "end_turn",
    });
    expect(updates.filter(({ update }) => update.sessionUpdate === "agent_message_chunk")).toMatchObject([
      { sessionId: "two" },
    ]);
    await agent.notify("session/cancel", { sessionId: "one" });
    expect(await running).toEqual({ stopReason: "cancelled" });
  });

  test("ends when it is cancelled, its calls with it, and the session goes on", async () => {
    const scenario = createScenario(folder, [{ calls: [{ name: "hold" }] }, "Fine."]);
    const { say, agent, sessionId, of } = await open(scenario);
    const running = say("hold");
    await scenario.held;
    await agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    await scenario.released;
    expect(of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(await say("and now?")).toEqual({ stopReason: "end_turn" });
  });

  test("that fails is answered in words, with lines of its own for what the client can show", async () => {
    const scenario = createScenario(folder, [new Error("no \u001b[31msuch model")]);
    const { say } = await open(scenario);
    await expect(say("go")).rejects.toMatchObject({ code: -32603, message: expect.stringContaining("such model") });
    await expect(say("go")).rejects.toMatchObject({ message: expect.not.stringContaining("\u001b") });
  });
});

describe("a question", () => {
  test("shows the change as a diff before it is made, and a yes makes it", async () => {
    writeFileSync(join(folder, "a.txt"), "old\n");
    let before = "";
    const { say, questions, of } = await open(createScenario(folder, [write(), "Done."]), async () => {
      before = readFileSync(join(folder, "a.txt"), "utf8");
      return "once";
    });
    expect(await say("change it")).toEqual({ stopReason: "end_turn" });
    expect(before).toBe("old\n");
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("new\n");
    const diff = { type: "diff", path: join(folder, "a.txt"), oldText: "old\n", newText: "new\n" };
    expect(questions).toMatchObject([
      {
        toolCall: { kind: "edit", status: "pending", title: "write_note a.txt", content: [{ type: "content" }, diff] },
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
      },
    ]);
    expect(questions[0]?.toolCall.content?.[0]).toMatchObject({
      content: { text: expect.stringContaining("would write") },
    });
    // One call, told once; then what becomes of it.
    expect(of("tool_call")).toHaveLength(1);
    expect(of("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
  });

  test("answered with no is told to the model, and changes nothing", async () => {
    const scenario = createScenario(folder, [write(), "As you like."]);
    const { say, of } = await open(scenario, async () => "reject");
    expect(await say("change it")).toEqual({ stopReason: "end_turn" });
    expect(() => readFileSync(join(folder, "a.txt"))).toThrow();
    expect(of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(JSON.stringify(scenario.provider.requests[1]?.messages)).toContain("the user rejected this call");
  });

  test("answered for good is not asked again", async () => {
    const scenario = createScenario(folder, [write(), "Done.", write(), "Done again."]);
    const { say, questions } = await open(scenario, async () => "always");
    await say("change it");
    await say("and again");
    expect(questions).toHaveLength(1);
    expect(await scenario.policy.list()).toHaveLength(1);
  });

  test("stays open when its turn is cancelled, and a message is a no to it", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const never = new Promise<undefined>(() => {});
    const scenario = createScenario(folder, [write(), "Then not."]);
    const { say, agent, sessionId, questions, of } = await open(scenario, (_request, signal) => {
      asked.resolve(signal);
      return never;
    });
    const running = say("change it");
    const signal = await asked.promise;
    await agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    // The client is told that nobody waits for its answer.
    await expect.poll(() => signal.aborted).toBe(true);
    expect(scenario.session.agent.pending).toHaveLength(1);
    expect(of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(await say("never mind")).toEqual({ stopReason: "end_turn" });
    expect(questions).toHaveLength(1);
    expect(() => readFileSync(join(folder, "a.txt"))).toThrow();
  });

  test("dismissed by the client ends the turn", async () => {
    const { say } = await open(createScenario(folder, [write()]), async () => undefined);
    expect(await say("change it")).toEqual({ stopReason: "cancelled" });
  });

  test("to a client that cannot ask is an error in words, and does not come back for ever", async () => {
    const scenario = createScenario(folder, [write(), "Without it, then."]);
    const { say } = await open(scenario, () => Promise.reject(new Error("no dialogs here")));
    await expect(say("change it")).rejects.toMatchObject({ code: -32603 });
    expect(await say("go on")).toEqual({ stopReason: "end_turn" });
  });

  test("names characters that nobody sees, in arguments and in the diff", async () => {
    const replies = [
      write("safe\u202e\u200b\n"),
      { calls: [{ name: "write_note", args: { path: "b\u200b.txt", content: "" } }] },
    ];
    const { say, questions } = await open(createScenario(folder, replies), async () => "once");
    await say("change it").catch(() => undefined);
    expect(JSON.stringify(questions[0]?.toolCall.content)).toContain("U+202E U+200B");
    expect(questions[1]?.toolCall.title).toContain("<U+200B>");
  });
});

describe("a call", () => {
  test("of two lines does not read as one line", async () => {
    const args = { path: "a\nb", content: "" };
    const { say, of } = await open(createScenario(folder, [{ calls: [{ name: "write_note", args }] }]));
    await say("write");
    expect(of("tool_call")[0]?.title).toBe("write_note a ⏎ b");
  });
});

describe("what a client chooses", () => {
  test("is on offer in both forms, and told in both when it changes", async () => {
    const scenario = createScenario(folder, []);
    let current = "ask";
    const modes = {
      get current() {
        return current;
      },
      available: permissionModes,
      select: (id: string) => {
        current = id;
      },
    };
    const { agent, of } = await connect({ createSession: () => ({ ...scenario.session, modes }) });
    const session = await agent.request("session/new", { cwd: folder, mcpServers: [] });
    expect(session.modes).toMatchObject({ currentModeId: "ask" });
    expect(session.modes?.availableModes.map(({ id }) => id)).toEqual(["ask", "read-only", "accept-edits", "full"]);
    expect(session.configOptions).toMatchObject([{ id: "mode", category: "mode", currentValue: "ask" }]);
    const { sessionId } = session;
    await agent.request("session/set_mode", { sessionId, modeId: "full" });
    expect(current).toBe("full");
    await agent.request("session/set_config_option", { sessionId, configId: "mode", value: "read-only" });
    expect(current).toBe("read-only");
    expect(of("current_mode_update").map(({ currentModeId }) => currentModeId)).toEqual(["full", "read-only"]);
    expect(of("config_option_update")).toHaveLength(2);
    await expect(agent.request("session/set_mode", { sessionId, modeId: "yolo" })).rejects.toMatchObject({
      code: -32602,
      message: "mode cannot be yolo; expected one of ask, read-only, accept-edits, full",
    });
  });
});

describe("a command", () => {
  test("is announced, and runs without the model", async () => {
    const scenario = createScenario(folder, []);
    const commands = [
      { name: "who", description: "Says who", hint: "name", run: (input: string) => `It is ${input}.` },
    ];
    const { agent, of, text } = await connect({ createSession: () => ({ ...scenario.session, commands }) });
    const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
    await expect.poll(() => of("available_commands_update")).toHaveLength(1);
    expect(of("available_commands_update")[0]?.availableCommands).toEqual([
      { name: "compact", description: "Shorten the conversation" },
      { name: "who", description: "Says who", input: { hint: "name" } },
    ]);
    await agent.request("session/prompt", { sessionId, prompt: prompt("/who me") });
    expect(text("agent_message_chunk")).toBe("It is me.");
    expect(scenario.provider.requests).toHaveLength(0);
    await agent.request("session/prompt", { sessionId, prompt: prompt("/compact") });
    expect(text("agent_message_chunk")).toContain("too short");
  });
});
