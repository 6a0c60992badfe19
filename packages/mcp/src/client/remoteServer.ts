import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { clip, isObject } from "@toolcrib/core/text";
import { isMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import type { ListedTool } from "../mapping.ts";
import { createOAuthSession, type OAuthSession } from "../oauth/oauthSession.ts";
import type { OAuthStore } from "../oauth/oauthStore.ts";
import type { ListedTools } from "./listedTools.ts";
import type { Protocol } from "./protocol.ts";
import { keepRawResults } from "./rawResults.ts";
import { createRedact, createWordsRedact, type Redact, redactError } from "./redactErrors.ts";
import type { ResolvedServer } from "./serverConfig.ts";
import type { ServerQuestions } from "./serverQuestions.ts";
import { type CallOptions, isModern, listTools, sendRequest } from "./toolRequests.ts";
import { createTransport, type ServerTransport } from "./transport/createTransport.ts";
import { isLostAnswer } from "./transport/lostAnswers.ts";
import { firstWay, otherWays, type Way } from "./ways.ts";

export interface RemoteOptions {
  /** Milliseconds for a server to start and answer its first request, in whatever ways it is tried. */
  startTimeoutMs: number;
  clientName: string;
  clientVersion: string;
  versionNegotiation?: Protocol | undefined;
  /** Logins for servers at an address. */
  logins?: OAuthStore | undefined;
  /** Answers what the server asks; without it the server cannot ask. */
  questions: ServerQuestions | undefined;
  /** Called when the server says that its tools have changed. */
  onToolsChanged: () => void;
}

/** A running server. Calls reject with the error of the server, or with an McpError when it has ended. */
export interface RemoteConnection {
  /** Returns the tools that the server lists, as it describes them, and what is left out. */
  listTools(): Promise<ListedTools>;
  /** Returns the result of `tools/call` as the server sent it. */
  callTool(tool: ListedTool, args: Record<string, unknown>, call: CallOptions): Promise<unknown>;
  /** Returns the result of another request as the server sent it. */
  request(method: string, params: Record<string, unknown>, call: Pick<CallOptions, "signal">): Promise<unknown>;
  /** Gives the server's instructions; undefined if there are none. */
  readonly instructions: string | undefined;
  offers(capability: "resources" | "prompts"): boolean;
  /** Ends the session where there is one, and the process where we started it. */
  end(): Promise<void>;
}

/** Milliseconds that a server over HTTP may take to answer that its session is over. */
const endSessionMs = 2000;
/** Milliseconds for a server to say that it speaks a newer revision; one that says nothing is asked as older ones are. */
const probeMs = 5000;

/** The server does not know the session, so the request did not run and may be sent on a new connection, which the SDK does not open. */
export class SessionExpired extends Error {}

/** A try to start a server that has failed: what is told of it, and why it did. */
class StartFailure extends Error {
  readonly told: McpError;

  constructor(told: McpError, cause: unknown) {
    super(told.message, { cause });
    this.told = told;
  }
}

/** One MCP server: started at the first use, and again at the next use after it has ended. */
export class RemoteServer {
  readonly name: string;
  readonly #target: ResolvedServer;
  readonly #options: RemoteOptions;
  readonly #session: OAuthSession | undefined;
  #connecting: Promise<RemoteConnection> | undefined;
  /** The way that has worked. */
  #way: Way | undefined;
  readonly #closing = new AbortController();
  /** Removes the secrets of the entry from a text. */
  readonly redact: Redact;
  /** Removes them from what the server says on purpose, which is to stay as whole as it can. */
  readonly redactWords: Redact;

  constructor(name: string, target: ResolvedServer, options: RemoteOptions) {
    this.name = name;
    this.#target = target;
    this.#session = sessionOf(name, target, options.logins);
    this.redact = createRedact(target, this.#session?.secrets);
    this.redactWords = createWordsRedact(target, this.#session?.secrets);
    this.#options = options;
  }

  /** Returns the open connection, or a new one. Rejects with an McpError (`server_failed`). */
  connect(): Promise<RemoteConnection> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#failed("has been closed"));
    if (!this.#connecting) {
      const forget = (): void => {
        if (this.#connecting === connecting) this.#connecting = undefined;
      };
      const connecting = this.#start(forget);
      this.#connecting = connecting;
      connecting.catch(forget);
    }
    return this.#connecting;
  }

  /** Ends the server, also while it starts. It is not started again. */
  async close(): Promise<void> {
    this.#closing.abort();
    const connection = await this.#connecting?.catch(() => undefined);
    await connection?.end();
  }

  /** Starts the server; where it answers that it speaks otherwise, it is tried so. Rejects with the error of the first try. */
  async #start(onEnd: () => void): Promise<RemoteConnection> {
    const { versionNegotiation: given, startTimeoutMs } = this.#options;
    const way = this.#way ?? firstWay(this.#target, given);
    const begun = performance.now();
    try {
      return await this.#startBy(way, startTimeoutMs, onEnd);
    } catch (error) {
      if (!(error instanceof StartFailure)) throw error;
      for (const other of this.#way ? [] : otherWays(this.#target, given, error.cause)) {
        const leftMs = Math.floor(startTimeoutMs - (performance.now() - begun));
        if (leftMs < 1) break;
        const connection = await this.#startBy(other, leftMs, onEnd).catch(() => undefined);
        if (connection) return connection;
      }
      throw error.told;
    }
  }

  async #startBy(way: Way, timeoutMs: number, onEnd: () => void): Promise<RemoteConnection> {
    const { clientName, clientVersion, startTimeoutMs, questions, onToolsChanged } = this.#options;
    const loading = import("@modelcontextprotocol/client");
    const server = await this.#open(way);
    const { Client } = await loading;
    const isAuto = way.protocol === "auto";
    const probe = { timeoutMs: isAuto ? Math.min(timeoutMs / 2, probeMs) : timeoutMs };
    const timeout = isAuto ? timeoutMs - probe.timeoutMs : timeoutMs;
    const client = new Client(
      { name: clientName, version: clientVersion },
      {
        versionNegotiation: { mode: way.protocol, probe },
        ...(questions && { capabilities: { elicitation: { form: {} } } }),
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
      },
    );
    if (questions)
      client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
        questions.answer(params, mcpReq.signal),
      );
    const { transport, endSession, errors } = server;
    keepRawResults(transport, () => isModern(client));
    const { signal } = this.#closing;
    // The SDK checks the signal only after it has sent its first request.
    const stop = (): void => void transport.close();
    signal.addEventListener("abort", stop);
    try {
      signal.throwIfAborted();
      await client.connect(transport, { timeout, signal });
    } catch (cause) {
      const ended = isEnd(cause) ? await server.exitReason?.() : undefined;
      await transport.close().catch(() => undefined);
      if (signal.aborted) throw this.#failed("has been closed");
      if (isMcpError(cause)) throw cause;
      const said = errors(this.redact);
      const reason = ended ? `it ${ended}` : shortReason(cause);
      const told = `did not start: ${reason} (${adviceFor(this.#target, cause, ended, said)})${said}`;
      throw new StartFailure(this.#failed(told, cause), cause);
    } finally {
      signal.removeEventListener("abort", stop);
    }
    client.onclose = onEnd;
    this.#way = way;
    const isHttp = this.#target.kind === "url";
    const explained = <Answer>(what: string, answer: Promise<Answer>): Promise<Answer> =>
      this.#explained(client, server, what, answer);
    return {
      listTools: () => explained("tools/list", listTools(client, startTimeoutMs, isHttp)),
      callTool(tool, args, call) {
        const params = { name: tool.name, arguments: args };
        return explained("call", sendRequest(client, "tools/call", params, call, tool));
      },
      request: (method, params, { signal }) => explained(method, sendRequest(client, method, params, { signal })),
      instructions: client.getInstructions(),
      offers: (capability) => client.getServerCapabilities()?.[capability] !== undefined,
      end: async () => {
        const limit = sleep(endSessionMs, undefined, { ref: false });
        await Promise.race([endSession().catch(() => undefined), limit]);
        await client.close();
      },
    };
  }

  async #open({ sse }: Way): Promise<ServerTransport> {
    const target = this.#target.kind === "url" ? { ...this.#target, sse } : this.#target;
    try {
      return await createTransport(target, this.#session);
    } catch (cause) {
      throw this.#failed(`did not start: ${reasonOf(cause)}`, cause);
    }
  }

  /** Resolves to the answer of the server, or rejects with an error that says what happened to the server. */
  async #explained<Answer>(
    client: Client,
    { errors, exitReason, hasSession }: ServerTransport,
    what: string,
    answer: Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (isMcpError(error)) throw error;
      const { code, status, name, cause } = isObject(error) ? error : {};
      if (isEnd(error)) {
        const ended = await exitReason?.();
        // It may have closed its input and live on.
        await client.close();
        const isTaken = what === "call" && code === "CONNECTION_CLOSED";
        const when = isTaken ? "during the call, which may have completed" : `before it answered ${what}`;
        const how = ended ? ` It ${ended}.` : "";
        throw this.#failed(`ended ${when}; the next call starts it again.${how}${errors(this.redact)}`, error);
      }
      if (isLostAnswer(error)) {
        const when = what === "call" ? "the call, which may have completed" : what;
        throw this.#failed(`ended its answer to ${when}, before it was whole`, error);
      }
      if (what === "tools/list" && typeof code === "number")
        throw this.#failed(`answered tools/list with an error: ${shortReason(error)}${errors(this.redact)}`, error);
      if (name === "TypeError" && cause !== undefined) {
        throw this.#failed(`could not be reached, or the connection broke: ${reasonOf(error)}`, error);
      }
      const isLost =
        status === 404 ||
        (status === 400 && hasSession?.() && sessionLost.test(reasonOf(error).replaceAll(/[-_]/g, " ")));
      if (!isLost) throw redactError(error, this.redact);
      await client.close();
      throw new SessionExpired(`MCP server ${this.name} does not know the session any more`);
    }
  }

  #failed(what: string, reason?: unknown): McpError {
    const cause = redactError(reason, this.redact);
    const details = cause === undefined ? {} : { cause };
    const message = `MCP server ${shownName(this.name)} ${this.redact(what)}`;
    return new McpError("server_failed", this.name, message, details, cause);
  }
}

