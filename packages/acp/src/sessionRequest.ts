import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { showLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { invalidParams } from "./errors.ts";
import type { AcpMcpServer, AcpSessionRequest } from "./types.ts";

interface GivenRequest {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly mcpServers?: readonly McpServer[] | undefined;
}

/** Checks what a client asks for. Throws in words for a directory that is not there, and for a server that cannot be mounted. */
export async function readSessionRequest(given: GivenRequest, signal: AbortSignal): Promise<AcpSessionRequest> {
  const { cwd, additionalDirectories = [], mcpServers = [] } = given;
  const directory = await realDirectory("cwd", cwd);
  const roots = [directory];
  for (const more of additionalDirectories) roots.push(await realDirectory("additionalDirectories", more));
  return { cwd: directory, roots: [...new Set(roots)], mcpServers: serversOf(mcpServers), signal };
}

/** Returns the path without links, as programs that are started there see it. */
async function realDirectory(field: string, path: string): Promise<string> {
  const refuse = (why: string): Error => invalidParams(`${field}: ${showLine(path)} ${why}`);
  if (!isAbsolute(path)) throw refuse("is not an absolute path");
  if (path.includes("\0")) throw refuse("holds a NUL character");
  const stats = await stat(path).catch((error: unknown) => {
    throw refuse(`cannot be opened: ${messageOf(error).split(",", 1)[0]}`);
  });
  if (!stats.isDirectory()) throw refuse("is not a directory");
  return realpath(path);
}

function serversOf(servers: readonly McpServer[]): Record<string, AcpMcpServer> {
  const named = new Map<string, AcpMcpServer>();
  for (const server of servers) {
    const { name } = server;
    if (named.has(name)) throw invalidParams(`mcpServers: two servers are named ${showLine(name)}`);
    named.set(name, serverOf(server));
  }
  return Object.fromEntries(named);
}

function serverOf(server: McpServer): AcpMcpServer {
  const pairs = (list: readonly { name: string; value: string }[]): Record<string, string> =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]));
  if (!("type" in server)) return { command: server.command, args: [...server.args], env: pairs(server.env) };
  if (server.type === "http") return { type: "http", url: server.url, headers: pairs(server.headers) };
  throw invalidParams(
    `mcpServers: ${showLine(server.name)} is named with the transport SSE; name it with http or a command`,
  );
}
