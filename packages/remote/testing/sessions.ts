import { type ChildProcessByStdio, spawn } from "node:child_process";
import { dirname } from "node:path";
import { type Readable as NodeReadable, Readable, Writable } from "node:stream";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import type { Experimental_SandboxSession } from "ai";
import { expect, onTestFinished } from "vitest";
import { connectTools } from "../src/connectTools.ts";
import type { DaytonaSandbox, E2BSandbox, Session, SessionProcess, SpawningSession } from "../src/sessionChannel.ts";

type Child = ChildProcessByStdio<Writable, NodeReadable, NodeReadable>;

/** The programs that a session has started: a sandbox that is this machine, with a Node.js that is new enough. */
export const started: Child[] = [];
export const start = (command: string): Child => {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const child = spawn("/bin/sh", ["-c", command], { env, stdio: ["pipe", "pipe", "pipe"] });
  started.push(child);
  return child;
};
const exitOf = (child: Child): Promise<{ exitCode: number }> =>
  new Promise((resolve) => child.once("close", (code) => resolve({ exitCode: code ?? 137 })));

/** The program of a session, by its streams. */
export function programOf(child: Child): SessionProcess {
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
export function aiSession(): SpawningSession {
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

export function e2bSandbox(): E2BSandbox {
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

export function daytonaSandbox(): DaytonaSandbox {
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

/** A session runs the tools and ends with them; one whose program dies is started again by the next call. */
export async function checkSession(session: Session): Promise<void> {
  const folder = temporaryFolder("session");
  writeIn(folder, "src/ä.txt", "eins\nzwei\n".repeat(2000));
  const remote = await connectTools(session, { root: folder, cwd: folder, name: "box" });
  onTestFinished(() => remote.close());
  const registry = new ToolRegistry(remote.tools);
  expect(await registry.execute("search_files", { pattern: "**" })).toBe("src/ä.txt");
  expect(await registry.execute("read_file", { path: "src/ä.txt" })).toMatch(/^eins\nzwei\n/);
  const died = await registry.execute("run_bash", { command: "kill -9 $PPID; sleep 600" });
  expect(died).toContain("The remote box ended during the call, which may have completed");
  expect(await registry.execute("run_bash", { command: "exit 3" })).toContain('"exit_code":3');
  const [child] = started.slice(-1);
  await remote.close();
  await expect.poll(() => child?.exitCode ?? child?.signalCode).not.toBeNull();
}