/** Returns whether an error says that the server has ended: its pipe may break before its end is known. */
function isEnd(error: unknown): boolean {
  const { code, message } = isObject(error) ? error : {};
  if (code === "ERA_NEGOTIATION_FAILED") return /connection closed/i.test(String(message));
  return ["CONNECTION_CLOSED", "NOT_CONNECTED", "EPIPE", "ERR_STREAM_DESTROYED"].includes(String(code));
}

/** Gives the reason of an error at some length; of a page, which proxies and wrong addresses answer with, its words alone. */
function shortReason(error: unknown): string {
  const reason = reasonOf(error).slice(0, 20_000);
  const page = reason.search(/<!doctype html|<html/i);
  if (page < 0) return clip(reason, 500);
  const words = reason.slice(page).replace(/<(head|style|script)\b.*?<\/\1>|<[^<>]*>/gis, " ");
  return clip((reason.slice(0, page) + words).replace(/\s+/g, " ").trim(), 500);
}

/** Returns what to do about a server that has not started. */
function adviceFor(target: ResolvedServer, cause: unknown, ended: string | undefined, said: string): string {
  const { kind } = target;
  const { code, status, cause: inner } = isObject(cause) ? cause : {};
  if (code === "REQUEST_TIMEOUT") return "startTimeoutMs gives it more time";
  if (kind === "command") return ended && said !== "" ? "it says why below" : "check its command and args";
  if (status === 401 || status === 403) return "check its headers";
  const mayBeOld = kind === "url" && target.sse === false && [400, 404, 405].includes(Number(status));
  if (mayBeOld) return 'check its url, or give it "type": "sse" if it speaks the transport of 2024';
  if (status === 404 || status === 405) return "check its url";
  return isObject(inner) && inner.code === "ECONNREFUSED"
    ? "nothing listens at its url; start it"
    : "check its url and headers";
}

/** An answer that says in words that the server does not know the session, so that it has not taken the request. */
const sessionLost =
  /(?:\bno (?:valid|such|active)|\binvalid|\bunknown|\bexpired|\bmissing|\bstale)\b.{0,40}\bsession|\bsession\b.{0,40}\b(?:not found|not initialized|invalid|unknown|expired|missing|required|terminated|does not exist|no longer)/is;

/** Returns the session of a server that may ask for a login. An entry with a header of its own for that is taken at its word. */
function sessionOf(name: string, target: ResolvedServer, logins: OAuthStore | undefined): OAuthSession | undefined {
  if (!logins || target.kind !== "url") return undefined;
  const isOwn = Object.keys(target.headers).some((header) => header.toLowerCase() === "authorization");
  return isOwn ? undefined : createOAuthSession(name, target.url, logins);
}
