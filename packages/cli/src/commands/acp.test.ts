import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AcpAsk,
  type AcpClient,
  answerWith,
  sharedWireServer,
  startAcpProgram,
  type WireAnswer,
  type WireRequest,
  workFolders,
} from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { startAcp } from "../../fixtures/acp.ts";
import { bin, call, command, modelAt } from "../../fixtures/command.ts";

const bareServer = fileURLToPath(new URL("../../../mcp/fixtures/bareServer.mjs", import.meta.url));
const work = workFolders("acp");
const wire = await sharedWireServer();

interface Editor extends ReturnType<typeof startAcp> {
  readonly sessionId: string;
  say(text: string, session?: string): Promise<{ stopReason: string }>;
}

const model = (): string[] => modelAt(wire);
const options = () => ({ cwd: work.state, env: { XDG_STATE_HOME: work.state, HOME: work.folder } });

/** The command as an editor starts it, in a directory that is not the session's. */
function start(flags: readonly string[], ask?: AcpAsk): ReturnType<typeof startAcp> {
  mkdirSync(work.state, { recursive: true });
  return startAcp([...model(), ...flags], options(), ask);
}

async function edit(flags: readonly string[] = [], ask?: AcpAsk): Promise<Editor> {
  return open(start(flags, ask));
}

/** Begins a session. */
async function open<Agent extends AcpClient>(program: Agent): Promise<Agent & Pick<Editor, "sessionId" | "say">> {
  const { agent } = program;
  await agent.request("initialize", { protocolVersion: 1 });
  const { sessionId } = await agent.request("session/new", { cwd: work.folder, mcpServers: [] });
  const say: Editor["say"] = (text, session = sessionId) =>
    agent.request("session/prompt", { sessionId: session, prompt: [{ type: "text", text }] });
  return { ...program, sessionId, say };
}

const answer = (text: string) => answerWith({ text });
const given = (script: ReturnType<typeof answerWith>, request: WireRequest): WireAnswer =>
  typeof script === "function" ? script(request) : script;
const shell = ["--enable", "run_bash", "--mode", "full", "--no-sandbox"];

