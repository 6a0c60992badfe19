import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { connect, createScenario } from "../testing/scenario.ts";
import type { AcpSessionRequest } from "./index.ts";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder("acp");
});

const prompt = (text: string) => [{ type: "text" as const, text }];
const write = { calls: [{ name: "write_note", args: { path: "a.txt", content: "new\n" } }] };

describe("a session that is opened again", () => {
  test("tells its history, and its question is asked at the next prompt", async () => {
    const journal = join(folder, "one.jsonl");
    const first = createScenario(folder, [{ reasoning: "Hm.", text: "Hello." }, write]);
    const options = { tools: first.session.agent.toolRegistry, journal };
    const before = new Agent(first.provider, options);
    await before.chat("hi");
    await before.chat("change it").catch(() => undefined);
    expect(before.pending).toHaveLength(1);

    const second = createScenario(folder, ["Changed.", "More."]);
    const again = await Agent.resume(second.provider, journal, { tools: second.session.agent.toolRegistry });
    const openSession = async (id: string) => (id === "one" ? { ...second.session, agent: again } : undefined);
    const { agent, text, of, questions } = await connect(
      { createSession: () => second.session, openSession },
      async () => "once",
    );
    await agent.request("session/load", { sessionId: "one", cwd: folder, mcpServers: [] });
    expect(text("user_message_chunk")).toBe("hichange it");
    expect(text("agent_message_chunk")).toBe("Hello.");
    expect(text("agent_thought_chunk")).toBe("Hm.");
    expect(of("tool_call")).toMatchObject([{ name: "write_note", status: "pending" }]);

    expect(await agent.request("session/prompt", { sessionId: "one", prompt: prompt("go on") })).toEqual({
      stopReason: "end_turn",
    });
    expect(questions).toHaveLength(1);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("new\n");
    expect(text("agent_message_chunk")).toBe("Hello.Changed.More.");
    expect(of("tool_call")).toHaveLength(1);
    expect(of("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
  });

  test("is resumed without its history, and one that is unknown is refused", async () => {
    const { session } = createScenario(folder, ["Hi."]);
    const openSession = async (id: string) => (id === "one" ? session : undefined);
    const { agent, updates } = await connect({ createSession: () => session, openSession });
    await agent.request("session/resume", { sessionId: "one", cwd: folder });
    expect(updates).toEqual([]);
    const unknown = agent.request("session/load", { sessionId: "../x", cwd: folder, mcpServers: [] });
    await expect(unknown).rejects.toMatchObject({
      code: -32002,
      message: expect.stringMatching(/no session \.\.\/x to open again; session\/list/),
    });
    const closed = agent.request("session/prompt", { sessionId: "x\u001b", prompt: prompt("hi") });
    await expect(closed).rejects.toMatchObject({ code: -32002, message: expect.not.stringContaining("\u001b") });
  });

  test("is closed before it is opened a second time", async () => {
    const scenario = createScenario(folder, []);
    const next = createScenario(folder, []);
    const openings = [scenario.session, next.session];
    const { agent } = await connect({ createSession: () => next.session, openSession: async () => openings.shift() });
    const load = () => agent.request("session/load", { sessionId: "one", cwd: folder, mcpServers: [] });
    await load();
    await load();
    await scenario.closed;
  });

  test("is open once at a time, however many requests for it come at once", async () => {
    let open = 0;
    let most = 0;
    const openSession = async (id: string) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      const { session } = createScenario(folder, ["Hi."], id);
      const close = async (): Promise<void> => {
        await new Promise(setImmediate);
        open -= 1;
      };
      return { ...session, close };
    };
    const { agent, leave, serving } = await connect({ createSession: () => openSession("new"), openSession });
    const load = () => agent.request("session/load", { sessionId: "one", cwd: folder, mcpServers: [] });
    const resume = () => agent.request("session/resume", { sessionId: "one", cwd: folder });
    await Promise.all([load(), resume(), load()]);
    expect({ open, most }).toEqual({ open: 1, most: 1 });
    await Promise.all([agent.request("session/close", { sessionId: "one" }), load()]);
    expect({ open, most }).toEqual({ open: 1, most: 1 });
    leave();
    await serving.closed;
    expect(open).toBe(0);
  });

  test("is listed, and what the agent cannot do is not announced", async () => {
    const { session } = createScenario(folder, []);
    const changedAt = new Date("2026-11-22T10:00:00Z");
    const asked: (string | undefined)[] = [];
    const { agent } = await connect({
      createSession: () => session,
      listSessions: async (cwd) => {
        asked.push(cwd);
        return [
          { id: "one", cwd: folder, title: "Hi", changedAt },
          { id: "two", cwd: folder },
        ];
      },
    });
    expect(await agent.request("session/list", { cwd: folder })).toEqual({
      sessions: [
        { sessionId: "one", cwd: folder, title: "Hi", updatedAt: "2026-11-22T10:00:00.000Z" },
        { sessionId: "two", cwd: folder },
      ],
    });
    expect(asked).toEqual([folder]);
    const { agentCapabilities } = await agent.request("initialize", { protocolVersion: 1 });
    expect(agentCapabilities).toMatchObject({ loadSession: false });
    expect(agentCapabilities?.sessionCapabilities).not.toHaveProperty("resume");
    const load = agent.request("session/load", { sessionId: "one", cwd: folder, mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: -32601 });
  });
});

describe("what a client asks for", () => {
  test("is refused in words where a directory is not one", async () => {
    const { session } = createScenario(folder, []);
    const { agent } = await connect({ createSession: () => session });
    const file = join(folder, "file");
    writeFileSync(file, "");
    const refusal = async (cwd: string, more = {}) =>
      agent.request("session/new", { cwd, mcpServers: [], ...more }).catch((error: Error) => error.message);
    expect(await refusal("relative")).toBe("cwd: relative is not an absolute path");
    expect(await refusal(join(folder, "none"))).toContain("cannot be opened: ENOENT");
    expect(await refusal(file)).toContain("is not a directory");
    expect(await refusal("/a\u0000b")).toContain("NUL");
    expect(await refusal(folder, { additionalDirectories: ["x\u202e"] })).toBe(
      "additionalDirectories: x<U+202E> is not an absolute path",
    );
  });

  test("is a directory without links: the same one has the same conversations", async () => {
    const { session } = createScenario(folder, []);
    const link = join(folder, "link");
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), link);
    const seen: (string | undefined)[] = [];
    const { agent } = await connect({
      createSession(request) {
        seen.push(request.cwd, ...request.roots);
        return session;
      },
      listSessions: async (cwd) => {
        seen.push(cwd);
        return [];
      },
    });
    await agent.request("session/new", { cwd: `${link}/`, mcpServers: [] });
    await agent.request("session/list", { cwd: link });
    await agent.request("session/list", { cwd: "/no/such" });
    const real = join(folder, "real");
    expect(seen).toEqual([real, real, real, "/no/such"]);
  });

  test("reaches the session: roots, and servers in the form of mcpServers", async () => {
    const { session } = createScenario(folder, []);
    const requests: AcpSessionRequest[] = [];
    const createSession = (request: AcpSessionRequest) => {
      requests.push(request);
      return session;
    };
    const { agent } = await connect({ createSession });
    const http = {
      type: "http" as const,
      name: "web",
      url: "http://127.0.0.1:1/",
      headers: [{ name: "A", value: "b" }],
    };
    const stdio = { name: "local", command: "node", args: ["x"], env: [{ name: "K", value: "v" }] };
    const additionalDirectories = ["/", folder];
    await agent.request("session/new", { cwd: folder, additionalDirectories, mcpServers: [http, stdio] });
    expect(requests[0]?.roots).toEqual([folder, "/"]);
    expect(requests[0]?.mcpServers).toEqual({
      web: { type: "http", url: "http://127.0.0.1:1/", headers: { A: "b" } },
      local: { command: "node", args: ["x"], env: { K: "v" } },
    });
    const refused = (
      mcpServers: (typeof http | typeof stdio | { type: "sse"; name: string; url: string; headers: [] })[],
    ) => agent.request("session/new", { cwd: folder, mcpServers }).catch((error: Error) => error.message);
    expect(await refused([{ type: "sse", name: "old", url: "http://127.0.0.1:1/", headers: [] }])).toContain("SSE");
    expect(await refused([stdio, stdio])).toBe("mcpServers: two servers are named local");
  });

  test("that the program cannot give is refused in its own words", async () => {
    const createSession = () => {
      throw new Error("OPENAI_API_KEY is not set");
    };
    const { agent } = await connect({ createSession });
    const opened = agent.request("session/new", { cwd: folder, mcpServers: [] });
    await expect(opened).rejects.toMatchObject({ code: -32603, message: "OPENAI_API_KEY is not set" });
  });
});

