import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  answerWith,
  type ProgramEnd,
  sharedWireServer,
  startProgram,
  temporaryFolder,
  writeIn,
} from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { startAcp } from "../../fixtures/acp.ts";
import { bin, command, modelAt, onTerminal } from "../../fixtures/command.ts";

const wire = await sharedWireServer();
const model = modelAt(wire);

/** The folder the command runs in, and that of the remote. */
let here = "";
let there = "";
let env: Record<string, string> = {};
let on: string[] = [];

beforeEach(() => {
  const base = temporaryFolder("on");
  [here, there] = [join(base, "here"), join(base, "there")];
  mkdirSync(here);
  writeIn(there, "src/a.ts", "// TODO: there\nconst a = 1;\n");
  writeIn(there, ".env", "TODO=secret\n");
  writeIn(there, "AGENTS.md", "Use tabs there.\n");
  writeIn(here, "AGENTS.md", "Use spaces here.\n");
  program("docker", 'shift 3\nexec "$@"');
  env = {
    PATH: `${join(base, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
  };
  on = ["--on", `docker:web:${there}`];

  function program(name: string, script: string): void {
    writeIn(join(base, "bin"), name, `#!/bin/sh\n${script}\n`);
    chmodSync(join(base, "bin", name), 0o755);
  }
});

function toolcrib(args: readonly string[], input?: string): Promise<ProgramEnd> {
  return command(args, { cwd: here, env, ...(input !== undefined && { input }) });
}

/** The first lines of the only journal. */
function journal(): string {
  const sessions = join(env.XDG_STATE_HOME ?? "", "toolcrib", "sessions");
  const [own = ""] = readdirSync(sessions);
  const [name = ""] = readdirSync(join(sessions, own)).filter((one) => one.endsWith(".jsonl"));
  return readFileSync(join(sessions, own, name), "utf8");
}

describe("the tools", () => {
  test("are those of every other call, in the same order, and work there alone", async () => {
    const list = async (...flags: string[]): Promise<unknown[]> => {
      const { stdout } = await toolcrib(["tools", "list", "--json", ...flags]);
      const tools = JSON.parse(stdout) as { name: string; origin: string; description: string }[];
      // The shell there is sh, and run_bash names its shell.
      return tools.map(({ origin: _, description, ...tool }) => ({
        ...tool,
        ...(tool.name !== "run_bash" && { description }),
      }));
    };
    expect(await list(...on)).toEqual(await list());
    const call = (name: string, args: object): Promise<ProgramEnd> =>
      toolcrib(["tools", "call", name, JSON.stringify(args), ...on]);
    expect(await call("read_file", { path: "src/a.ts" })).toMatchObject({
      code: 0,
      stdout: "// TODO: there\nconst a = 1;\n",
    });
    await call("write_file", { path: "b.txt", content: "new" });
    expect([readdirSync(here), readFileSync(join(there, "b.txt"), "utf8")]).toEqual([["AGENTS.md"], "new"]);
  });

  test("keep to --root, a folder there", async () => {
    const found = await toolcrib(["tools", "call", "search_files", "--pattern", "*", ...on, "--root", "src"]);
    expect(found.stdout).toBe("a.ts");
  });

  test("are served, too", async () => {
    const serve = startProgram(bin, ["mcp", "serve", ...on], { cwd: here, env, input: "open" });
    const say = (id: number, method: string, params: object): void =>
      void serve.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    say(1, "initialize", client);
    say(2, "tools/call", { name: "read_file", arguments: { path: "src/a.ts" } });
    await serve.printed("TODO: there");
    serve.child.stdin?.end();
    expect((await serve.ended).code).toBe(0);
  });
});

test("a signal is heard while the remote is closed", async () => {
  writeIn(join(dirname(here), "bin"), "docker", '#!/bin/sh\nshift 3\n"$@"\ntouch "$0.closing"\nsleep 5\n');
  const list = command.start(["tools", "list", ...on], { cwd: here, env });
  await expect.poll(() => existsSync(join(dirname(here), "bin", "docker.closing")), { timeout: 20_000 }).toBe(true);
  expect(list.signal("SIGTERM")).toBe(true);
  expect((await list.ended).code).toBe(143);
});

