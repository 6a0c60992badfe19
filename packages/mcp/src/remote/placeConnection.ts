import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { clip, withoutControls } from "@toolcrib/core/text";
import { type ProcessGroup, watchGroup } from "../client/transport/processGroup.ts";
import { LineSplitter } from "../lineSplitter.ts";
import {
  maxFrameBytes,
  type PlaceOptions,
  pingMs,
  protocolVersion,
  type Reply,
  type Request,
  silenceMs,
} from "./frames.ts";
import { packedHost } from "./hostFile.ts";
import type { ResolvedTarget } from "./target.ts";

/** Milliseconds that the host may take to end by itself when its input is closed. */
const inputGraceMs = 2000;
const maxErrorText = 2000;

/** A request as it is made here: its id is given when it is sent. */
type Asked = { readonly type: "call" | "effects" } & Omit<
  Extract<Request, { type: "call" | "effects" }>,
  "id" | "type"
>;

type Ready = Extract<Reply, { type: "ready" }>;
/** What ends a request. */
export type Answer = Extract<Reply, { type: "result" | "effects" | "error" }>;

interface Pending {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((progress: Extract<Reply, { type: "progress" }>["progress"]) => void) | undefined;
}

/** The connection ended before the answer: the request may have been carried out. */
export class PlaceEnded extends Error {}

/** One running host: a process here that leads to it. It is started once, and of no use after its end. */
export class PlaceConnection {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #group: ProcessGroup | undefined;
  readonly #exited: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  readonly #ready = Promise.withResolvers<Ready>();
  #nextId = 1;
  #errorText = "";
  #problem: string | undefined;
  #heard = performance.now();
  #closing: Promise<void> | undefined;

  constructor(target: ResolvedTarget, options: PlaceOptions, onEnd: () => void) {
    const file = packedHost();
    this.#child = spawn(target.command, [...target.args], {
      env: target.env,
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own, which ends as a whole. Ctrl-C in a terminal does not reach it.
      detached: true,
    });
    const { stdin, stdout, stderr } = this.#child;
    this.#exited = new Promise((resolve) => this.#child.once("close", () => resolve()));
    this.#child.once("error", (error) => this.#end(`${target.command} could not be started: ${error.message}`));
    if (this.#child.pid !== undefined) this.#group = watchGroup(this.#child.pid);
    for (const stream of [stdin, stdout, stderr]) stream.on("error", () => undefined);
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-maxErrorText);
    });
    const lines = new LineSplitter(
      maxFrameBytes,
      (line) => this.#take(line),
      () => this.#end("it sent a line of more than 32 MB"),
    );
    stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    const pinging = setInterval(() => this.#ping(), pingMs);
    pinging.unref();
    void this.#exited.then(() => {
      clearInterval(pinging);
      this.#end(`the connection ended${this.#exitWords()}`);
      onEnd();
    });
    this.#ready.promise.catch(() => undefined);
    stdin.write(file);
    this.#send({ type: "start", protocol: protocolVersion, options });
  }

  /** Rejects with an Error that says why the place cannot be used. */
  get ready(): Promise<Ready> {
    return this.#ready.promise;
  }

  /** Rejects with PlaceEnded where the connection ends first. An abort is passed on; the answer is still waited for. */
  ask(request: Asked, signal?: AbortSignal, onProgress?: Pending["onProgress"]): Promise<Answer> {
    if (this.#problem !== undefined) return Promise.reject(new PlaceEnded(this.#problem));
    const id = this.#nextId++;
    const abort = (): void => this.#send({ type: "abort", id });
    signal?.addEventListener("abort", abort, { once: true });
    return new Promise<Answer>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
      this.#send({ ...request, id });
    }).finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Ends the host and what its commands left, and the process that leads there. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#end("it was closed");
    this.#child.stdin.end();
    await Promise.race([this.#exited, sleep(inputGraceMs, undefined, { ref: false })]);
    await this.#group?.end();
  }

  #send(request: Request): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(`${JSON.stringify(request)}\n`);
  }

  #ping(): void {
    if (performance.now() - this.#heard > silenceMs) {
      this.#end(`nothing was heard for ${silenceMs / 1000} s`);
      void this.close();
    } else this.#send({ type: "ping" });
  }

  #take(line: string): void {
    const reply = parseReply(line);
    // A shell or a program on the way may greet.
    if (reply === undefined) return;
    this.#heard = performance.now();
    switch (reply.type) {
      case "pong":
        break;
      case "ready":
        if (reply.protocol === protocolVersion) this.#ready.resolve(reply);
        else this.#end(`it speaks version ${reply.protocol} of the protocol, not ${protocolVersion}`);
        break;
      case "failed":
        this.#end(clip(withoutControls(String(reply.problem)), 1000));
        break;
      case "progress":
        this.#pending.get(reply.id)?.onProgress?.(reply.progress);
        break;
      default:
        this.#pending.get(reply.id)?.resolve(reply);
        this.#pending.delete(reply.id);
    }
  }

  /** Nothing is asked any more; what was asked may have happened. Only the first reason counts. */
  #end(problem: string): void {
    if (this.#problem !== undefined) return;
    this.#problem = problem;
    this.#ready.reject(new Error(problem));
    for (const { reject } of this.#pending.values()) reject(new PlaceEnded(problem));
    this.#pending.clear();
  }

  #exitWords(): string {
    const { exitCode, signalCode } = this.#child;
    const how = signalCode ?? (exitCode === null ? undefined : `exit code ${exitCode}`);
    const text = withoutControls(this.#errorText).trim();
    return `${how === undefined ? "" : ` (${how})`}${text === "" ? "" : `: ${clip(text, 500)}`}`;
  }
}

function parseReply(line: string): Reply | undefined {
  if (!line.startsWith('{"type":"')) return undefined;
  try {
    return JSON.parse(line) as Reply;
  } catch {
    return undefined;
  }
}
