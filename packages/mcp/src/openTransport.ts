import type { Transport } from "@modelcontextprotocol/client";
import type { ResolvedServer } from "./serverConfig.ts";

const mostErrorText = 2000;

export interface OpenedTransport {
  transport: Transport;
  /** Tells an HTTP server that its session is over. */
  endSession: () => Promise<void>;
  /** The last lines that the server wrote to standard error, with what they are. */
  errors: () => string;
}

/** The way to a server, not started yet. */
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
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const where = cwd === undefined ? {} : { cwd };
  const transport = new StdioClientTransport({ command, args, env, stderr: "pipe", ...where });
  let written = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    written = (written + chunk.toString()).slice(-mostErrorText);
  });
  const errors = (): string => (written.trim() === "" ? "" : `\nIts standard error ends with:\n${written.trim()}`);
  return { transport, endSession: async () => undefined, errors };
}