/** Empty for a process that has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${Number(pid)}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

async function contentOf(path: string): Promise<string> {
  await expect.poll(() => existsSync(path) && readFileSync(path, "utf8")).toMatch(/\S/);
  return readFileSync(path, "utf8").trim();
}

describe("toolcrib acp", () => {
  test("works in the session's folder, shows a change before it is made, and ends with the editor", async () => {
    writeFileSync(join(work.folder, "a.txt"), "one\n");
    let before = "";
    const editor = await edit([], async () => {
      before = readFileSync(join(work.folder, "a.txt"), "utf8");
      return "once";
    });
    wire.script(call("read_file", { path: "a.txt" }));
    wire.script(call("edit_file", { path: "a.txt", edits: [{ old_text: "one", new_text: "two" }] }));
    wire.script(answer("Changed it."));
    expect(await editor.say("change one to two")).toEqual({ stopReason: "end_turn" });
    const path = join(work.folder, "a.txt");
    expect(before).toBe("one\n");
    expect(readFileSync(path, "utf8")).toBe("two\n");
    expect(editor.questions[0]?.toolCall).toMatchObject({
      kind: "edit",
      locations: [{ path }],
      content: [{ type: "content" }, { type: "diff", path, oldText: "one\n", newText: "two\n" }],
    });
    expect(editor.text("agent_message_chunk")).toBe("Changed it.");
    expect(editor.of("tool_call").map(({ kind }) => kind)).toEqual(["read", "edit"]);
    expect(wire.problems()).toEqual([]);
    // Standard output held the protocol and nothing else.
    for (const line of editor.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    editor.stdin.end();
    expect(await editor.ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("goes on with a session that an earlier one has begun, and asks its open question", async () => {
    mkdirSync(work.state);
    const crashing = startAcpProgram([bin, "acp", ...model()], options(), () => {
      crashing.child.kill("SIGKILL");
      return new Promise(() => {});
    });
    const first = await open(crashing);
    wire.script(call("write_file", { path: "b.txt", content: "new\n" }));
    first.say("write it").catch(() => undefined);
    await first.ended;

    const second = await edit([], async () => "always");
    const { agent } = second;
    const { sessions } = await agent.request("session/list", { cwd: work.folder });
    expect(sessions).toMatchObject([{ sessionId: first.sessionId, cwd: work.folder, title: "write it" }]);
    const { modes } = await agent.request("session/load", {
      sessionId: first.sessionId,
      cwd: work.folder,
      mcpServers: [],
    });
    expect(modes?.currentModeId).toBe("ask");
    expect(second.text("user_message_chunk")).toBe("write it");
    expect(second.of("tool_call")).toMatchObject([{ status: "pending", name: "write_file" }]);
    wire.script(answer("Written."), answer("Fine."));
    expect(await second.say("and?", first.sessionId)).toEqual({ stopReason: "end_turn" });
    expect(readFileSync(join(work.folder, "b.txt"), "utf8")).toBe("new\n");
    expect(second.questions).toHaveLength(1);
    // Kept for good, in the user's own folder.
    expect(readFileSync(join(work.state, "toolcrib/permissions.json"), "utf8")).toContain("b.txt");
    await expect(
      agent.request("session/load", { sessionId: "../../x", cwd: work.folder, mcpServers: [] }),
    ).rejects.toMatchObject({ code: -32002 });
  });

  test("a session that another one has open is refused in words", async () => {
    const [first, second] = [await edit(), await edit()];
    wire.script(answer("Hi."));
    await first.say("hi");
    const again = second.agent.request("session/load", {
      sessionId: first.sessionId,
      cwd: work.folder,
      mcpServers: [],
    });
    await expect(again).rejects.toMatchObject({ message: expect.stringContaining("is open in another toolcrib") });
  });

  test("the mode that the user chooses holds from then on", async () => {
    const editor = await edit();
    const { agent, sessionId } = editor;
    await agent.request("session/set_mode", { sessionId, modeId: "accept-edits" });
    wire.script(call("write_file", { path: "c.txt", content: "new\n" }), answer("Done."));
    await editor.say("write");
    expect(existsSync(join(work.folder, "c.txt"))).toBe(true);
    await agent.request("session/set_config_option", { sessionId, configId: "mode", value: "read-only" });
    wire.script(call("write_file", { path: "d.txt", content: "new\n" }), answer("No."));
    await editor.say("write more");
    expect(existsSync(join(work.folder, "d.txt"))).toBe(false);
    expect(editor.questions).toEqual([]);
    expect(editor.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  });

  test("two sessions are apart, each in its own folder", async () => {
    const editor = await edit(["--mode", "full"]);
    const other = join(work.folder, "other");
    mkdirSync(other);
    const { sessionId } = await editor.agent.request("session/new", { cwd: other, mcpServers: [] });
    const reply = (request: WireRequest): WireAnswer => {
      const last = (request.body.messages as { role: string; content: unknown }[]).at(-1);
      if (last?.role === "tool") return given(answer("Done."), request);
      const content = JSON.stringify(last).includes("for two") ? "two" : "one";
      return given(call("write_file", { path: "who.txt", content }), request);
    };
    wire.script(reply, reply, reply, reply);
    await Promise.all([editor.say("for one"), editor.say("for two", sessionId)]);
    expect(readFileSync(join(work.folder, "who.txt"), "utf8")).toBe("one");
    expect(readFileSync(join(other, "who.txt"), "utf8")).toBe("two");
    const outside = { path: "../who.txt", content: "out" };
    wire.script(call("write_file", outside), answer("No."));
    await editor.say("outside", sessionId);
    expect(readFileSync(join(work.folder, "who.txt"), "utf8")).toBe("one");
  });

  test("a folder's deny rules hold in its sessions, and its other settings once they are trusted", async () => {
    const config = { deny: ["effect:read(secret.txt)"], mode: "accept-edits", allow: ["remove"] };
    writeFileSync(join(work.folder, ".toolcrib.json"), JSON.stringify(config));
    writeFileSync(join(work.folder, "secret.txt"), "heron\n");
    const editor = await edit();
    wire.script(call("read_file", { path: "secret.txt" }), answer("No."));
    await editor.say("read it");
    expect(editor.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(JSON.stringify(editor.updates)).not.toContain("heron");
    const modeOf = async () => {
      const opened = await editor.agent.request("session/new", { cwd: work.folder, mcpServers: [] });
      return opened.modes?.currentModeId;
    };
    expect(await modeOf()).toBe("ask");
    const env = { XDG_STATE_HOME: work.state, HOME: work.folder };
    expect(await command(["config", "trust"], { cwd: work.folder, env })).toMatchObject({ code: 0 });
    expect(await modeOf()).toBe("accept-edits");
  });

  test("a session in the folder that the editor started it in is asked about on no terminal, and told of no more", async () => {
    mkdirSync(work.state, { recursive: true });
    writeFileSync(join(work.folder, ".toolcrib.json"), JSON.stringify({ mode: "full" }));
    const editor = await open(startAcp(model(), { ...options(), cwd: work.folder }));
    editor.stdin.end();
    expect(await editor.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining("is not used") });
  });

  test("MCP servers that the editor names are tools, asked about, and gone with the session", async () => {
    const editor = await edit([], async () => "once");
    const pid = join(work.folder, "pid");
    const code = `require("fs").writeFileSync(${JSON.stringify(pid)}, String(process.pid)); import(${JSON.stringify(bareServer)})`;
    const server = { name: "bare", command: process.execPath, args: ["-e", code], env: [{ name: "A", value: "b" }] };
    const asked = { cwd: work.folder, mcpServers: [server] };
    const { sessionId } = await editor.agent.request<{ sessionId: string }>("session/new", asked);
    wire.script(answer("Hi."));
    await editor.say("hi", sessionId);
    const tools = (wire.requests.at(-1)?.body.tools ?? []) as { function: { name: string } }[];
    const mounted = tools.map((tool) => tool.function.name).filter((name) => name.startsWith("mcp__bare__"));
    expect(mounted.length).toBeGreaterThan(0);
    const [name = ""] = mounted;
    wire.script(call(name, {}), answer("Done."));
    await editor.say("use it", sessionId);
    expect(editor.questions).toHaveLength(1);
    const process_ = await contentOf(pid);
    await editor.agent.request("session/close", { sessionId });
    await expect.poll(() => commandOf(process_)).toBe("");
  });

  test("MCP servers of the editor that do not work are told in the session, new or opened again", async () => {
    const editor = await edit();
    const code = "console.error('no token given'); process.exit(3)";
    const mcpServers = [
      { name: "gone", command: "/no/such/program", args: [], env: [] },
      { name: "Stops (at once)", command: process.execPath, args: ["-e", code], env: [] },
      { type: "http" as const, name: "web", url: "http://127.0.0.1:1/mcp", headers: [] },
      { type: "http" as const, name: "odd", url: "not an address", headers: [] },
    ];
    const asked = { cwd: work.folder, mcpServers };
    const { sessionId } = await editor.agent.request<{ sessionId: string }>("session/new", asked);
    const told = () => editor.of("agent_message_chunk").map(({ content }) => content.type === "text" && content.text);
    await expect.poll(told).toHaveLength(4);
    for (const words of ["gone", "no token given", "web", "odd"]) expect(told().join("\n")).toContain(words);
    wire.script(answer("Hi."));
    expect(await editor.say("hi", sessionId)).toEqual({ stopReason: "end_turn" });
    await editor.agent.request("session/load", { sessionId, cwd: work.folder, mcpServers: mcpServers.slice(0, 1) });
    await expect
      .poll(() =>
        told()
          .join("\n")
          .match(/server gone/g),
      )
      .toHaveLength(2);
  });

  test("a wrong folder, a missing key and a wrong flag are told in words", async () => {
    const program = start([]);
    const { agent } = program;
    await agent.request("initialize", { protocolVersion: 1 });
    const opened = (cwd: string) => agent.request("session/new", { cwd, mcpServers: [] });
    await expect(opened(".")).rejects.toMatchObject({ code: -32602 });
    await expect(opened(join(work.folder, "none"))).rejects.toThrow("ENOENT");
    const keyless = startAcp(["-m", "openai"], { cwd: work.folder, env: { HOME: work.folder } });
    await keyless.agent.request("initialize", { protocolVersion: 1 });
    await expect(keyless.agent.request("session/new", { cwd: work.folder, mcpServers: [] })).rejects.toThrow(
      "OPENAI_API_KEY",
    );
    keyless.stdin.end();
    await keyless.ended;
    const wrong = command(["acp", "--allow", "nope("], { cwd: work.folder });
    expect(await wrong).toMatchObject({ code: 2, stdout: "" });
  });

  test("lines that are no messages do not end it", async () => {
    const program = start([]);
    program.stdin.write('{"half": \n\u0000\u001b[2J\n[1,2]\n"text"\n');
    await program.agent.request("initialize", { protocolVersion: 1 });
    const { sessionId } = await program.agent.request("session/new", { cwd: work.folder, mcpServers: [] });
    expect(sessionId).toMatch(/^[\w-]+$/);
  });
});

describe.skipIf(process.platform !== "linux")("a command of toolcrib acp", () => {
  const command = "echo $$ > pid; sleep 1000 & echo $! > pid2; printf '\\033[31mred\\033[0m'; wait";

  async function running(ask?: AcpAsk): Promise<{ editor: Editor; turn: Promise<unknown>; pids: string[] }> {
    const editor = await edit(shell, ask);
    wire.script(call("run_bash", { command }));
    const turn = editor.say("run it").catch((error: unknown) => error);
    const pids = [await contentOf(join(work.folder, "pid")), await contentOf(join(work.folder, "pid2"))];
    return { editor, turn, pids };
  }

  async function expectGone(pids: readonly string[]): Promise<void> {
    for (const pid of pids) await expect.poll(() => commandOf(pid)).toBe("");
  }

  test("is shown while it runs, and ended by a cancel", async () => {
    const { editor, turn, pids } = await running();
    await expect.poll(() => JSON.stringify(editor.of("tool_call_update"))).toContain("red");
    expect(JSON.stringify(editor.updates)).not.toContain("\\u001b");
    expect(editor.of("tool_call")).toMatchObject([{ kind: "execute", title: command, rawInput: { command } }]);
    await editor.agent.notify("session/cancel", { sessionId: editor.sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(editor.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    await expectGone(pids);
  });

  test("ends with an editor that closes its end", async () => {
    const { editor, pids } = await running();
    editor.stdin.end();
    expect(await editor.ended).toMatchObject({ code: 0 });
    await expectGone(pids);
  });

  test("ends with an editor that was killed", async () => {
    const { editor, pids } = await running();
    // Both pipes break at once, as the system does it.
    editor.stdin.destroy();
    editor.stdout.destroy();
    await editor.ended;
    await expectGone(pids);
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    test(`ends with a program that gets ${signal}`, async () => {
      const { editor, pids } = await running();
      editor.signal(signal);
      await editor.ended;
      await expectGone(pids);
    });

  test("runs in the folder of its session", async () => {
    const editor = await edit(shell);
    wire.script(call("run_bash", { command: "pwd -P > where" }), answer("Done."));
    await editor.say("where");
    expect(readFileSync(join(work.folder, "where"), "utf8").trim()).toBe(realpathSync(work.folder));
  });
});
