import { clip, withoutControls } from "@toolcrib/core/text";
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
import type { Way } from "./way.ts";

const maxErrorText = 2000;

/** A request as it is made here: its id is given when it is sent. */
type Asked = { readonly type: "call" | "effects-of" } & Omit<
  Extract<Request, { type: "call" | "effects-of" }>,
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

/** One running host, and the way to it. It is started once, and of no use after its end. */
export class PlaceConnection {
  readonly #way: Way;
  readonly #pending = new Map<number, Pending>();
  readonly #ready = Promise.withResolvers<Ready>();
  readonly #pinging: NodeJS.Timeout;
  #nextId = 1;
  #errorText = "";
  #problem: string | undefined;
  #heard = performance.now();
  #closing: Promise<void> | undefined;

  constructor(target: ResolvedTarget, options: PlaceOptions, onEnd: () => void) {
    this.#ready.promise.catch(() => undefined);
    const file = packedHost();
    const lines = new LineSplitter(
      maxFrameBytes,
      (line) => this.#take(line),
      () => void this.close("it sent a line of more than 32 MB"),
    );
    this.#way = target.open({
      data: (chunk) => lines.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
      errorText: (text) => {
        this.#errorText = (this.#errorText + text).slice(-maxErrorText);
      },
      end: (how) => {
        const text = withoutControls(this.#errorText).trim();
        this.#end(`the connection ended${clip(withoutControls(how), 300)}${text === "" ? "" : `: ${clip(text, 500)}`}`);
        onEnd();
      },
    });
    this.#pinging = setInterval(() => this.#ping(), pingMs);
    this.#pinging.unref();
    this.#way.send(file);
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

  /** Ends the host, what its commands left, and the way there. */
  close(why = "it was closed"): Promise<void> {
    this.#end(why);
    this.#closing ??= this.#way.close();
    return this.#closing;
  }

  #send(request: Request): void {
    this.#way.send(`${JSON.stringify(request)}\n`);
  }

  #ping(): void {
    if (performance.now() - this.#heard > silenceMs) void this.close(`nothing was heard for ${silenceMs / 1000} s`);
    else this.#send({ type: "ping" });
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
    clearInterval(this.#pinging);
    this.#ready.reject(new Error(problem));
    for (const { reject } of this.#pending.values()) reject(new PlaceEnded(problem));
    this.#pending.clear();
  }
}

const replies: ReadonlySet<unknown> = new Set<Reply["type"]>([
  "ready",
  "failed",
  "progress",
  "result",
  "effects",
  "error",
  "pong",
]);

function parseReply(line: string): Reply | undefined {
  if (!line.startsWith('{"type":"')) return undefined;
  try {
    const reply = JSON.parse(line) as Reply;
    return replies.has(reply.type) ? reply : undefined;
  } catch {
    return undefined;
  }
}
