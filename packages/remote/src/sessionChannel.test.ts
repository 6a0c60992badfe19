import { type ChildProcessByStdio, spawn } from "node:child_process";
import { dirname } from "node:path";
import { type Readable as NodeReadable, Readable, Writable } from "node:stream";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { createFsTools } from "@toolcrib/tools-fs";
import type { Experimental_SandboxSession } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPolicy } from "../../policy/src/index.ts";
import { connectTools } from "./connectTools.ts";
import type { DaytonaSandbox, E2BSandbox, Session, SessionProcess, SpawningSession } from "./sessionChannel.ts";

type Child = ChildProcessByStdio<Writable, NodeReadable, NodeReadable>;

/** The programs that a session has started: a sandbox that is this machine, with a Node.js that is new enough. */
const started: Child[] = [];
const start = (command: string): Child => {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const child = spawn("/bin/sh", ["-c", command], { env, stdio: ["pipe", "pipe", "pipe"] });
  started.push(child);
  return child;
};
const exitOf = (child: Child): Promise<{ exitCode: number }> =>
  new Promise((resolve) => child.once("close", (code) => resolve({ exitCode: code ?? 137 })));

/** The program of a session, by its streams. */
function programOf(child: Child): SessionProcess {
  const exit = exitOf(child);
  return {
    stdin: Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    stdout: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    stderr: Readable.toWeb(child.stderr) as ReadableStream<Uint8Array>,
    wait: () => exit,
    kill: async () => void child.kill("SIGKILL"),
  };
}

/** Typed as the AI SDK has it. */
function aiSession(): SpawningSession {
  const open: (options: { command: string }) => ReturnType<SpawningSession["spawn"]> = async ({ command }) =>
    programOf(start(command));
  const session: Pick<Experimental_SandboxSession, "spawn"> = { spawn: open as Experimental_SandboxSession["spawn"] };
  return session;
}

/** Output comes in pieces, cut anywhere. */
function inPieces(stream: NodeReadable, take: (text: string) => void): void {
  stream.setEncoding("utf8").on("data", (text: string) => {
    for (let at = 0; at < text.length; at += 1000) take(text.slice(at, at + 1000));
  });
}

function e2bSandbox(): E2BSandbox {
  return {
    commands: {
      async run(command, { onStdout, onStderr }) {
        const child = start(command);
        const exit = exitOf(child);
        inPieces(child.stdout, onStdout);
        inPieces(child.stderr, onStderr);
        return {
          sendStdin: async (data) => void child.stdin.write(data),
          closeStdin: async () => void child.stdin.end(),
          // As E2B does it.
          wait: async () => {
            const { exitCode } = await exit;
            if (exitCode !== 0) throw new Error(`exit status ${exitCode}`);
            return { exitCode };
          },
          kill: async () => child.kill("SIGKILL"),
        };
      },
    },
  };
}

function daytonaSandbox(): DaytonaSandbox {
  const sessions = new Map<string, Child | undefined>();
  return {
    process: {
      createSession: async (id) => sessions.set(id, undefined),
      async executeSessionCommand(id, { command }) {
        sessions.set(id, start(command));
        return { cmdId: "1" };
      },
      async getSessionCommandLogs(id, _command, onStdout, onStderr) {
        const child = sessions.get(id);
        if (!child) throw new Error("no such session");
        inPieces(child.stdout, onStdout);
        inPieces(child.stderr, onStderr);
        return await exitOf(child);
      },
      // It may end each input with a line break of its own, and echo it.
      async sendSessionCommandInput(id, _command, data) {
        sessions.get(id)?.stdin.write(`${data}\n`);
        sessions.get(id)?.stdout.emit("data", data);
      },
      deleteSession: async (id) => sessions.get(id)?.kill("SIGKILL"),
    },
  };
}

const makers: readonly [string, () => Session][] = [
  ["the AI SDK", aiSession],
  ["E2B", e2bSandbox],
  ["Daytona", daytonaSandbox],
];

describe.each(makers)("a session of %s", (_name, make) => {
  test("runs the tools, and ends with them", async () => {
    const folder = temporaryFolder("session");
    writeIn(folder, "src/ä.txt", "eins\nzwei\n".repeat(2000));
    const remote = await connectTools(make(), { root: folder, cwd: folder });
    onTestFinished(() => remote.close());
    const registry = new ToolRegistry();
    registry.register(...remote.tools);
    expect(await registry.execute("search_files", { pattern: "**" })).toBe("src/ä.txt");
    expect(await registry.execute("read_file", { path: "src/ä.txt" })).toMatch(/^eins\nzwei\n/);
    expect(await registry.execute("run_bash", { command: "exit 3" })).toContain('"exit_code":3');
    const [child] = started.slice(-1);
    await remote.close();
    await expect.poll(() => child?.exitCode ?? child?.signalCode).not.toBeNull();
  });

  test("whose program dies fails the call that runs, and the next one starts it again", async () => {
    const folder = temporaryFolder("session");
    const remote = await connectTools(make(), { cwd: folder, name: "box" });
    onTestFinished(() => remote.close());
    const registry = new ToolRegistry();
    registry.register(...remote.tools);
    const died = await registry.execute("run_bash", { command: "kill -9 $PPID; sleep 600" });
    expect(died).toContain("The remote box ended during the call, which may have completed");
    expect(await registry.execute("mkdir", { path: "again" })).not.toMatch(/^Error/);
  });
});

test("a session that refuses to start a program is an error that says so", async () => {
  const session: SpawningSession = { spawn: () => Promise.reject(new Error("stdin is not supported")) };
  await expect(connectTools(session)).rejects.toThrow(/could not start a program: stdin is not supported/);
});

