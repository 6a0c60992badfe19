import type { Server } from "@modelcontextprotocol/server";
import { type OptionSpecs, option, readOptions, withDefault } from "@toolcrib/core/internal";
import { checkHttpOptions, type HttpOptions } from "../http/httpOptions.ts";
import { anyRoots, type RootsRule, withinRoots } from "./clientRoots.ts";
import { RegistriesByRoots, type RegistrySource } from "./registriesByRoots.ts";

export interface ServeMcpOptions {
  /** The server's name to clients. Default `toolcrib`. */
  name?: string | undefined;
  /** The server's version to clients. Default `0.0.0`. */
  version?: string | undefined;
  /** Instructions on what the tools are for and how to use them together. Clients show them to the model. */
  instructions?: string | undefined;
  /**
   * Directories that the roots of a client cannot leave. A factory gets the part of the roots that is inside them, or all of
   * them when no part is. Without this option a factory gets the roots as the client names them over standard input and output,
   * and none over HTTP.
   */
  roots?: readonly string[];
  /** Offers only tools with the trait `readOnly`; calls of others are refused. Default: all enabled tools. */
  readOnly?: boolean | undefined;
  /**
   * Results carry the data of a tool as `structuredContent`, and its schema is announced. Some clients then give the model that JSON in
   * place of the text. Default: false.
   */
  structured?: boolean | undefined;
  /** Streamable HTTP at `/mcp` instead of standard input and output. */
  http?: HttpOptions | undefined;
  /** Called with errors that no answer reports, such as a broken message or a client that went away. */
  onError?: ((error: Error) => void) | undefined;
}

const specs = {
  name: withDefault(option.text, "toolcrib"),
  version: withDefault(option.text, "0.0.0"),
  instructions: option.text,
  roots: true,
  readOnly: { ...option.flag, otherwise: "false" },
  structured: { ...option.flag, otherwise: "false" },
  http: true,
  onError: withDefault(option.call, () => undefined),
} satisfies OptionSpecs<ServeMcpOptions>;

/** A registry being served. */
export interface McpServing {
  /** The endpoint, over HTTP. */
  readonly url: string | undefined;
  /** The bearer token that clients must send; undefined without one. */
  readonly token: string | undefined;
  /** Resolves when serving has ended, by `close()` or because the client closed standard input. */
  readonly closed: Promise<void>;
  /** Stops serving and aborts the calls that run. */
  close(): Promise<void>;
}

const maxMessageBytes = 10 * 1024 * 1024;

/**
 * Serves the enabled tools of a registry over MCP (https://modelcontextprotocol.io) in every stable revision: over standard
 * input and output, or over HTTP. Clients are notified when the tools change. A call runs through `registry.invoke`, so checks,
 * limits, guards and middleware hold. The question of a guard is put to the client's user by elicitation; a client without it gets
 * `Approval required`. A failure is a result with `isError`.
 */
export async function serveMcp(source: RegistrySource, options: ServeMcpOptions = {}): Promise<McpServing> {
  const { http, onError, ...about } = readOptions("serveMcp", options, specs);
  if (http !== undefined) checkHttpOptions(http);
  // Loaded here: who only mounts servers needs nothing of it.
  const { createProtocolServer } = await import("./protocolServer.ts");
  const registries = new RegistriesByRoots(source, rootsRule(options));
  const createServer = (): Server => createProtocolServer(registries, about);
  const { promise: closed, resolve: end } = Promise.withResolvers<void>();
  if (!http) {
    const [{ serveStdio }, { StdioTransport }] = await Promise.all([
      import("@modelcontextprotocol/server/stdio"),
      import("./stdioTransport.ts"),
    ]);
    const streams = { input: process.stdin, output: process.stdout };
    const transport = new StdioTransport(streams, maxMessageBytes, end);
    const handle = serveStdio(createServer, { transport, onerror: onError });
    void closed.then(() => registries.close());
    return { url: undefined, token: undefined, closed, close: () => handle.close() };
  }
  const { serveHttp } = await import("../http/httpServer.ts");
  const serving = await serveHttp(createServer, http, {
    onToolsChange: (listener) => registries.onChange(listener),
    onError,
  });
  const close = async (): Promise<void> => {
    registries.close();
    await serving.close();
    end();
  };
  return { url: serving.url, token: serving.token, closed, close };
}

/** Makes the rule for roots. Over HTTP any client with the token could name some, so they count only inside `options.roots`. */
function rootsRule(options: ServeMcpOptions): RootsRule | false {
  if ("roots" in options) return withinRoots(options.roots);
  return options.http ? false : anyRoots;
}
