import { defineTool, type ExecutableTool, type ToolCallInfo } from "@toolcrib/core";
import { showLine, untilAborted } from "@toolcrib/core/internal";
import { limitBytes, messageOf, withNotice } from "@toolcrib/core/text";
import { shownName } from "../errors.ts";
import { record } from "../mapping.ts";
import { listPages, withinTime } from "./listPages.ts";
import type { MountedServer } from "./mountedServer.ts";
import type { BoundText } from "./mountedTool.ts";
import { readResult } from "./readResult.ts";

/** Most resources of a server that are listed, and most templates. */
const mostListed = 500;
const maxListBytes = 50 * 1024;

/**
 * Makes the tools `list_resources` and `read_resource` over all servers; a list of all waits `patienceMs` for each. They declare no effects and no traits: what a server does
 * when it is asked is known to it alone, so a policy asks.
 */
export function createResourceTools(
  servers: readonly MountedServer[],
  timeoutMs: number,
  patienceMs: number,
  bound: BoundText,
): ExecutableTool[] {
  if (servers.length === 0) return [];
  const names = servers.map(({ name }) => name);
  const serverOf = (name: unknown): MountedServer => servers.find((one) => one.name === name) as MountedServer;
  const server = { type: "string", enum: names, description: "Name of the MCP server" } as const;
  const list = defineTool({
    name: "list_resources",
    description: "List what MCP servers offer to read: addresses for read_resource, and templates of addresses.",
    parameters: {
      type: "object",
      properties: { server: { ...server, description: "Only of this MCP server" } },
      additionalProperties: false,
    },
    origin: "@toolcrib/mcp",
    timeoutMs,
    async execute({ server: only }, call) {
      if (only !== undefined) return answerOf(await listOf(serverOf(only), call));
      const lists = servers.map((one) =>
        withinTime(patienceMs, call.signal, (signal) => listOf(one, { ...call, signal })).catch((error: unknown) => [
          `${shownName(one.name)}: ${showLine(messageOf(error), 500)}`,
        ]),
      );
      return answerOf((await Promise.all(lists)).flat());
    },
  });
  const read = defineTool({
    name: "read_resource",
    description: "Read a resource of an MCP server by its address, as list_resources gives it.",
    parameters: {
      type: "object",
      properties: { server, uri: { type: "string", minLength: 1, description: "Address of the resource" } },
      required: ["server", "uri"],
      additionalProperties: false,
    },
    origin: "@toolcrib/mcp",
    timeoutMs,
    async execute({ server: name, uri }, call) {
      const result = record(await serverOf(name).request("resources/read", { uri }, call));
      const contents = Array.isArray(result.contents) ? result.contents : [];
      const { text } = readResult({ content: contents.map((resource) => ({ type: "resource", resource })) });
      return text === "" ? "(empty)" : bound(text, "read_resource");
    },
  });
  return [list, read];
}

/** Writes a line for each resource of a server. */
async function listOf(server: MountedServer, call: ToolCallInfo): Promise<string[]> {
  if (!(await untilAborted(server.offers("resources"), call.signal))) return [];
  const send = (method: string, params: Record<string, unknown>): Promise<unknown> =>
    server.request(method, params, call);
  const found = await listPages(send, "resources/list", "resources", mostListed);
  // Not every server that has resources knows the other request.
  const templates = await listPages(send, "resources/templates/list", "resourceTemplates", mostListed).catch(() => {
    call.signal?.throwIfAborted();
    return { entries: [], isCut: false };
  });
  const isCut = found.isCut || templates.isCut;
  return [
    ...found.entries.map((one) => lineOf(server.name, one.uri, one)),
    ...templates.entries.map((one) => lineOf(server.name, one.uriTemplate, one, "template ")),
    ...(isCut ? [`${shownName(server.name)}: there are more than ${mostListed}`] : []),
  ];
}

function lineOf(
  server: string,
  address: unknown,
  { title, name, mimeType, description }: Record<string, unknown>,
  kind = "",
): string {
  const about = [title ?? name, mimeType, description].filter((one) => typeof one === "string" && one !== "");
  const words = about.map((one) => showLine(String(one), 200)).join(", ");
  return `${shownName(server)}: ${kind}${showLine(String(address), 2000)}${words === "" ? "" : ` (${words})`}`;
}

function answerOf(lines: readonly string[]): string {
  if (lines.length === 0) return "There are no resources.";
  const text = lines.join("\n");
  const shown = limitBytes(text, maxListBytes);
  if (shown === text) return text;
  const count = shown.split("\n").filter((line) => line !== "").length - 1;
  return withNotice(lines.slice(0, count).join("\n"), { shown: count, total: lines.length, unit: "resources" });
}
