import type { AuthProvider, Transport } from "@modelcontextprotocol/client";
import type { Redact } from "../redactErrors.ts";
import type { ResolvedServer } from "../serverConfig.ts";
import { answerLostRequests, endWithStream } from "./lostAnswers.ts";
import { createServerFetch } from "./serverFetch.ts";
import { findServerProgram } from "./serverProgram.ts";

export interface ServerTransport {
  transport: Transport;
  /** Tells an HTTP server that its session is over. */
  endSession: () => Promise<void>;
  /** The output of the server beside its messages, without secrets and with an introduction; empty when there is none. */
  errors: (redact: Redact) => string;
  /** True while the server knows this client by a session that it can lose. */
  hasSession?: () => boolean;
  /** Says how the server's process ended by itself; undefined if it did not. Only for a process. */
  exitReason?: () => Promise<string | undefined>;
}

/** A server that sends a longer message is disconnected, and ended when it is a process of ours. */
const maxMessageBytes = 10 * 1024 * 1024;
const tooLong = `\nIt was ended because it sent a message of more than ${maxMessageBytes} bytes.`;

/** Makes the transport to a server, not started yet; `authProvider` is for one at an address. Throws when its program is not found. */
export function createTransport(target: ResolvedServer, authProvider?: AuthProvider): Promise<ServerTransport> {
  return target.kind === "command" ? openProcess(target) : openAddress(target, authProvider);
}

async function openAddress(
  { url, headers, sse }: Extract<ResolvedServer, { kind: "url" }>,
  authProvider: AuthProvider | undefined,
): Promise<ServerTransport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  let isTooLong = false;
  const fetch = createServerFetch(url, maxMessageBytes, () => {
    isTooLong = true;
    void transport.close();
  });
  const options = { requestInit: { headers }, fetch, ...(authProvider && { authProvider }) };
  const errors = (): string => (isTooLong ? tooLong : "");
  const streamable = sse ? undefined : new StreamableHTTPClientTransport(url, options);
  const transport = streamable ?? new SSEClientTransport(url, options);
  if (streamable) answerLostRequests(streamable);
  else endWithStream(transport as InstanceType<typeof SSEClientTransport>);
  const endSession = async (): Promise<void> => streamable?.terminateSession();
  // Over SSE the address of the stream is the session.
  const hasSession = (): boolean => !streamable || streamable.sessionId !== undefined;
  return { transport, endSession, errors, hasSession };
}

async function openProcess({
  command,
  args,
  env,
  cwd,
}: Extract<ResolvedServer, { kind: "command" }>): Promise<ServerTransport> {
  const where = cwd === undefined ? {} : { cwd };
  const endSession = async (): Promise<void> => undefined;
  if (process.platform === "win32") {
    // Windows has no process groups. The SDK starts .cmd files by cmd.exe, with each argument escaped, but would look for a bare name in
    // the working folder first.
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const program = findServerProgram(command, env);
    const variables = { ...env, PATH: program.env.PATH ?? "" };
    const transport = new StdioClientTransport({
      command: program.command,
      args,
      env: variables,
      stderr: "ignore",
      maxBufferSize: maxMessageBytes,
      ...where,
    });
    return { transport, endSession, errors: () => "" };
  }
  const { ProcessTransport } = await import("./processTransport.ts");
  // Now: it starts while the SDK is loaded.
  const transport = new ProcessTransport({ ...findServerProgram(command, env), args, ...where }, maxMessageBytes);
  const errors = (redact: Redact): string => {
    const errorText = transport.errors.toText(redact);
    const strayText = transport.strayLines.toText(redact);
    const said = errorText === "" ? "" : `\nIts standard error:\n${errorText}`;
    const strays = strayText === "" ? "" : `\nIts lines on standard output that are no messages:\n${strayText}`;
    return (transport.isTooLong ? tooLong : "") + said + strays;
  };
  const exitReason = async (): Promise<string | undefined> => {
    await transport.whenExited();
    return transport.exitReason;
  };
  return { transport, endSession, errors, exitReason };
}
