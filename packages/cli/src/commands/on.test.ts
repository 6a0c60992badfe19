import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  answerWith,
  hasSshServer,
  hasTerminals,
  type ProgramEnd,
  sharedCommand,
  sharedWireServer,
  startAcpProgram,
  startOnTerminal,
  startProgram,
  startSshServer,
  temporaryFolder,
  writeIn,
} from "@toolcrib/testing";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const command = sharedCommand(bin);
const wire = await sharedWireServer();
const model = ["-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`];

/** Where the command runs, and the folder of the remote. */
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
  // A container that is a root of bubblewrap's where there is one, in which nothing but the folder can be changed.
  const root = `--ro-bind / / --dev /dev --proc /proc --bind ${there} ${there} --unshare-pid --die-with-parent`;
  const box = existsSync("/usr/bin/bwrap") ? `/usr/bin/bwrap ${root} -- ` : "";
  program("docker", `shift 3\nexec ${box}"$@"`);
  env = {
    PATH: `${join(base, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
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
    const outside = await call("read_file", { path: join(here, "AGENTS.md") });
    expect({ code: outside.code, stderr: outside.stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining("outside"),
    });
  });

  test("keep to --root, a folder there", async () => {
    const found = await toolcrib(["tools", "call", "search_files", "--pattern", "*", ...on, "--root", "src"]);
    expect(found.stdout).toBe("a.ts");
    const missing = await toolcrib(["tools", "list", ...on, "--root", "/missing"]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no directory /missing") });
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
    expect((await run('write "hi" to new.txt', "--mode", "accept-edits")).code).toBe(0);
    const secret = ["--deny", "effect:read(.env)"];
    const searched = await run("find TODO", ...secret);
    expect(searched).toMatchObject({ code: 0, stdout: expect.not.stringContaining("secret") });
    expect((await run("find TODO")).stdout).toContain("secret");
    expect((await run("read .env", ...secret, "--mode", "full")).stderr).toContain("is on the list of denied paths");
    const shell = ["tools", "call", "run_bash", "--enable", "run_bash", "--command", "pwd", ...on];
    expect((await toolcrib([...shell, "--mode", "ask"])).code).toBe(4);
    expect(await toolcrib(shell)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(there),
      stderr: expect.stringContaining("Commands run on docker:web without a sandbox"),
    });
    expect(
      (await toolcrib(["permissions", "explain", "move", '{"source":"a","destination":"b"}', ...on])).stdout,
    ).toContain("on docker:web");
  });

  test.skipIf(!hasTerminals())("shows the change there before it is made, and says what stays", async () => {
    const edits = [{ old_text: "const a = 1;", new_text: "const a = 2;" }];
    wire.script(
      answerWith({ calls: [{ name: "edit_file", args: JSON.stringify({ path: "src/a.ts", edits }) }] }),
      answerWith({ text: "Changed." }),
    );
    const chat = startOnTerminal(bin, ["chat", ...model, ...on], { cwd: here, env });
    await chat.shows(/help\s+lists\s+commands/);
    chat.type("change it\r");
    await chat.shows(/-const a = 1;\s+\+const a = 2;/);
    expect(readFileSync(join(there, "src/a.ts"), "utf8")).toContain("a = 1");
    chat.type("y\r");
    await chat.shows(/Changed\./);
    expect(readFileSync(join(there, "src/a.ts"), "utf8")).toContain("a = 2");
    chat.type("/undo\r");
    await chat.shows(/those on docker:web stay/);
    chat.type("/jobs\r");
    await chat.shows(/known only to the model/);
    const picture = join(here, "dot.png");
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    writeFileSync(picture, Buffer.from(png, "base64"));
    wire.script(answerWith({ text: "A dot." }));
    chat.type(`what is \u001b[200~${picture}\u001b[201~`);
    await chat.shows(/what is @\//);
    chat.type("\r");
    await chat.shows(/A dot\./);
    expect(wire.requests.at(-1)?.text).toContain("data:image/png;base64,");
    chat.type("look at @src/a\t");
    await chat.shows(/@src\/a\.ts/);
    chat.type("\u0003\u0004");
    expect(await chat.ended).toBe(0);
  });

  test("of an editor works there, with the changes shown", async () => {
    wire.script(
      answerWith({ calls: [{ name: "write_file", args: JSON.stringify({ path: "src/a.ts", content: "new" }) }] }),
      answerWith({ text: "Changed." }),
    );
    const asked: unknown[] = [];
    const acp = startAcpProgram([bin, "acp", ...model, ...on], { cwd: here, env }, (request) => {
      asked.push(request);
      return Promise.resolve(request.options[0]?.optionId);
    });
    onTestFinished(async () => {
      acp.child.kill("SIGKILL");
      await acp.ended;
    });
    await acp.agent.request("initialize", { protocolVersion: 1 });
    const { sessionId } = await acp.agent.request("session/new", { cwd: here, mcpServers: [] });
    await acp.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "change it" }] });
    expect(JSON.stringify(asked)).toContain(JSON.stringify("// TODO: there\nconst a = 1;\n"));
  });
});

test("a session of an editor that fails to open, or is closed, leaves no connection behind", async () => {
  const connect = async (...flags: string[]) => {
    const target = ["--on", "command:env", "--root", there];
    const acp = startAcpProgram([bin, "acp", ...model, ...target, ...flags], { cwd: here, env });
    onTestFinished(async () => {
      acp.child.kill("SIGKILL");
      await acp.ended;
    });
    await acp.agent.request("initialize", { protocolVersion: 1 });
    const children = (): string => readFileSync(`/proc/${acp.child.pid}/task/${acp.child.pid}/children`, "utf8");
    return { agent: acp.agent, open: () => acp.agent.request("session/new", { cwd: here, mcpServers: [] }), children };
  };
  const failing = await connect("--sandbox-allow", "all");
  await expect(failing.open()).rejects.toThrow("expected network, sockets or a protected path");
  await expect.poll(failing.children).toBe("");
  const { agent, open, children } = await connect();
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
    for (const [flags, says] of [
      [["--sandbox-allow", "all"], "--sandbox-allow all: expected network, sockets or a protected path"],
      [["--no-sandbox", "--sandbox-allow", "network"], "has no effect with --no-sandbox"],
    ] as const)
      expect(await toolcrib(["run", "list .", "-m", "offline", ...on, ...flags])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(says),
      });
  });

  test("is not connected for a wrong rule", async () => {
    const end = await toolcrib(["run", "x", "-m", "offline", "--on", "command:no-such", "--deny", "effect:read([)"]);
    expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining("is malformed") });
  });

  test("ends with the command, also by Ctrl-C", async () => {
    const script = "echo $$ $PPID > pid; exec sleep 600";
    const args = ["tools", "call", "run_bash", "--enable", "run_bash", "--command", script, "--on", "command:env"];
    const run = startProgram(bin, [...args, "--root", there], { cwd: here, env });
    const file = join(there, "pid");
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
    const pids = readFileSync(file, "utf8").trim().split(" ").map(Number);
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
    await expect.poll(() => pids.some(isAlive)).toBe(false);
  });

  test.runIf(hasSshServer)("may be another machine, by ssh", async () => {
    const { args, end } = await startSshServer();
    onTestFinished(end);
    const target = `command:ssh ${args.join(" ")} 127.0.0.1`;
    writeFileSync(join(here, "note.md"), "find TODO in src\n");
    const run = await toolcrib(["run", "@note.md", "-m", "offline", "--on", target, "--root", there]);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("src/a.ts") });
  });
});