describe("a client", () => {
  test("that goes away in the middle of a turn ends it, and its sessions are closed", async () => {
    const scenario = createScenario(folder, [{ calls: [{ name: "hold" }] }]);
    // Refused while a turn runs: a session is closed after that.
    const close = (): void => {
      scenario.session.agent.clearContext();
      return void scenario.session.close();
    };
    const { agent, leave, serving } = await connect({ createSession: () => ({ ...scenario.session, close }) });
    const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
    const running = agent.request("session/prompt", { sessionId, prompt: prompt("hold") });
    running.catch(() => undefined);
    await scenario.held;
    leave();
    await serving.closed;
    await scenario.released;
    await scenario.closed;
  });

  test("that goes away while a question is open leaves it for the next one", async () => {
    const asked = Promise.withResolvers<void>();
    const scenario = createScenario(folder, [write]);
    const { agent, leave, serving } = await connect({ createSession: () => scenario.session }, () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
    agent.request("session/prompt", { sessionId, prompt: prompt("change it") }).catch(() => undefined);
    await asked.promise;
    leave();
    await serving.closed;
    expect(scenario.session.agent.pending).toHaveLength(1);
  });

  test("that goes away while its session opens leaves no session open", async () => {
    const scenario = createScenario(folder, []);
    const opening = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const { agent, leave, serving } = await connect({
      async createSession({ signal }) {
        opening.resolve();
        await go.promise;
        expect(signal.aborted).toBe(true);
        return scenario.session;
      },
    });
    agent.request("session/new", { cwd: folder, mcpServers: [] }).catch(() => undefined);
    await opening.promise;
    leave();
    setImmediate(go.resolve);
    await serving.closed;
    await scenario.closed;
  });

  test("that sends what is no message is answered with an error, and the rest goes on", async () => {
    const { session } = createScenario(folder, []);
    const { agent, write, lines } = await connect({ createSession: () => session });
    for (const line of ["{not json", "[]", "7", '{"jsonrpc":"2.0","id":77,"method":"session/nothing"}', "{}"])
      write(line);
    write('{"jsonrpc":"2.0","id":78,"method":"session/new","params":{"cwd":7}}');
    write('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}');
    await agent.request("session/new", { cwd: folder, mcpServers: [] });
    const codes = lines.flatMap((line) => JSON.parse(line).error?.code ?? []);
    expect(codes.slice(0, 3)).toEqual([-32700, -32600, -32600]);
    expect(codes).toEqual(expect.arrayContaining([-32601, -32602]));
  });
});

describe("hostile text", () => {
  test("of a tool is shown as text: no control characters, no markdown, no half characters", async () => {
    writeFileSync(join(folder, "a.txt"), "\u001b]0;title\u0007\u001b[31mred\u001b[0m\n```\n![x](http://evil)\n\u202e");
    const scenario = createScenario(folder, [
      { calls: [{ name: "read_note", args: { path: "a.txt" } }] },
      { text: "half \ud83d\ud83d\ude00 \\ud83d", calls: [{ name: "read_note", args: { path: "\ud83d" } }] },
      "End.",
    ]);
    const { agent, of, lines, text } = await connect({ createSession: () => scenario.session });
    const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
    await agent.request("session/prompt", { sessionId, prompt: prompt("read") });
    const shown = of("tool_call_update").find(({ status }) => status === "completed")?.content?.[0];
    expect(shown).toEqual({
      type: "content",
      content: { type: "text", text: "````\nred\n```\n![x](http://evil)\n````" },
    });
    for (const line of lines) expect(JSON.parse(line)).toEqual(wellFormed(JSON.parse(line)));
    expect(text("agent_message_chunk")).toBe("half \u{1f600} \\ud83dEnd.");
  });

  test("cut between the halves of a character arrives whole", async () => {
    const scenario = createScenario(folder, [
      [
        { type: "text-delta", text: "a\ud83d" },
        { type: "text-delta", text: "\ude00b" },
        {
          type: "reply",
          stop: "stop",
          message: { role: "assistant", content: [{ type: "text", text: "a\u{1f600}b" }] },
        },
      ],
    ]);
    const { agent, text } = await connect({ createSession: () => scenario.session });
    const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
    await agent.request("session/prompt", { sessionId, prompt: prompt("smile") });
    expect(text("agent_message_chunk")).toBe("a\u{1f600}b");
  });
});

function wellFormed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, item) => (typeof item === "string" ? withoutHalves(item) : item));
}

function withoutHalves(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
