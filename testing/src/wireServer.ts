import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Account, type Judgement, ModelService, type WireFormat } from "./wire/service.ts";

export type { WireFormat } from "./wire/service.ts";

export const wireFormats: readonly WireFormat[] = ["responses", "messages", "chat"];

/** A request that the server got, and what the service finds in it. */
export interface WireRequest extends Judgement {
  readonly format: WireFormat;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** One scripted answer. */
export interface WireAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one after the other, `gapMs` apart. */
  readonly chunks: readonly (string | Uint8Array)[];
  readonly gapMs?: number;
  /** Its end: `close` normally, `destroy` the connection, or `hang` for ever. Default `close`. */
  readonly end?: "close" | "destroy" | "hang";
  /** Closes the connection before any byte of an answer. */
  readonly refuse?: boolean;
}

export type WireScript = WireAnswer | ((request: WireRequest) => WireAnswer);

/**
 * The model services on loopback, with scripted answers. As the services do, it refuses with status 400 a request that breaks one of their
 * rules; the script then waits for the next request. Unless a test takes such problems, `close` and the end of a test throw.
 */
export class WireServer {
  readonly requests: WireRequest[] = [];
  readonly #service = new ModelService();
  readonly #script: WireScript[] = [];
  #always: WireScript | undefined;
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();

  readonly #isLenient: boolean;

  private constructor(server: Server, isLenient: boolean) {
    this.#server = server;
    this.#isLenient = isLenient;
  }

  /** `isLenient`: it refuses nothing, for SDKs that use more of an API than our providers do. */
  static async start({ isLenient = false } = {}): Promise<WireServer> {
    const server = createServer({ keepAlive: true });
    const wire = new WireServer(server, isLenient);
    server.on("request", (request, response) => {
      const parts: Buffer[] = [];
      wire.#open.add(response);
      response.once("close", () => {
        wire.#open.delete(response);
      });
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        wire
          .#answer(request.url ?? "", request.headers, Buffer.concat(parts), response)
          .catch(() => response.destroy());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return wire;
  }

  /** `http://127.0.0.1:PORT`; the OpenAI wires want `/v1` behind it. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Queues answers, one for each request. A request without one gets status 500. */
  script(...answers: WireScript[]): void {
    this.#script.push(...answers);
  }

  /** Answers every request for which none is queued. */
  answerAll(script: WireScript): void {
    this.#always = script;
  }

  /** The service's settings for the requests' account; each field may be set. By default it is one that is enforced. */
  get account(): Account {
    return this.#service.account;
  }

  /** Drops the queued answers and the received requests, and sets the account back. */
  reset(): void {
    this.#script.length = 0;
    this.requests.length = 0;
    this.#service.reset();
  }

  /** The faults that the service found in the requests so far, each line beginning with the request's number. */
  problems(): string[] {
    return this.requests.flatMap(({ problems, losses }, index) =>
      [...problems, ...losses].map((problem) => `request ${index + 1}: ${problem}`),
    );
  }

  /** The same, for a test in which there are some: they are no longer held against it. */
  takeProblems(): string[] {
    const problems = this.problems();
    for (const [index, request] of this.requests.entries())
      this.requests[index] = { ...request, problems: [], losses: [] };
    return problems;
  }

  /** Answers that have begun and not ended. */
  openAnswers(): number {
    return this.#open.size;
  }

  /** The number of requests that it has not answered whole. */
  inFlight(): number {
    return [...this.#open].filter((response) => !response.writableEnded).length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const problems = this.problems();
    if (problems.length > 0) throw new Error(`The service refused or lost something:\n${problems.join("\n")}`);
  }

  async #answer(url: string, headers: IncomingHttpHeaders, bytes: Buffer, response: ServerResponse): Promise<void> {
    const format = formatOf(url.split("?")[0] ?? "");
    const request = format && this.#receive(format, headers, bytes.toString("utf8"));
    if (request) this.requests.push(request);
    const [refusal] = request?.problems ?? [];
    if (request && refusal !== undefined && !this.#isLenient) {
      const error = { type: "invalid_request_error", message: refusal };
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify(request.format === "messages" ? { type: "error", error } : { error }));
      return;
    }
    const script = request && (this.#script.shift() ?? this.#always);
    if (!request || !script) {
      response.writeHead(request ? 500 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: request ? "nothing scripted" : `no such address ${url}` } }));
      return;
    }
    const answer = typeof script === "function" ? script(request) : script;
    const text = answer.chunks.map((chunk) => (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString()));
    this.#service.sent(request.format, request.body, text.join(""));
    await play(answer, response);
  }

  #receive(format: WireFormat, headers: IncomingHttpHeaders, text: string): WireRequest {
    const body = parse(text) ?? {};
    const found = this.#service.judge(format, headers, body);
    return { format, headers, text, body, ...found, problems: [...unicodeProblems(text), ...found.problems] };
  }
}

async function play(answer: WireAnswer, response: ServerResponse): Promise<void> {
  if (answer.refuse) {
    response.socket?.destroy();
    return;
  }
  response.writeHead(answer.status ?? 200, answer.headers);
  response.flushHeaders();
  for (const chunk of answer.chunks) {
    if (answer.gapMs !== undefined) await sleep(answer.gapMs);
    response.write(chunk);
  }
  if (answer.end === "hang") return;
  if (answer.end !== "destroy") {
    response.end();
    return;
  }
  // Waits one turn of the loop, so that what was written is sent before the connection breaks.
  await sleep(5);
  response.socket?.destroy();
}

function formatOf(url: string): WireFormat | undefined {
  if (url.endsWith("/responses")) return "responses";
  if (url.endsWith("/messages")) return "messages";
  return url.endsWith("/chat/completions") ? "chat" : undefined;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

const loneSurrogate = /\p{Surrogate}/u;

/** Strict services refuse a body whose strings hold half of a surrogate pair. */
function unicodeProblems(text: string): string[] {
  if (!parse(text)) return ["the body is no JSON object"];
  // As bytes of UTF-8 there is none, only as an escape.
  if (!/\\ud/i.test(text)) return [];
  let lone = false;
  JSON.parse(text, (key, value: unknown) => {
    if (loneSurrogate.test(key) || (typeof value === "string" && loneSurrogate.test(value))) lone = true;
    return value;
  });
  return lone ? ["a string contains a lone surrogate"] : [];
}