/** As a remote lists a tool of the packs. */
const packs = createFsTools()
  .filter(({ name }) => name === "mkdir")
  .map((tool) => ({ ...tool, schema: tool.getSchema(), timeoutMs: 30_000, hasEffects: true }));

/** A session whose program answers as `script` says, in Node, instead of the one that it is asked to start. */
function lying(script: string, change: Partial<SessionProcess> = {}): SpawningSession {
  return {
    spawn: async () => {
      const program = `const send = (frame) => console.log(JSON.stringify(frame));
        const tool = (name) => ({ schema: { type: "function", function: { name, description: "d", parameters: { type: "object" } } },
          origin: "@toolcrib/tools-fs", timeoutMs: 30000, hasEffects: true, readOnly: true });
        const packs = ${JSON.stringify(packs)};
        const ready = () => send({ type: "ready", protocol: 1, roots: null, node: "v24", cwd: "/", tools: [tool("look"), tool("read_file"), ...packs] });
        require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
          let frame; try { frame = JSON.parse(line); } catch { return; }
          if (!frame.type) return;
          ${script}
        });`;
      const child = start(`exec "${process.execPath}" -e '${program.replaceAll("'", "'\\''")}'`);
      return { ...programOf(child), ...change };
    },
  };
}

async function registryOf(session: SpawningSession): Promise<ToolRegistry> {
  const remote = await connectTools(session, { name: "box" });
  onTestFinished(() => remote.close());
  const registry = new ToolRegistry();
  registry.register(...remote.tools);
  return registry;
}

describe("a remote that lies", () => {
  test("about what was asked is no yes of a guard", async () => {
    const script = `if (frame.type === "start") ready();
      else send({ type: "result", id: frame.id, output: "done" });`;
    const registry = await registryOf(lying(script));
    registry.guard(({ effects, effectsError }) => (effects === undefined ? String(effectsError) : true));
    expect(await registry.execute("mkdir", { path: "x" })).toContain("sent an unexpected answer");
  });

  test("about what its own tools do is not believed: they are judged as those of a stranger", async () => {
    const script = `if (frame.type === "start") ready();
      else if (frame.type === "effects-of") send({ type: "effects", id: frame.id, effects: [{ kind: "read", path: "/root/x" }] });
      else send({ type: "result", id: frame.id, output: "done" });`;
    const registry = await registryOf(lying(script));
    const seen = registry.listTools().map(({ name, origin, readOnly, hints }) => ({ name, origin, readOnly, hints }));
    const stranger = { origin: "box: own", readOnly: undefined, hints: { readOnly: true } };
    expect(seen.slice(0, 2)).toEqual([
      { name: "look", ...stranger },
      { name: "read_file", ...stranger },
    ]);
    expect(seen[2]).toMatchObject({ name: "mkdir", origin: "box: @toolcrib/tools-fs", hints: undefined });
    for (const mode of ["ask", "accept-edits"] as const) {
      const policy = createPolicy({ mode, remotes: { box: { roots: "/root" } } });
      registry.guard(policy.guard);
      for (const name of ["look", "read_file"])
        expect(await registry.execute(name, {})).toMatch(/^Error executing \w+: Approval required/);
    }
    const strict = await registryOf(lying(script));
    strict.guard(createPolicy({ mode: "read-only" }).guard);
    expect(await strict.execute("look", {})).toContain("Permission denied");
  });

  test("about its tools is an error that says so", async () => {
    const script = `send({ type: "ready", protocol: 1, roots: null, node: "v24", cwd: "/", tools: [null] });`;
    await expect(registryOf(lying(script))).rejects.toThrow(/listed its tools in another form/);
  });

  test("with progress of another form, or that nobody can take, changes nothing", async () => {
    const script = `if (frame.type === "start") ready();
      else { for (const progress of [null, 7, { message: {} }, { message: "half" }]) send({ type: "progress", id: frame.id, progress });
        send({ type: "result", id: frame.id, output: "done" }); }`;
    const seen: unknown[] = [];
    const remote = await connectTools(lying(script));
    onTestFinished(() => remote.close());
    const onProgress = (progress: unknown): never => {
      seen.push(progress);
      throw new Error("no");
    };
    expect(await remote.tools[0]?.execute({}, { onProgress })).toBe("done");
    expect(seen).toEqual([{ message: "half" }]);
  });

  test("and fails later is started again by the next call", async () => {
    const script = `if (frame.type === "start") ready();
      else send({ type: "failed", problem: "tired" });`;
    const registry = await registryOf(lying(script));
    const before = started.length;
    for (let call = 0; call < 3; call += 1)
      expect(await registry.execute("mkdir", { path: "x" })).toContain(
        "ended during the call, which may have completed (tired)",
      );
    expect(started.length).toBe(before + 2);
    await expect
      .poll(() => started.slice(before - 1, before + 1).every((child) => (child.exitCode ?? child.signalCode) !== null))
      .toBe(true);
  });
});

describe("a session that does not do as it should", () => {
  test("does not keep close waiting, nor let it throw", async () => {
    const script = `if (frame.type === "start") ready();`;
    const never = (): Promise<never> => new Promise(() => {});
    const throws = (): never => {
      throw new Error("gone");
    };
    for (const kill of [never, throws]) {
      const remote = await connectTools(lying(script, { kill, wait: never }));
      await remote.close();
      for (const child of started) child.kill("SIGKILL");
    }
  });

  test("by never starting the program is left at the time limit, and by a signal", async () => {
    const session: SpawningSession = { spawn: () => new Promise(() => {}) };
    await expect(connectTools(session, { startTimeoutMs: 50 })).rejects.toThrow(/did not answer within 50 ms/);
    const controller = new AbortController();
    const connecting = connectTools(session, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(connecting).rejects.toThrow("enough");
  });
});
