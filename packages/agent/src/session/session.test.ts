import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { assertFits, outputs as outputsOf, registryOf, userText as user } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { repairConversation } from "../conversation/repair.ts";
import type { Message } from "../messages.ts";
import { assertConversation, ScriptedProvider, type ScriptedReply } from "../testing.ts";
import { Journal } from "./journal.ts";
import { listSessions, newSessionFile } from "./listSessions.ts";
import type { Session } from "./session.ts";
import { createSaveSessionContextTool } from "./sessionContext.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder("session");
  file = join(folder, "deep", "session.json");
});

const calling = (...ids: string[]): Message => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool-call", id, name: "echo", args: {} })),
});
const result = (callId: string): Message => ({ role: "tool", callId, name: "echo", output: callId, isError: false });
const outputs = (sessionContext: readonly Message[]): string[] => outputsOf({ sessionContext });
const sessionOf = (...messages: Message[]): Session => ({
  ...{ format: "toolcrib-session", version: 1, savedAt: "", systemPrompt: "", messages },
});
const resume = (from: string | Session, ...replies: ScriptedReply[]): Promise<Agent> =>
  Agent.resume(new ScriptedProvider(replies), from);
const linesIn = (path: string): string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);

describe("save_session_context", () => {
  testTool(test, {
    create: () =>
      createSaveSessionContextTool({ systemPrompt: "", sessionContext: [user("hi")], sessionContextFilePath: file }),
    validArgs: () => ({ reason: "done" }),
  });

  test("writes reason, time, system prompt and messages, in the documented format", async () => {
    const agent = new Agent(new ScriptedProvider(["hello"]), {
      systemPrompt: "Be brief.",
      sessionContextFilePath: file,
    });
    await agent.chat("hi");
    const before = Date.now();
    expect(await agent.saveContext("lunch")).toMatch(/^Saved 2 messages to /);
    const saved = JSON.parse(readFileSync(file, "utf8"));
    expect(saved).toMatchObject({ format: "toolcrib-session", version: 1, reason: "lunch", systemPrompt: "Be brief." });
    const savedAt = new Date(saved.savedAt).getTime();
    expect(before <= savedAt && savedAt <= Date.now()).toBe(true);
    expect(saved.messages).toEqual(agent.sessionContext);
    assertFits(saved, "session");
  });

  test("gives the file and the number of messages as data", async () => {
    const dataOf = async (sessionContext: Message[], sessionContextFilePath = file): Promise<unknown> => {
      const tool = createSaveSessionContextTool({ systemPrompt: "", sessionContext, sessionContextFilePath });
      const outcome = await new ToolRegistry([tool]).invoke("save_session_context", { reason: "r" });
      return outcome.ok ? outcome.data : outcome.error;
    };
    expect(await dataOf([user("hi")])).toEqual({ path: file, messages: 1 });
    // As it is named, where the text quotes it.
    const odd = join(folder, "new\nline");
    expect(await dataOf([], odd)).toEqual({ path: odd, messages: 0 });
  });

  test("called by the model, it saves a conversation in which its own call is closed", async () => {
    const agent = new Agent(
      new ScriptedProvider([{ calls: [{ id: "s", name: "save_session_context", args: { reason: "r" } }] }, "ok"]),
      { sessionContextFilePath: file },
    );
    await agent.chat("save");
    const { messages } = JSON.parse(readFileSync(file, "utf8"));
    assertConversation(messages);
    expect(outputs(messages)).toEqual(["Error executing save_session_context: Interrupted; may have run"]);
  });

  test("an agent without tools has only this one", () => {
    expect(new Agent(new ScriptedProvider([])).toolRegistry.getToolNames()).toEqual(["save_session_context"]);
  });

  test("accepts messages written by hand, with text as a plain string", async () => {
    const tool = createSaveSessionContextTool({
      systemPrompt: "p",
      sessionContext: [{ role: "user", content: "hi" }],
      sessionContextFilePath: file,
    });
    await tool.execute({ reason: "r" });
    const agent = await resume(file);
    expect(agent.sessionContext).toEqual([user("hi")]);
  });
});

