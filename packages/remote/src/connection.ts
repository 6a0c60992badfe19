import { attempt, isPlainObject } from "@toolcrib/core/internal";
import { clip, withoutControls } from "@toolcrib/core/text";
import { LineSplitter } from "@toolcrib/kit/text";
import type { ResolvedAddress } from "./address.ts";
import type { Channel } from "./channel.ts";
import {
  maxFrameBytes,
  pingMs,
  protocolVersion,
  type RemoteOptions,
  type Reply,
  type Request,
  silenceMs,
} from "./frames.ts";
import { packedHost } from "./hostFile.ts";

const maxErrorText = 2000;

/** A request as it is made here: its id is given when it is sent. */
type Asked = Omit<Extract<Request, { name: string }>, "id">;

type Ready = Extract<Reply, { type: "ready" }>;
/** A frame that ends a request. */
export type Answer = Extract<Reply, { type: "result" | "effects" | "changes" | "error" }>;

interface Pending {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((progress: Extract<Reply, { type: "progress" }>["progress"]) => void) | undefined;
}

/** The connection ended before the answer. What was sent may have been carried out. */
export class ConnectionEnded extends Error {
  readonly isSent: boolean;

  constructor(message: string, isSent: boolean) {
    super(message);
    this.isSent = isSent;
  }
}

/** Milliseconds after an abort in which the answer still counts. */
const abortGraceMs = 5000;

/** One running host, and the channel to it. It is started once, and of no use after its end. */
export class Connection {
  readonly #channel: Channel;
  readonly #pending = new Map<number, Pending>();
  readonly #ready = Promise.withResolvers<Ready>();
  readonly #pinging: NodeJS.Timeout;
  readonly #onEnd: () => void;
  #nextId = 1;
  #errorText = "";
  #problem: string | undefined;
  #heard = performance.now();
  #closing: Promise<void> | undefined;

  /** Starts the program there. Calls `onEnd` once, when the connection is of no use any more. Throws if it cannot be started. */
  constructor(address: ResolvedAddress, options: RemoteOptions, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#ready.promise.catch(() => undefined);
    const file = packedHost();
    const lines = new LineSplitter(
      maxFrameBytes,
      (line) => this.#take(line),
      () => void this.close("it sent a line of more than 32 MB"),
    );
    this.#channel = address.open({
      data: (chunk) => lines.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
      errorText: (text) => {
        this.#errorText = (this.#errorText + text).slice(-maxErrorText);
      },
      end: (how) => {
        const text = withoutControls(this.#errorText).trim();
        const words = `the connection ended${clip(withoutControls(how), 300)}`;
        void this.close(`${words}${text === "" ? "" : `: ${clip(text, 500)}`}`);
      },
    });
    this.#pinging = setInterval(() => this.#ping(), pingMs);
    this.#pinging.unref();
    this.#channel.send(file);
    this.#send({ type: "start", protocol: protocolVersion, options });
  }

  /** Rejects with an Error that says why the remote cannot be used. */
  get ready(): Promise<Ready> {
    return this.#ready.promise;
  }

  /** Rejects with ConnectionEnded where the connection ends first. An abort is passed on; the answer is still waited for. */
  ask(request: Asked, signal?: AbortSignal, onProgress?: Pending["onProgress"]): Promise<Answer> {
    if (this.#problem !== undefined) return Promise.reject(new ConnectionEnded(this.#problem, false));
    const id = this.#nextId++;
    const text = `${JSON.stringify({ ...request, id })}\n`;
    if (Buffer.byteLength(text) > maxFrameBytes)
      return Promise.reject(new ConnectionEnded("the arguments are larger than the limit of 32 MB", false));
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const forget = (): void => {
      if (this.#pending.delete(id)) reject(new ConnectionEnded("it did not answer in time", true));
    };
    const abort = (): void => {
      this.#send({ type: "abort", id });
      setTimeout(forget, abortGraceMs).unref();
    };
    this.#pending.set(id, { resolve, reject, onProgress });
    signal?.addEventListener("abort", abort, { once: true });
    this.#channel.send(text);
    return promise.finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Ends the host, what its commands left, and the channel. */
  close(why = "it was closed"): Promise<void> {
    this.#end(why);
    this.#closing ??= this.#channel.close().catch(() => undefined);
    return this.#closing;
  }

  #send(request: Request): void {
    this.#channel.send(`${JSON.stringify(request)}\n`);
  }

  #ping(): void {
    if (performance.now() - this.#heard > silenceMs) void this.close(`nothing was heard for ${silenceMs / 1000} s`);
    else this.#send({ type: "ping" });
  }

  #take(line: string): void {
    const reply = parseReply(line);
    // A shell or a program in between may greet.
    if (reply === undefined) return;
    this.#heard = performance.now();
    switch (reply.type) {
      case "pong":
        break;
      case "ready":
        if (reply.protocol !== protocolVersion)
          void this.close(`it speaks version ${reply.protocol} of the protocol, not ${protocolVersion}`);
        else if (isReady(reply)) this.#ready.resolve(reply);
        else void this.close("it listed its tools in another form");
        break;
      case "failed":
        void this.close(clip(withoutControls(String(reply.problem)), 1000));
        break;
      case "progress":
        this.#tell(reply);
        break;
      default:
        this.#pending.get(reply.id)?.resolve(reply);
        this.#pending.delete(reply.id);
    }
  }

  /** Tells the caller. One that throws, or a remote that reports something else, ends nothing. */
  #tell({ id, progress }: Extract<Reply, { type: "progress" }>): void {
    if (!isPlainObject(progress)) return;
    const { message } = progress;
    if (message !== undefined && typeof message !== "string") return;
    attempt(() => this.#pending.get(id)?.onProgress?.(progress));
  }

  /** Ends the connection: nothing is asked any more, what was asked may have happened. Only the first reason counts. */
  #end(problem: string): void {
    if (this.#problem !== undefined) return;
    this.#problem = problem;
    clearInterval(this.#pinging);
    this.#ready.reject(new Error(problem));
    for (const { reject } of this.#pending.values()) reject(new ConnectionEnded(problem, true));
    this.#pending.clear();
    this.#onEnd();
  }
}

function isReady({ cwd, roots, tools }: Ready): boolean {
  const isTool = (tool: unknown): boolean =>
    isPlainObject(tool) &&
    isPlainObject(tool.schema) &&
    isPlainObject(tool.schema.function) &&
    typeof tool.schema.function.name === "string" &&
    typeof tool.origin === "string" &&
    (tool.timeoutMs === "own" || (typeof tool.timeoutMs === "number" && tool.timeoutMs > 0));
  const areRoots = roots === null || (Array.isArray(roots) && roots.every((root) => typeof root === "string"));
  return typeof cwd === "string" && areRoots && Array.isArray(tools) && tools.every(isTool);
}

const replies: ReadonlySet<unknown> = new Set<Reply["type"]>([
  "ready",
  "failed",
  "progress",
  "result",
  "effects",
  "changes",
  "error",
  "pong",
]);

function parseReply(line: string): Reply | undefined {
  if (!line.startsWith('{"type":"')) return undefined;
  const reply = attempt((): Reply => JSON.parse(line));
  return reply && replies.has(reply.type) ? reply : undefined;
}
