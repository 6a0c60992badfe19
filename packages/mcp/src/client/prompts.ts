import type { ToolCallInfo } from "@toolcrib/core";
import { showLine, showLines, untilAborted } from "@toolcrib/core/internal";
import { limitBytes, showInvisible } from "@toolcrib/core/text";
import { type AnyMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { fromCallResult, mountedName, record } from "../mapping.ts";
import { listPages } from "./listPages.ts";
import type { MountedServer } from "./mountedServer.ts";

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
        const signal = this.#within(call);
        try {
          if (!(await untilAborted(server.offers("prompts"), signal))) return { server, entries: [] };
          const { entries } = await listPages(
            (method, params) => server.request(method, params, { signal }),
            "prompts/list",
            "prompts",
            mostPrompts,
          );
          return { server, entries };
        } catch (error) {
          call.signal?.throwIfAborted();
          problems.push(failed(server, error));
          return { server, entries: [] };
        }
      }),
    );
    this.#known.clear();
    const prompts = lists.flatMap(({ server, entries }) => entries.flatMap((entry) => this.#add(server, entry)));
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
    const result = record(await known.server.request("prompts/get", sent, { signal: this.#within(call) }));
    const messages = Array.isArray(result.messages) ? result.messages : [];
    const texts = messages.slice(0, 100).map((message) => {
      const { role, content } = record(message);
      const { text } = fromCallResult({ content: [content] });
      return role === "user" ? text : `[${showLine(String(role), 40)}] ${text}`;
    });
    return limitBytes(showLines(texts.join("\n\n")), maxPromptBytes);
  }

  #within({ signal }: Pick<ToolCallInfo, "signal">): AbortSignal {
    const limit = AbortSignal.timeout(this.#timeoutMs);
    return signal ? AbortSignal.any([signal, limit]) : limit;
  }

  #add(
    server: MountedServer,
    { name: prompt, title, description, arguments: args }: Record<string, unknown>,
  ): McpPrompt[] {
    if (typeof prompt !== "string" || prompt === "") return [];
    const name = mountedName(server.name, prompt, (taken) => this.#known.has(taken));
    this.#known.set(name, { server, prompt });
    const given = (Array.isArray(args) ? args : []).slice(0, mostArguments).map(record);
    return [
      {
        name,
        server: server.name,
        description: words(description ?? title),
        arguments: given.flatMap((one) =>
          // It goes back to the server as it is, so it is left out where it cannot be shown so.
          typeof one.name === "string" && one.name.length <= longestName && showInvisible(one.name) === one.name
            ? [{ name: one.name, description: words(one.description), isRequired: one.required === true }]
            : [],
        ),
      },
    ];
  }
}

function words(given: unknown): string {
  return typeof given === "string" ? showLine(given.replace(/\s+/g, " ").trim(), 500) : "";
}

function failed(server: MountedServer, error: unknown): AnyMcpError {
  const message = `The prompts of the MCP server ${shownName(server.name)} cannot be listed: ${server.redact(reasonOf(error))}`;
  return new McpError("server_failed", server.name, message, {});
}
