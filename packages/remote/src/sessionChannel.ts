import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, messageOf } from "@toolcrib/core/text";
import { type Channel, type ChannelEvents, inputGraceMs } from "./channel.ts";

/** A program that a session has started. The shape is that of the AI SDK's `Experimental_WritableSandboxProcess`. */
export interface SessionProcess {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  wait(): PromiseLike<{ readonly exitCode: number }>;
  kill(): PromiseLike<void>;
}

/** A sandbox session that starts programs with streams: the AI SDK's `Experimental_SandboxSession` (ai 7). */
export interface SpawningSession {
  spawn(options: { command: string; stdin: true }): PromiseLike<SessionProcess>;
}

/** A sandbox of E2B (`Sandbox` of e2b 2). */
export interface E2BSandbox {
  readonly commands: {
    run(
      command: string,
      options: {
        background: true;
        stdin: true;
        timeoutMs: number;
        onStdout: (text: string) => void;
        onStderr: (text: string) => void;
      },
    ): Promise<{
      sendStdin(data: string): Promise<void>;
      closeStdin?(): Promise<void>;
      wait(): Promise<{ readonly exitCode: number }>;
      kill(): Promise<unknown>;
    }>;
  };
}

/** A sandbox of Daytona (`Sandbox` of @daytonaio/sdk). */
export interface DaytonaSandbox {
  readonly process: {
    createSession(id: string): Promise<unknown>;
    executeSessionCommand(
      id: string,
      request: { command: string; runAsync: true },
    ): Promise<{ readonly cmdId?: string | undefined }>;
    getSessionCommandLogs(
      id: string,
      commandId: string,
      onStdout: (text: string) => void,
      onStderr: (text: string) => void,
    ): Promise<unknown>;
    sendSessionCommandInput(id: string, commandId: string, data: string): Promise<unknown>;
    deleteSession(id: string): Promise<unknown>;
  };
}

export type Session = SpawningSession | E2BSandbox | DaytonaSandbox;

/** A program that runs, whatever started it. */
interface Running {
  write(text: string): PromiseLike<unknown>;
  endInput(): PromiseLike<unknown>;
  kill(): PromiseLike<unknown>;
  /** Resolves to how it ended, in words. */
  readonly ended: Promise<string>;
}

export function isSession(value: unknown): value is Session {
  return startOf(value) !== undefined;
}

/** Starts `command`, a line for a shell, in the session. */
export function openSession(session: Session, command: string, on: ChannelEvents): Channel {
  const start = startOf(session);
  const starting = start === undefined ? Promise.reject(new TypeError("no session")) : start(command, on);
  let isEnded = false;
  const end = (how: string): void => {
    if (!isEnded) on.end(how);
    isEnded = true;
  };
  starting.then(
    ({ ended }) => void ended.then(end, (error) => end(`: ${messageOf(error)}`)),
    (error) => end(`: the session could not start a program: ${messageOf(error)}`),
  );
  // One piece after the other: each may be a request of its own.
  let written: Promise<unknown> = starting;
  return {
    send(text) {
      written = written.then(async () => (await starting).write(text));
      written.catch((error) => end(`: the session accepts no input: ${messageOf(error)}`));
    },
    async close() {
      const kill = async ({ kill }: Running): Promise<unknown> => await kill();
      const running = await soon(starting);
      if (running === undefined) {
        // It may start yet.
        starting.then(kill).catch(() => undefined);
        return;
      }
      await soon(written.then(running.endInput));
      await soon(running.ended);
      await soon(kill(running));
    },
  };
}

/** Returns what it resolves to; undefined where it fails, or takes too long. */
async function soon<T>(promise: Promise<T>): Promise<T | undefined> {
  return await Promise.race([promise.catch(() => undefined), sleep(inputGraceMs, undefined, { ref: false })]);
}

function startOf(session: unknown): ((command: string, on: ChannelEvents) => Promise<Running>) | undefined {
  if (!isObject(session)) return undefined;
  const { spawn, commands, process } = session as Partial<SpawningSession & E2BSandbox & DaytonaSandbox>;
  if (typeof spawn === "function") return (command, on) => startSpawning(session as never, command, on);
  if (typeof commands?.run === "function") return (command, on) => startE2B(session as never, command, on);
  if (typeof process?.executeSessionCommand === "function")
    return (command, on) => startDaytona(session as never, command, on);
  return undefined;
}

async function startSpawning(session: SpawningSession, command: string, on: ChannelEvents): Promise<Running> {
  const program = await session.spawn({ command, stdin: true });
  const input = program.stdin.getWriter();
  const reading = Promise.all([
    program.stdout.pipeTo(new WritableStream({ write: (chunk) => on.data(chunk) })),
    program.stderr.pipeTo(
      new WritableStream({ write: (chunk: Uint8Array) => on.errorText(Buffer.from(chunk).toString()) }),
    ),
  ]).catch(() => undefined);
  const encoder = new TextEncoder();
  return {
    write: (text) => input.write(encoder.encode(text)),
    endInput: () => input.close(),
    kill: () => program.kill(),
    ended: Promise.resolve(program.wait()).then(async ({ exitCode }) => {
      await reading;
      return ` (exit code ${exitCode})`;
    }),
  };
}

async function startE2B({ commands }: E2BSandbox, command: string, on: ChannelEvents): Promise<Running> {
  const handle = await commands.run(command, {
    background: true,
    stdin: true,
    // No limit: it runs as long as the connection.
    timeoutMs: 0,
    onStdout: (text) => on.data(Buffer.from(text)),
    onStderr: (text) => on.errorText(text),
  });
  return {
    write: (text) => handle.sendStdin(text),
    endInput: async () => handle.closeStdin?.(),
    kill: () => handle.kill(),
    ended: handle.wait().then(({ exitCode }) => ` (exit code ${exitCode})`),
  };
}

async function startDaytona({ process }: DaytonaSandbox, command: string, on: ChannelEvents): Promise<Running> {
  const id = `toolcrib-${randomUUID()}`;
  await process.createSession(id);
  const { cmdId } = await process.executeSessionCommand(id, { command, runAsync: true });
  if (cmdId === undefined) throw new Error("it returned no id for the command");
  const logs = process.getSessionCommandLogs(
    id,
    cmdId,
    (text) => on.data(Buffer.from(text)),
    (text) => on.errorText(text),
  );
  return {
    write: (text) => process.sendSessionCommandInput(id, cmdId, text),
    // It has no way to close the input of a command: ending the session ends it.
    endInput: () => process.deleteSession(id),
    kill: async () => undefined,
    ended: Promise.resolve(logs).then(() => ""),
  };
}
