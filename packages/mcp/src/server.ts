import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { createConnection } from "./connection.ts";
import type { HttpOptions } from "./httpServer.ts";
import { Registries, type RegistrySource } from "./registrySource.ts";

export interface ServeMcpOptions {
  /** The server's name to clients. Default `toolcrib`. */
  name?: string | undefined;
  /** The server's version to clients. Default `0.0.0`. */
  version?: string | undefined;
  /** What the tools are for and how to use them together; clients show it to the model. */
  instructions?: string | undefined;
  /** Streamable HTTP at `/mcp` instead of standard input and output. */
  http?: HttpOptions | undefined;
  /** Told of what goes wrong beside the answers: a broken message, a client that went away. */
  onError?: ((error: Error) => void) | undefined;
}

/** A registry being served. */
export interface McpServing {
  /** The endpoint, over HTTP. */
  readonly url: string | undefined;
  /** The bearer token that clients must send; undefined without one. */
  readonly token: string | undefined;
  /** Resolves when serving has ended: by `close()`, or because the client closed standard input. */
  readonly closed: Promise<void>;
  /** Ends it: calls that run are aborted. */
  close(): Promise<void>;
}

const maxMessageBytes = 10 * 1024 * 1024;

/**
 * Serves the enabled tools of a registry over MCP (https://modelcontextprotocol.io), every stable revision: on standard
 * input and output, or over HTTP. The list follows the registry live. A call runs through `registry.invoke`, so checks,
 * limits and middleware hold; a failure is a result with `isError`.
 */
export async function serveMcp(source: RegistrySource, options: ServeMcpOptions = {}): Promise<McpServing> {
  const { name = "toolcrib", version = "0.0.0", instructions, http, onError = () => undefined } = options;
  const registries = new Registries(source);
  const connect = (): ReturnType<typeof createConnection> =>
    createConnection(registries, { name, version, instructions });
  let end = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  if (!http) {
    const transport = new ClosingTransport(end);
    const handle = serveStdio(connect, { transport, onerror: onError });
    void closed.then(() => registries.close());
    return { url: undefined, token: undefined, closed, close: () => handle.close() };
  }
  const { serveHttp } = await import("./httpServer.ts");
  const serving = await serveHttp(registries, connect, http, onError);
  const close = async (): Promise<void> => {
    registries.close();
    await serving.close();
    end();
  };
  return { url: serving.url, token: serving.token, closed, close };
}

/** Standard input and output, telling when the connection has ended. */
class ClosingTransport extends StdioServerTransport {
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    super(process.stdin, process.stdout, { maxBufferSize: maxMessageBytes });
    this.#onEnd = onEnd;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#onEnd();
  }
}