describe("resume", () => {
  test("continues a file with its messages, system prompt and usage", async () => {
    const usage = { inputTokens: 5, outputTokens: 2, cost: 1 };
    const first = new Agent(new ScriptedProvider([{ text: "hello", usage }]), {
      systemPrompt: "P",
      sessionContextFilePath: file,
    });
    await first.chat("hi");
    await first.saveContext("later");
    const provider = new ScriptedProvider(["again"]);
    const second = await Agent.resume(provider, file);
    expect(await second.chat("more")).toBe("again");
    expect(provider.requests[0]).toMatchObject({
      systemPrompt: "P",
      messages: [...first.sessionContext, user("more")],
    });
    expect(second.usage).toMatchObject({ inputTokens: 5, cost: 1 });
    expect((await Agent.resume(provider, file, { systemPrompt: "Q" })).systemPrompt).toBe("Q");
  });

  test("open calls of a saved session are closed, and new calls get new ids", async () => {
    const agent = await resume(sessionOf(user("a"), calling("x")), { calls: [{ id: "x", name: "echo" }] }, "ok");
    assertConversation(agent.sessionContext);
    await agent.chat("on");
    assertConversation(agent.sessionContext);
  });

  test("called on a subclass, it makes an instance of it: the preset of defaults resumes with its tools", async () => {
    class Preset extends Agent {
      constructor(...[provider, options]: ConstructorParameters<typeof Agent>) {
        super(provider, { ...options, tools: new ToolRegistry() });
      }
    }
    const resumed: Preset = await Preset.resume(new ScriptedProvider([]), sessionOf(user("hi")));
    expect(resumed).toBeInstanceOf(Preset);
    expect(resumed.getTools()).toEqual([]);
    expect(resumed.sessionContext).toHaveLength(1);
  });

  test.each([
    ["absent", undefined, "ENOENT"],
    ["not JSON", "{", "it is not JSON"],
    ["of another format", '{"format":"x"}', "toolcrib-session"],
    ["of a newer version", '{"format":"toolcrib-session","version":2}', "update toolcrib"],
    ["without messages", '{"format":"toolcrib-session","version":1,"systemPrompt":""}', "messages is not a list"],
    [
      "with a bad message",
      '{"format":"toolcrib-session","version":1,"systemPrompt":"","messages":[{"role":"user"}]}',
      "message 1",
    ],
  ])("a file that is %s is refused with the reason", async (_, text, reason) => {
    file = join(folder, "x.json");
    if (text !== undefined) writeFileSync(file, text);
    await expect(resume(file)).rejects.toMatchObject({
      code: "bad_session",
      message: expect.stringContaining(reason),
    });
  });
});

describe("repair", () => {
  test.each<[string, Message[], string[]]>([
    ["a call without a result", [user("a"), calling("x")], ["Error executing echo: Interrupted; may have run"]],
    ["a result without a call", [user("a"), result("x")], []],
    ["results out of order", [calling("x", "y"), result("y"), result("x")], ["x", "y"]],
    ["two results for one call", [calling("x"), result("x"), result("x")], ["x"]],
    ["an id used again", [calling("x"), result("x"), calling("x"), result("x")], ["x", "x"]],
    ["one id for two calls", [calling("x", "x"), result("x"), result("x")], ["x", "x"]],
    ["a message before the result", [calling("x"), user("b"), result("x")], ["x"]],
    ["an empty reply", [user("a"), { role: "assistant", content: [] }, user("b")], []],
  ])("%s is repaired", (_, messages, expected) => {
    const repaired = repairConversation(messages);
    assertConversation(repaired);
    expect(outputs(repaired)).toEqual(expected);
  });
});

