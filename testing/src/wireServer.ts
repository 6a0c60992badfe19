import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { chatProblems } from "./chatChecker.ts";
import { messagesProblems } from "./messagesChecker.ts";
import { responsesProblems } from "./responsesChecker.ts";

/** The three wire formats of model APIs: OpenAI's Responses, Anthropic's Messages, chat completions. */
export type WireFormat = "responses" | "messages" | "chat";

export const wireFormats: readonly WireFormat[] = ["responses", "messages", "chat"];

/** A request that the server got, and what a strict service would find wrong with it. */
export interface WireRequest {
  readonly format: WireFormat;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly text: string;
  readonly body: Record<string, unknown>;
  readonly problems: readonly string[];
}

/** One scripted answer. */
export interface WireAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one after the other, `gapMs` apart. */
  readonly chunks: readonly (string | Uint8Array)[];
  readonly gapMs?: number;
  /** How it ends: `close` normally, `destroy` the connection, or `hang` for ever. Default `close`. */
  readonly end?: "close" | "destroy" | "hang";
  /** Closes the connection before any byte of an answer. */
  readonly refuse?: boolean;
}

export type WireScript = WireAnswer | ((request: WireRequest) => WireAnswer);

const checkers = { responses: responsesProblems, messages: messagesProblems, chat: chatProblems };

/** A model service on loopback that gives scripted answers and judges every request it gets. */
export class WireServer {
  readonly requests: WireRequest[] = [];
  readonly #script: WireScript[] = [];
  #always: WireScript | undefined;
  readonly #server: Server;
  #open = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<WireServer> {
    const server = createServer({ keepAlive: true });
    const wire = new WireServer(server);
    server.on("request", (request, response) => {
      const parts: Buffer[] = [];
      wire.#open += 1;
      response.once("close", () => {
        wire.#open -= 1;
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

  /** Drops the queued answers and the received requests. */
  reset(): void {
    this.#script.length = 0;
    this.requests.length = 0;
  }

  /** What is wrong with the requests so far, each line beginning with the request's number. */
  problems(): string[] {
    return this.requests.flatMap(({ problems }, index) =>
      problems.map((problem) => `request ${index + 1}: ${problem}`),
    );
  }

  /** Answers that have begun and not ended. */
  openAnswers(): number {
    return this.#open;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(url: string, headers: IncomingHttpHeaders, bytes: Buffer, response: ServerResponse): Promise<void> {
    const format = formatOf(url.split("?")[0] ?? "");
    const request = format && receive(format, headers, bytes.toString("utf8"));
    if (request) this.requests.push(request);
    const script = request && (this.#script.shift() ?? this.#always);
    if (!request || !script) {
      response.writeHead(request ? 500 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: request ? "nothing scripted" : `no such address ${url}` } }));
      return;
    }
    await play(typeof script === "function" ? script(request) : script, response);
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

function receive(format: WireFormat, headers: IncomingHttpHeaders, text: string): WireRequest {
  const body = parse(text);
  const problems = body ? [...unicodeProblems(text), ...checkers[format](body)] : ["the body is no JSON object"];
  return { format, headers, text, body: body ?? {}, problems };
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
  let lone = false;
  JSON.parse(text, (key, value: unknown) => {
    if (loneSurrogate.test(key) || (typeof value === "string" && loneSurrogate.test(value))) lone = true;
    return value;
  });
  return lone ? ["a string holds a lone surrogate"] : [];
}
