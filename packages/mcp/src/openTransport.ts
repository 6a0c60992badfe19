import type { Transport } from "@modelcontextprotocol/client";
import type { ResolvedServer } from "./serverConfig.ts";
import { findServerProgram } from "./serverProgram.ts";

export interface OpenedTransport {
  transport: Transport;
  /** Tells an HTTP server that its session is over. */
  endSession: () => Promise<void>;
  /** The last lines that the server wrote to standard error, with what they are. */
  errors: () => string;
}

/** The way to a server, not started yet. Throws where its program is not found. */
export async function openTransport(target: ResolvedServer): Promise<OpenedTransport> {
  if (target.kind === "command") return openProcess(target);
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const options = { requestInit: { headers: target.headers } };
  const silent = { endSession: async () => undefined, errors: () => "" };
  if (target.sse) return { transport: new SSEClientTransport(target.url, options), ...silent };
  const transport = new StreamableHTTPClientTransport(target.url, options);
  return { transport, ...silent, endSession: () => transport.terminateSession() };
}

async function openProcess({
  command,
  args,
  env,
  cwd,
}: Extract<ResolvedServer, { kind: "command" }>): Promise<OpenedTransport> {
  const where = cwd === undefined ? {} : { cwd };
  const endSession = async (): Promise<void> => undefined;
  if (process.platform === "win32") {
    // Windows has no process groups, and its .cmd files need the SDK's own way to start them.
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const transport = new StdioClientTransport({ command, args, env, stderr: "ignore", ...where });
    return { transport, endSession, errors: () => "" };
  }
  const { ProcessTransport } = await import("./processTransport.ts");
  const transport = new ProcessTransport({ ...findServerProgram(command, env), args, ...where });
  const errors = (): string => {
    const written = transport.errorText.trim();
    return written === "" ? "" : `\nIts standard error ends with:\n${written}`;
  };
  return { transport, endSession, errors };
}