describe("a conversation", () => {
  test("knows where it works, follows the instructions there, and is kept here", async () => {
    const { code, stdout, stderr } = await toolcrib(["run", "find TODO in src", "-m", "offline", ...on]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: expect.stringContaining("src/a.ts"),
      stderr: expect.stringContaining(`The tools work on docker:web, in ${there}.`),
    });
    expect(journal()).toContain(`files in ${there} on docker:web with the tools given`);
    expect(journal()).toContain("Use tabs there.");
    expect(journal()).not.toContain("Use spaces here.");
    const again = await toolcrib(["run", "-c", "list .", "-m", "offline", ...on]);
    expect(again.stderr).not.toContain("This conversation");
    const elsewhere = await toolcrib(["run", "-c", "list .", "-m", "offline"]);
    expect(elsewhere.stderr).toContain(`This conversation was about files in ${there} on docker:web, not in ${here}.`);
  });

  test("is bound by modes and rules as here: they count from the folder there", async () => {
    const run = (prompt: string, ...flags: string[]): Promise<ProgramEnd> =>
      toolcrib(["run", prompt, "-m", "offline", ...on, ...flags]);
    const write = 'write "hi" to src/new.txt';
    const asked = await run(write);
    expect(asked.code).toBe(4);
    expect(asked.stderr).toMatch(/write .*src\/new\.txt on docker:web/);
    expect(asked.stderr).toContain("--allow 'write_file(./src/new.txt)' allows exactly this");
    expect((await run(write, "--allow", "write_file(src/)")).code).toBe(0);
    const secret = ["--deny", "effect:read(.env)"];
    const searched = await run("find TODO", ...secret);
    expect(searched).toMatchObject({ code: 0, stdout: expect.not.stringContaining("secret") });
    const shell = ["tools", "call", "run_bash", "--enable", "run_bash", "--command", "pwd", ...on];
    expect(await toolcrib(shell)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(there),
      stderr: expect.stringContaining("Commands run on docker:web without a sandbox"),
    });
    expect(
      (await toolcrib(["permissions", "explain", "move", '{"source":"a","destination":"b"}', ...on])).stdout,
    ).toContain("on docker:web");
  });

  test("shows the change there before it is made, and says what stays", async () => {
    const edits = [{ old_text: "const a = 1;", new_text: "const a = 2;" }];
    wire.script(
      answerWith({ calls: [{ name: "edit_file", args: JSON.stringify({ path: "src/a.ts", edits }) }] }),
      answerWith({ text: "Changed." }),
    );
    const chat = onTerminal(["chat", ...model, ...on], { cwd: here, env });
    await chat.shows(/help\s+lists\s+commands/);
    await chat.enter("change it\r", /-const a = 1;\s+\+const a = 2;/);
    expect(readFileSync(join(there, "src/a.ts"), "utf8")).toContain("a = 1");
    await chat.enter("y\r", /Changed\./);
    expect(readFileSync(join(there, "src/a.ts"), "utf8")).toContain("a = 2");
    await chat.enter("/undo\r", /those on docker:web stay/);
    await chat.enter("/jobs\r", /known only to the model/);
    const picture = join(here, "dot.png");
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    writeFileSync(picture, Buffer.from(png, "base64"));
    wire.script(answerWith({ text: "A dot." }));
    await chat.enter(`what is \u001b[200~${picture}\u001b[201~`, /what is @\//);
    await chat.enter("\r", /A dot\./);
    expect(wire.requests.at(-1)?.text).toContain("data:image/png;base64,");
    await chat.enter("look at @src/a\t", /@src\/a\.ts/);
    chat.type("\u0003\u0004");
    expect(await chat.ended).toBe(0);
  });

  test("of an editor works there, with the changes shown", async () => {
    wire.script(
      answerWith({ calls: [{ name: "write_file", args: JSON.stringify({ path: "src/a.ts", content: "new" }) }] }),
      answerWith({ text: "Changed." }),
    );
    const asked: unknown[] = [];
    const acp = startAcp([...model, ...on], { cwd: here, env }, (request) => {
      asked.push(request);
      return Promise.resolve(request.options[0]?.optionId);
    });
    await acp.agent.request("initialize", { protocolVersion: 1 });
    const { sessionId } = await acp.agent.request("session/new", { cwd: here, mcpServers: [] });
    await acp.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "change it" }] });
    expect(JSON.stringify(asked)).toContain(JSON.stringify("// TODO: there\nconst a = 1;\n"));
  });
});

test("a session of an editor that fails to open, or is closed, leaves no connection behind", async () => {
  const read = (): string[] => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ");
  const before = new Set(read());
  const children = (): string =>
    read()
      .filter((pid) => !before.has(pid))
      .join(" ");
  const connect = async (...flags: string[]) => {
    const target = ["--on", "command:env", "--root", there];
    const acp = startAcp([...model, ...target, ...flags], { cwd: here, env });
    await acp.agent.request("initialize", { protocolVersion: 1 });
    return { agent: acp.agent, open: () => acp.agent.request("session/new", { cwd: here, mcpServers: [] }) };
  };
  const failing = await connect("--sandbox-allow", "all");
  await expect(failing.open()).rejects.toThrow("expected network, sockets or a protected path");
  await expect.poll(children).toBe("");
  const { agent, open } = await connect();
  const { sessionId } = await open();
  expect(children()).toMatch(/\d/);
  await agent.request("session/close", { sessionId });
  await expect.poll(children).toBe("");
});

describe("the remote", () => {
  test.each([
    ["web", 2, '--on: "web" names no remote; write docker:NAME'],
    ["docker:--privileged", 2, "names no remote"],
    ["command:no-such-program x", 1, "there is no such program on the PATH here"],
    ["command:sh -c exit", 1, "the connection ended (exit code 0)"],
    ["docker:web:/no/such", 1, "there is no directory /no/such"],
    ["command:env PATH=/nowhere HOME=/nowhere /bin/sh -c true", 1, "the connection ended"],
  ])("%s ends with exit code %d and a word", async (target, code, says) => {
    const end = await toolcrib(["run", "list .", "-m", "offline", "--on", target]);
    expect(end).toEqual({ code, stdout: "", stderr: expect.stringContaining(says) });
    expect(end.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("takes what is wrong with the sandbox as here", async () => {
    expect(await toolcrib(["run", "list .", "-m", "offline", ...on, "--sandbox-allow", "all"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--sandbox-allow all: expected network, sockets or a protected path"),
    });
  });

  test("is not connected for a wrong rule", async () => {
    const end = await toolcrib(["run", "x", "-m", "offline", "--on", "command:no-such", "--deny", "effect:reed(a)"]);
    expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining("is not a rule") });
  });

  test("ends with the command, also by Ctrl-C", async () => {
    const script = "echo $$ $PPID > pid; exec sleep 600";
    const args = ["tools", "call", "run_bash", "--enable", "run_bash", "--command", script, "--on", "command:env"];
    const run = command.start([...args, "--root", there], { cwd: here, env });
    const file = join(there, "pid");
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
    const pids = readFileSync(file, "utf8").trim().split(" ").map(Number);
    run.signal("SIGINT");
    expect((await run.ended).code).toBe(130);
    const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
    await expect.poll(() => pids.some(isAlive)).toBe(false);
  });
});
