import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { attempt, headAndTail } from "@toolcrib/core/internal";
import { LineSplitter } from "@toolcrib/kit/text";
import { ProcessGroup } from "@toolcrib/kit/threads";
import type { Redact } from "../redactErrors.ts";

/** Milliseconds that a server may take to end by itself when its input is closed. */
const inputGraceMs = 2000;
/** Milliseconds that the pipes of a server may stay open after it has ended, or it may run after they broke. */
const pipeGraceMs = 2000;
/** Bytes that are shown of what a server prints, half from its beginning and half from its end. */
const shownBytes = 2000;
const cutMark = "\n[…]\n";
/** Characters beside a cut that are not shown, as a secret may be cut there. */
const hiddenAtCut = 4000;
/** Characters that are kept of the beginning, and at least of the end. */
const keptText = shownBytes / 2 + hiddenAtCut;

interface ProcessParameters {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The beginning and the end of a text. */
class KeptText {
  #head = "";
  #tail = "";
  #length = 0;

  add(text: string): void {
    this.#length += text.length;
    const room = keptText - this.#head.length;
    if (room > 0) this.#head = copied(this.#head + text.slice(0, room));
    this.#tail += text.slice(room);
    if (this.#tail.length > 2 * keptText) this.#tail = copied(this.#tail.slice(-keptText));
  }

  /** Returns the text without secrets, cut at line ends if lines are short. */
  toText(redact: Redact): string {
    const isCut = this.#length > this.#head.length + this.#tail.length;
    const text = isCut
      ? redact(this.#head).slice(0, -hiddenAtCut) + cutMark + redact(this.#tail).slice(hiddenAtCut)
      : redact(this.#head + this.#tail);
    if (Buffer.byteLength(text) <= shownBytes) return text.trim();
    const { head, tail } = headAndTail(text, shownBytes);
    return (head.trimEnd() + cutMark + tail).trim();
  }
}

/** Copies a text: a slice would keep the text that it was taken from in memory. */
function copied(slice: string): string {
  return Buffer.from(slice).toString();
}

/**
 * Runs a server as a child process in its own process group. The group ends with the transport or with this process: its input
 * is closed, then it gets SIGTERM, then SIGKILL. A process that has left the group is not ended.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #child: Child;
  readonly #spawned: Promise<void>;
  /** Loaded while the process starts. */
  #sdk: typeof import("@modelcontextprotocol/client") | undefined;
  readonly #group: ProcessGroup | undefined;
  readonly #exited: Promise<void>;
  /** It has ended, and all that it wrote is read. */
  readonly #drained: Promise<unknown>;
  #ending: Promise<void> | undefined;
  #isClosed = false;
  /** The beginning and the end of what the server wrote to standard error, and of its lines on standard output that were no messages. */
  readonly errors: KeptText = new KeptText();
  readonly strayLines: KeptText = new KeptText();
  /** Says how the process has ended; undefined if it runs, or if we have ended it. */
  exitReason: string | undefined;
  /** True if it was ended for a message above the limit. */
  isTooLong = false;
  /** Its input broke: it has ended, or will, although the SDK closes this meanwhile. */
  #isBroken = false;
  #isSignalled = false;

  /** Starts the process; until `start` its lines count as no messages. Ends a server that sends a message of more bytes. */
  constructor({ command, args, env, cwd }: ProcessParameters, maxMessageBytes: number) {
    const child: Child = spawn(command, args, {
      env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
    }) as Child;
    this.#child = child;
    const fail = (error: Error): void => this.onerror?.(error);
    child.stdin.on("error", fail);
    child.stdout.on("error", fail);
    const lines = new LineSplitter(
      maxMessageBytes,
      (line) => this.#onLine(line),
      () => {
        this.isTooLong = true;
        void this.close();
      },
    );
    child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.errors.add(text));
    this.#drained = new Promise((resolve) => child.once("close", resolve));
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        const byItself = !this.#ending || (this.#isBroken && !this.#isSignalled);
        if (byItself) this.exitReason = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
        resolve();
      });
    });
    if (child.pid !== undefined) {
      this.#group = new ProcessGroup(spawn, child.pid);
      void this.#cleanUpAfterExit();
    }
    this.#spawned = new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    // Thrown by `start`.
    this.#spawned.catch(() => undefined);
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Returns null: the SDK requires it. */
  get stderr(): null {
    return null;
  }

  /** Resolves once the process has ended and all that it wrote is read, or after a moment: a pipe breaks before the end is known. */
  async whenExited(): Promise<void> {
    await Promise.race([this.#drained, sleep(pipeGraceMs, undefined, { ref: false })]);
  }

  /** Resolves once the process runs, and the SDK reads its messages. */
  async start(): Promise<void> {
    this.#sdk = await import("@modelcontextprotocol/client");
    await this.#spawned;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child.stdin;
    const sdk = this.#sdk;
    if (!sdk) return Promise.reject(new Error("The process of a server has not been started"));
    if (!input.writable) return Promise.reject(new sdk.SdkError(sdk.SdkErrorCode.NotConnected, "Not connected"));
    return new Promise((resolve, reject) => {
      input.write(sdk.serializeMessage(message), (error) => {
        this.#isBroken ||= Boolean(error);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    if (this.#group) {
      this.#child.stdin.end();
      await Promise.race([this.#exited, sleep(inputGraceMs, undefined, { ref: false })]);
      this.#isSignalled = true;
      await this.#group.end();
    }
    this.#emitClose();
  }

  /** Ends what the server has left in its group. */
  async #cleanUpAfterExit(): Promise<void> {
    await this.#exited;
    await this.#group?.end();
    await Promise.race([this.#drained, sleep(pipeGraceMs, undefined, { ref: false })]);
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    this.#emitClose();
  }

  #emitClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #onLine(line: string): void {
    if (this.#isClosed) return;
    const message = attempt(() => this.#sdk?.parseJSONRPCMessage(JSON.parse(line)));
    if (message) this.onmessage?.(message);
    // Many servers print a greeting.
    else this.strayLines.add(`${line}\n`);
  }
}
