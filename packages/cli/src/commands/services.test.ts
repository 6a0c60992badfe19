import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { answerWith, jsonOf, type ProgramEnd, routeServices, sharedWireServer } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { startAcp } from "../../fixtures/acp.ts";
import { command, homeFor } from "../../fixtures/command.ts";

const work = homeFor("services");
const wire = await sharedWireServer();
routeServices(wire);

const call = (name: string, args: object) =>
  answerWith({ text: "Looking.", calls: [{ name, args: JSON.stringify(args) }] });
const answer = (text: string) => answerWith({ text });

describe.each([
  { title: "Anthropic", model: "anthropic/claude-sonnet-5-5", isEnforced: true },
  { title: "Anthropic with an older account", model: "anthropic/claude-opus-5-5", isEnforced: false },
  { title: "OpenAI", model: "openai/gpt-6.1-terra", isEnforced: true },
])("at $title the command sends nothing that is refused, and loses no thinking,", ({ model, isEnforced }) => {
  beforeEach(() => {
    wire.account.isEnforced = isEnforced;
  });
  const env = (): Record<string, string> => ({
    ANTHROPIC_API_KEY: "sk-routed-0123456789",
    OPENAI_API_KEY: "sk-routed-0123456789",
    XDG_STATE_HOME: work.state,
    HOME: work.folder,
  });
  const toolcrib = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
    command(args, { cwd: work.folder, env: env(), ...(input !== undefined && { input }) });
  const run = async (prompt: string, ...args: string[]): Promise<string> => {
    const end = await toolcrib(["run", prompt, "--mode", "full", "-m", model, ...args]);
    expect(end).toMatchObject({ code: 0 });
    return end.stdout;
  };
  const at = (path: string): string => work.at(path);

  test("when a conversation goes on with other flags, instructions and an answer by a schema", async () => {
    writeFileSync(at("a.txt"), "one\n");
    wire.script(call("read_file", { path: "a.txt" }), answer("It says one."));
    await run("what is in a.txt?");
    wire.script(call("list_dir", { path: "." }), answer("Still one."));
    await run("and now?", "-c", "--disable", "write_file", "--enable", "run_bash", "--no-sandbox");
    writeFileSync(at("AGENTS.md"), "Answer in French.\n");
    wire.script(call("list_dir", { path: "." }), answer("Un."));
    expect(await run("et maintenant?", "-c")).toContain("Un.\n");
    expect(wire.requests.at(-1)?.text).toContain("Answer in French.");
    const schema = {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
      additionalProperties: false,
    };
    writeFileSync(at("schema.json"), JSON.stringify(schema));
    wire.script((request) => {
      const script = /"(output_config|text)":\{[^}]*"format"/.test(request.text)
        ? answer('{"count":1}')
        : call("final_answer", { count: 1 });
      return typeof script === "function" ? script(request) : script;
    });
    expect(JSON.parse(await run("how many?", "-c", "--output-schema", "schema.json"))).toEqual({ count: 1 });
    wire.script(answer("Enough."));
    await run("thanks", "-c");
    expect(wire.takeProblems()).toEqual([]);
  });

  test("when the context is full: in chat results are cut, and /compact says what it left out", async () => {
    writeFileSync(at("long.txt"), "a line of words\n".repeat(1500));
    const tooLong = jsonOf({ type: "error", error: { message: "the prompt is too long" } }, { status: 400 });
    wire.script(call("read_file", { path: "long.txt" }), tooLong, answer("It says much."));
    wire.script(answer("And more. ".repeat(3000)), tooLong, answer("Lines, and more."));
    const chat = await toolcrib(["chat", "--mode", "full", "-m", model], "what is in long.txt?\nmore\n/compact\n");
    expect(chat.stdout).toContain("It says much.");
    expect(chat.stderr).toContain("Long messages were cut to make room.");
    expect(chat.stderr).toMatch(
      /A summary now replaces \d messages\.( Older messages that did not fit are left out: \d\.)?/,
    );
    for (const problem of wire.takeProblems()) expect(problem).toMatch(/is left out|thinking is lost/);
  });

  test("when a chat turns tools off and on, shortens itself, takes changes back and goes on in another process", async () => {
    writeFileSync(at("a.txt"), "mine\n");
    const writes = (content: string) => wire.script(call("write_file", { path: "a.txt", content }), answer("Written."));
    writes("model\n");
    wire.script(answer("Off."));
    writes("again\n");
    wire.script(
      answer("I see."),
      answer("They wrote a.txt."),
      call("read_file", { path: "a.txt" }),
      answer("It is yours."),
    );
    const lines = [
      "write",
      "/tools disable list_dir",
      "off?",
      "/tools enable list_dir",
      "write again",
      "/undo",
      "what now",
      "/compact",
      "read it",
      "/stats",
    ];
    const chat = await toolcrib(["chat", "--mode", "full", "-m", model], `${lines.join("\n")}\n`);
    expect(chat.stderr).toContain("Taken back: write again");
    expect(chat.stderr).toContain("A summary now replaces");
    expect(readFileSync(at("a.txt"), "utf8")).toBe("model\n");
    wire.script(answer("Still here."), answer("And again."));
    const next = await toolcrib(["chat", "-c", "-m", model], "hello\nand now\n");
    expect(next.stdout).toContain("And again.");
    expect(wire.takeProblems()).toEqual([]);
  });

  test("in an editor that changes modes, and goes on with a session in another process", async () => {
    const open = async (session?: string) => {
      const program = startAcp(["-m", model], { cwd: work.folder, env: env() }, async () => "once");
      const { agent } = program;
      await agent.request("initialize", { protocolVersion: 1 });
      const place = { cwd: work.folder, mcpServers: [] };
      const opened =
        session === undefined ? await agent.request<{ sessionId: string }>("session/new", place) : undefined;
      const sessionId = session ?? opened?.sessionId ?? "";
      if (session !== undefined) await agent.request("session/load", { sessionId, ...place });
      const say = (text: string) => agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      return { program, agent, sessionId, say };
    };
    mkdirSync(work.state, { recursive: true });
    const first = await open();
    wire.script(call("write_file", { path: "a.txt", content: "a" }), answer("Written."));
    expect(await first.say("write")).toEqual({ stopReason: "end_turn" });
    await first.agent.request("session/set_mode", { sessionId: first.sessionId, modeId: "read-only" });
    wire.script(call("write_file", { path: "b.txt", content: "b" }), answer("I may not."));
    await first.say("write more");
    first.program.stdin.end();
    await first.program.ended;
    const second = await open(first.sessionId);
    wire.script(call("read_file", { path: "a.txt" }), answer("It says a."));
    expect(await second.say("and now?")).toEqual({ stopReason: "end_turn" });
    expect(wire.takeProblems()).toEqual([]);
  });
});
