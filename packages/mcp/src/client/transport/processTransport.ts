import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { LineSplitter } from "@toolcrib/kit/text";
import { type ProcessGroup, watchGroup } from "@toolcrib/kit/threads";

/** Milliseconds that a server may take to end by itself when its input is closed. */
const inputGraceMs = 2000;
/** Milliseconds that the pipes of a server may stay open after it has ended. */
const pipeGraceMs = 500;
const maxErrorText = 2000;

interface ProcessParameters {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  stderr?: "pipe" | "ignore";
}

type Child = ChildProcessByStdio<Writable, Readable, Readable | null>;

/**
 * Runs a server as a child process in its own process group. The group ends with the transport or with this process: its input
 * is closed, then it gets SIGTERM, then SIGKILL. A process that has left the group is not ended.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The SDK starts a second process from these to ask which protocol is spoken (`versionNegotiation`). */
  readonly _serverParams: ProcessParameters;
  #child: Child | undefined;
  #group: ProcessGroup | undefined;
  #exited: Promise<void> = Promise.resolve();
  #ending: Promise<void> | undefined;
  #isClosed = false;
  #errorText = "";
  #isTooLong = false;
  readonly #maxMessageBytes: number;

  /** Ends a server that sends a longer message. The SDK leaves the limit out for its second process, which sends short ones. */
  constructor(parameters: ProcessParameters, maxMessageBytes: number = 1024 * 1024) {
    this._serverParams = parameters;
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** Returns whether it was ended for a message above the limit. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Returns null: the SDK requires it. */
  get stderr(): null {
    return null;
  }

  /** Returns the end of what the server wrote to standard error. */
  get errorText(): string {
    return this.#errorText;
  }

  start(): Promise<void> {
    if (this.#child || this.#isClosed) throw new Error("The process of a server can be started only once");
    const { command, args, env, cwd, stderr = "pipe" } = this._serverParams;
    const child: Child = spawn(command, args, {
      env,
      stdio: ["pipe", "pipe", stderr],
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
    }) as Child;
    this.#child = child;
    const fail = (error: Error): void => this.onerror?.(error);
    child.stdin.on("error", fail);
    child.stdout.on("error", fail);
    const lines = new LineSplitter(
      this.#maxMessageBytes,
      (line) => this.#onLine(line),
      () => this.#refuseMessage(),
    );
    child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-maxErrorText);
    });
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve()));
    if (child.pid !== undefined) {
      this.#group = watchGroup(spawn, child.pid);
      void this.#cleanUpAfterExit(child);
    }
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) return Promise.reject(new SdkError(SdkErrorCode.NotConnected, "Not connected"));
    return new Promise((resolve, reject) => {
      input.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  /** Ends the second process; the SDK calls it. */
  _dispose(): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    if (this.#group) {
      this.#child?.stdin.end();
      await Promise.race([this.#exited, sleep(inputGraceMs, undefined, { ref: false })]);
      await this.#group.end();
    }
    this.#emitClose();
  }

  /** Ends what the server has left in its group. */
  async #cleanUpAfterExit(child: Child): Promise<void> {
    const closed = new Promise((resolve) => child.once("close", resolve));
    await this.#exited;
    await this.#group?.end();
    await Promise.race([closed, sleep(pipeGraceMs, undefined, { ref: false })]);
    child.stdout.destroy();
    child.stderr?.destroy();
    this.#emitClose();
  }

  #emitClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #onLine(line: string): void {
    if (this.#isClosed) return;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch {
      // Many servers print a greeting. A line that is not a message is skipped.
      return;
    }
    this.onmessage?.(message);
  }

  #refuseMessage(): void {
    this.#isTooLong = true;
    void this.close();
  }
}
