import type { ToolCallInfo } from "@toolcrib/core";
import { showLine } from "@toolcrib/core/internal";
import { limitBytes, showInvisible } from "@toolcrib/core/text";
import { type AnyMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { fromCallResult, mountedName, record } from "../mapping.ts";
import { listPages } from "./listPages.ts";
import type { MountedServer } from "./mountedServer.ts";

/** Most prompts of a server. */
const mostPrompts = 200;
const mostArguments = 20;
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

  constructor(servers: readonly MountedServer[]) {
    this.#servers = servers;
  }

  async list(call: Pick<ToolCallInfo, "signal">): Promise<McpPrompts> {
    const problems: AnyMcpError[] = [];
    const lists = await Promise.all(
      this.#servers.map(async (server) => {
        try {
          if (!(await server.offers("prompts"))) return { server, entries: [] };
          const { entries } = await listPages(
            (method, params) => server.request(method, params, call),
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

  /** The text of a prompt, at most 50 KB. Throws a RangeError for a name that is not listed. */
  async write(
    name: string,
    args: Readonly<Record<string, string>>,
    call: Pick<ToolCallInfo, "signal">,
  ): Promise<string> {
    if (!this.#known.has(name)) await this.list(call);
    const known = this.#known.get(name);
    if (!known) throw new RangeError(`There is no prompt ${shownName(name)}`);
    const result = record(await known.server.request("prompts/get", { name: known.prompt, arguments: args }, call));
    const messages = Array.isArray(result.messages) ? result.messages : [];
    const texts = messages.slice(0, 100).map((message) => {
      const { role, content } = record(message);
      const { text } = fromCallResult({ content: [content] });
      return role === "user" ? text : `[${showLine(String(role), 40)}] ${text}`;
    });
    const lines = texts.join("\n\n").split("\n");
    return limitBytes(lines.map((line) => line.split("\t").map(showInvisible).join("\t")).join("\n"), maxPromptBytes);
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
          typeof one.name === "string"
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
