import type { ToolCallInfo } from "@toolcrib/core";
import { showLine, showLines, untilAborted } from "@toolcrib/core/internal";
import { limitBytes, showInvisible } from "@toolcrib/core/text";
import { type AnyMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { record } from "../mapping.ts";
import { listPages, withinTime } from "./listPages.ts";
import { mountedNames } from "./mountedNames.ts";
import type { MountedServer } from "./mountedServer.ts";
import { readResult } from "./readResult.ts";

const mostPrompts = 200;
const mostArguments = 20;
const longestName = 128;
const maxPromptBytes = 50 * 1024;

/** A message that a server offers to write for the user. */
export interface McpPrompt {
  /** `mcp__SERVER__PROMPT`, as tools are named. */
  readonly name: string;
  readonly server: string;
  /** In the server's words, on one line. */
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly isRequired: boolean }[];
}

export interface McpPrompts {
  readonly prompts: readonly McpPrompt[];
  /** Servers that could not be asked. */
  readonly problems: readonly AnyMcpError[];
}

/** Lists the prompts of servers, which are started for it, and has one written. */
export class Prompts {
  readonly #servers: readonly MountedServer[];
  /** The name at the server, by the name here. */
  readonly #known = new Map<string, { readonly server: MountedServer; readonly prompt: string }>();
  /** Milliseconds that a server may take for an answer, its start included. */
  readonly #timeoutMs: number;

  constructor(servers: readonly MountedServer[], timeoutMs: number) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
  }

  async list(call: Pick<ToolCallInfo, "signal">): Promise<McpPrompts> {
    const problems: AnyMcpError[] = [];
    const lists = await Promise.all(
      this.#servers.map(async (server) => {
        try {
          return await withinTime(this.#timeoutMs, call.signal, async (signal) => {
            if (!(await untilAborted(server.offers("prompts"), signal))) return { server, entries: [] };
            const { entries } = await listPages(
              (method, params) => server.request(method, params, { signal }),
              "prompts/list",
              "prompts",
              mostPrompts,
            );
            return { server, entries };
          });
        } catch (error) {
          call.signal?.throwIfAborted();
          problems.push(failed(server, error));
          return { server, entries: [] };
        }
      }),
    );
    this.#known.clear();
    const offered = new Map<string, { server: MountedServer; name: string; entry: Record<string, unknown> }>();
    for (const { server, entries } of lists) {
      for (const entry of entries) {
        const { name } = entry;
        const key = JSON.stringify([server.name, name]);
        if (typeof name === "string" && name !== "" && !offered.has(key)) offered.set(key, { server, name, entry });
      }
    }
    const all = [...offered.values()];
    const names = mountedNames(all.map(({ server, name }) => ({ server: server.name, name })));
    const prompts = all.map(({ server, name: prompt, entry }, at) => {
      const name = names[at] ?? "";
      this.#known.set(name, { server, prompt });
      return asPrompt(server, name, entry);
    });
    return { prompts, problems };
  }

  /** Writes the text of a prompt, at most 50 KB. Throws a RangeError for a name that is not listed. */
  async write(
    name: string,
    args: Readonly<Record<string, string>>,
    call: Pick<ToolCallInfo, "signal">,
  ): Promise<string> {
    if (!this.#known.has(name)) await this.list(call);
    const known = this.#known.get(name);
    if (!known) throw new RangeError(`There is no prompt ${shownName(name)}`);
    const sent = { name: known.prompt, arguments: args };
    const result = record(
      await withinTime(this.#timeoutMs, call.signal, (signal) => known.server.request("prompts/get", sent, { signal })),
    );
    const messages = Array.isArray(result.messages) ? result.messages : [];
    const texts = messages.slice(0, 100).map((message) => {
      const { role, content } = record(message);
      const { text } = readResult({ content: [content] });
      return role === "user" ? text : `[${showLine(String(role), 40)}] ${text}`;
    });
    return limitBytes(showLines(texts.join("\n\n")), maxPromptBytes);
  }
}

function asPrompt(
  server: MountedServer,
  name: string,
  { title, description, arguments: args }: Record<string, unknown>,
): McpPrompt {
  const given = (Array.isArray(args) ? args : []).slice(0, mostArguments).map(record);
  return {
    name,
    server: server.name,
    description: words(description ?? title),
    arguments: given.flatMap((one) =>
      // It goes back to the server as it is, so it is left out where it cannot be shown so.
      typeof one.name === "string" && one.name.length <= longestName && showInvisible(one.name) === one.name
        ? [{ name: one.name, description: words(one.description), isRequired: one.required === true }]
        : [],
    ),
  };
}

function words(given: unknown): string {
  return typeof given === "string" ? showLine(given.replace(/\s+/g, " ").trim(), 500) : "";
}

function failed(server: MountedServer, error: unknown): AnyMcpError {
  const message = `The prompts of the MCP server ${shownName(server.name)} cannot be listed: ${server.remote.redact(reasonOf(error))}`;
  return new McpError("server_failed", server.name, message, {});
}
