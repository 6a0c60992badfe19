import { Readable, type Writable } from "node:stream";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { type AnyMessage, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { type OptionSpecs, option, readOptions, withDefault } from "@toolcrib/core/internal";
import { createApp } from "./app.ts";
import type { Explain } from "./errors.ts";
import { Sessions } from "./sessions.ts";
import type { AcpSession, AcpSessionInfo, AcpSessionRequest } from "./types.ts";

export interface ServeAcpOptions {
  /** Opens a new conversation. What it throws is what the client is told. */
  createSession(request: AcpSessionRequest): Promise<AcpSession> | AcpSession;
  /** Opens a conversation again; undefined where there is none of that id. Without it clients can only begin new ones. */
  openSession?:
    | ((id: string, request: AcpSessionRequest) => Promise<AcpSession | undefined> | AcpSession | undefined)
    | undefined;
  /** The conversations that can be opened again, last changed first: of one directory, or of all that are known. */
  listSessions?: ((cwd: string | undefined) => Promise<readonly AcpSessionInfo[]>) | undefined;
  /** The agent's name to clients. Default `toolcrib`. */
  name?: string | undefined;
  /** Default `0.0.0`. */
  version?: string | undefined;
  /** Default: the process's standard input. */
  input?: Readable | undefined;
  /** Default: the process's standard output; print nothing else there. */
  output?: Writable | undefined;
  /** An error in words for the client's user. Default: its message. */
  explain?: Explain | undefined;
}

const specs = {
  createSession: { ...option.call, needed: "always" },
  openSession: option.call,
  listSessions: option.call,
  name: withDefault(option.text, "toolcrib"),
  version: withDefault(option.text, "0.0.0"),
  input: option.object,
  output: option.object,
  explain: option.call,
} satisfies OptionSpecs<ServeAcpOptions>;

/** An agent being served. */
export interface AcpServing {
  /** Resolves once the client has gone, or after `close()`: all turns have ended then, and all sessions are closed. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves agents to a program that speaks the Agent Client Protocol (https://agentclientprotocol.com), such as an editor, over standard
 * input and output. Each session is an agent of its own; the questions of its guards are put to the client's user. The tools go to the
 * files themselves: file systems and terminals of clients are not used.
 */
export function serveAcp(options: ServeAcpOptions): AcpServing {
  const { input = process.stdin, output = process.stdout, ...read } = readOptions("serveAcp", options, specs);
  const { name, version, listSessions } = read;
  const sessions = new Sessions(options);
  const about = { name, version, listSessions, reopens: options.openSession !== undefined };
  const connection = createApp(about, sessions).connect(stdioStream(input, output));
  // A pipe that breaks while nothing is written would end the process.
  output.on("error", (error) => connection.close(error));
  sessions.start(connection);
  const closed = connection.closed.then(() => sessions.closeAll());
  return {
    closed,
    close: () => {
      connection.close();
      return closed;
    },
  };
}

/** Carries messages of the protocol over two streams, a line of JSON each. What came first has reached its handler before the next is read. */
export function stdioStream(input: Readable, output: Writable): Stream {
  const decoder = new TextDecoder();
  const sink = new WritableStream<Uint8Array>({
    write: (bytes) =>
      new Promise((resolve, reject) => {
        output.write(withoutLoneSurrogates(decoder.decode(bytes)), (error) => (error ? reject(error) : resolve()));
      }),
  });
  const { readable, writable } = ndJsonStream(sink, Readable.toWeb(input) as ReadableStream<Uint8Array>);
  const oneByOne = new TransformStream<AnyMessage, AnyMessage>({
    async transform(message, controller) {
      controller.enqueue(message);
      await turnOfLoop();
    },
  });
  return { readable: readable.pipeThrough(oneByOne), writable };
}

/**
 * Replaces half characters, which tools and models may send: each is an error to many JSON readers; `JSON.stringify` writes it as
 * a code.
 */
function withoutLoneSurrogates(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (code) => (code.length === 6 ? "\\ufffd" : code));
}