describe("journal", () => {
  const journal = (): string => join(folder, "sessions", "one.jsonl");
  const start = (replies: readonly ScriptedReply[], options: object = {}): Agent =>
    new Agent(new ScriptedProvider(replies), {
      ...{ tools: registryOf({ echo: () => "echoed" }, ["echo"]), journal: journal(), systemPrompt: "P" },
      ...{ sessionName: "one", ...options },
    });
  const twoCalls = { calls: ["a", "b"].map((id) => ({ id, name: "echo" })) };

  test("holds every message at once, in an order that can be recovered after a crash, in the documented format", async () => {
    const agent = start([{ text: "look", ...twoCalls }, "line\u2028separator"]);
    await agent.chat("hi");
    const lines = linesIn(journal()).map((line) => JSON.parse(line));
    const kinds = ["session", "user", "opening", "assistant", "tool-start", "tool", "tool", "assistant"];
    expect(lines.map((line) => line.message?.role ?? line.type)).toEqual(kinds);
    for (const line of lines) assertFits(line, "journalLine");
    const resumed = await resume(journal());
    expect(resumed.sessionContext).toEqual(agent.sessionContext);
    expect(resumed.systemPrompt).toBe("P");
    if (process.platform !== "win32") expect(statSync(journal()).mode & 0o777).toBe(0o600);
  });

  test("is on disk before the turn goes on", async () => {
    const seen: number[] = [];
    const count = (): void => void seen.push(linesIn(journal()).length);
    const counted = (reply: ScriptedReply) => () => {
      count();
      return reply;
    };
    const agent = start([{ calls: [{ id: "a", name: "echo" }] }, "ok"].map(counted));
    for await (const event of agent.streamChat("hi")) if (event.type === "tool-result") count();
    expect(seen).toEqual([3, 6, 6]);
  });

  test("is written where Node allows no fsync, as under the permission model of Node 26", async () => {
    const probe = await open(import.meta.filename);
    const refused = Object.assign(new Error("API is disabled"), { code: "ERR_ACCESS_DENIED" });
    const sync = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, "datasync").mockRejectedValue(refused);
    try {
      await new Agent(new ScriptedProvider(["hello"]), { journal: file }).chat("hi");
      expect(linesIn(file).length).toBeGreaterThan(2);
    } finally {
      sync.mockRestore();
      await probe.close();
    }
  });

  test("cut anywhere, it resumes as a valid conversation that goes on in the same file", async () => {
    await start([twoCalls, "é"]).chat("hi");
    const whole = readFileSync(journal());
    const header = whole.indexOf(10) + 1;
    for (let bytes = header; bytes <= whole.length; bytes += 1) {
      const isEdge = whole.subarray(Math.max(0, bytes - 2), bytes + 1).some((byte) => byte === 10 || byte > 127);
      if (!isEdge && bytes % 37 !== 0) continue;
      const cut = join(folder, "cut.jsonl");
      writeFileSync(cut, whole.subarray(0, bytes));
      const provider = new ScriptedProvider(["ok"]);
      const resumed = await Agent.resume(provider, cut);
      assertConversation(resumed.sessionContext);
      if (isEdge && bytes % 3 !== 0) continue;
      await resumed.chat("on");
      assertConversation(provider.requests[0]?.messages ?? []);
      expect((await Agent.resume(provider, cut)).sessionContext).toEqual(resumed.sessionContext);
    }
  });

  test("a broken line in the middle is refused by its number, not skipped", async () => {
    await start(["ok"]).chat("hi");
    const lines = linesIn(journal());
    writeFileSync(journal(), `${[lines[0], "{", ...lines.slice(1)].join("\n")}\n`);
    await expect(resume(journal())).rejects.toThrow("line 2");
  });

  test("follows an abort, clearContext, a new system prompt and a withdrawn message", async () => {
    const agent = start([{ calls: [{ name: "echo" }] }, "ok", "fine"]);
    for await (const event of agent.streamChat("hi")) if (event.type === "tool-call") break;
    expect((await resume(journal())).sessionContext).toEqual(agent.sessionContext);
    agent.clearContext();
    agent.setSystemPrompt("Q");
    await agent.chat("again");
    const resumed = await resume(journal());
    expect(resumed.sessionContext).toEqual([user("again"), expect.objectContaining({ role: "assistant" })]);
    expect(resumed.systemPrompt).toBe("Q");
  });

  test("refused calls are recorded as refused", async () => {
    const agent = start([{ calls: [{ name: "echo" }] }], { maxSteps: 1 });
    await expect(agent.chat("hi")).rejects.toMatchObject({ reason: "step-limit" });
    const resumed = await resume(journal());
    expect(outputs(resumed.sessionContext)).toEqual(["Error executing echo: Not run: step limit"]);
  });

  test("lines that come together are written one after another, each on disk before its promise resolves", async () => {
    const probe = await open(join(folder, "probe"), "w");
    const datasync = vi.spyOn(Object.getPrototypeOf(probe), "datasync");
    await probe.close();
    const one = new Journal({ file: journal(), systemPrompt: () => "P" });
    await Promise.all(["a", "b", "c"].map((text) => one.write([{ type: "message", message: user(text) }])));
    expect(datasync).toHaveBeenCalledTimes(3);
    datasync.mockRestore();
    await one.turnEnded();
    expect(linesIn(journal()).map((line) => JSON.parse(line).message?.content[0].text ?? "header")).toEqual([
      "header",
      "a",
      "b",
      "c",
    ]);
  });

  test("refuses to write into the file of another session", async () => {
    await start(["ok"]).chat("hi");
    const before = readFileSync(journal(), "utf8");
    await expect(start(["ok"]).chat("hi")).rejects.toMatchObject({
      code: "bad_session",
      message: expect.stringContaining("it exists"),
    });
    expect(readFileSync(journal(), "utf8")).toBe(before);
  });

  test("with onJournalError, one that cannot be written is reported once, and the conversation continues", async () => {
    const told: string[] = [];
    writeFileSync(join(folder, "file"), "");
    const agent = new Agent(new ScriptedProvider(["one", "two"]), {
      journal: join(folder, "file", "x.jsonl"),
      onJournalError: ({ code }) => told.push(code),
    });
    expect([await agent.chat("hi"), await agent.chat("again")]).toEqual(["one", "two"]);
    expect(told).toEqual(["bad_session"]);
  });

  test("a saved session continues in a new journal, which holds all of it", async () => {
    const first = new Agent(new ScriptedProvider(["hello"]), { sessionContextFilePath: file });
    await first.chat("hi");
    await first.saveContext("r");
    const second = await Agent.resume(new ScriptedProvider(["more"]), file, { journal: journal() });
    await second.chat("on");
    const third = await resume(journal());
    expect(third.sessionContext).toEqual(second.sessionContext);
    expect(third.sessionContext).toHaveLength(4);
  });

  test("sessions are listed with name, topic and time, last changed first; torn and foreign files are skipped", async () => {
    await start(["ok"]).chat("first topic\nmore");
    const other = newSessionFile(join(folder, "sessions"));
    await new Agent(new ScriptedProvider(["ok"]), { journal: other }).chat("second topic");
    appendFileSync(other, '{"type":"mess');
    writeFileSync(join(folder, "sessions", "foreign.jsonl"), "{}\n");
    const listed = await listSessions(join(folder, "sessions"));
    expect(listed.map(({ name, topic }) => [name, topic])).toEqual(
      expect.arrayContaining([
        ["one", "first topic"],
        [undefined, "second topic"],
      ]),
    );
    expect(listed).toHaveLength(2);
    expect(await listSessions(join(folder, "absent"))).toEqual([]);
    expect(existsSync(newSessionFile(folder))).toBe(false);
  });
});
