import type { Client, Progress } from "@modelcontextprotocol/client";
import type { ToolCallInfo, ToolProgress } from "@toolcrib/core";
import { longestDelayMs } from "@toolcrib/core/internal";
import { record } from "../mapping.ts";
import { ListedTools } from "./listedTools.ts";

export type CallOptions = Pick<ToolCallInfo, "signal" | "onProgress">;

const maxPages = 1000;

/** Accepts any result: one invalid tool must not make the SDK refuse the whole list. */
const anyResult = {
  "~standard": { version: 1, vendor: "toolcrib", validate: (value: unknown) => ({ value }) },
} as const;

/** Collects the tools that a server lists, page by page, within `ListedTools`' limits. `timeout` is milliseconds for all of it. */
export async function listTools(client: Client, timeout: number): Promise<ListedTools> {
  const listed = new ListedTools();
  const options = { timeout, signal: AbortSignal.timeout(timeout) };
  // From revision 2026-07-28 on the SDK makes headers from arguments, and reads the list itself for that.
  if (client.getProtocolEra() === "modern") {
    listed.add((await client.listTools(undefined, options)).tools);
    return listed;
  }
  let cursor: unknown;
  for (let page = 0; page < maxPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result = record(await client.request({ method: "tools/list", params }, anyResult, options));
    const { tools, nextCursor } = result;
    if (!listed.add(tools) || nextCursor === undefined || nextCursor === null || nextCursor === cursor) return listed;
    cursor = nextCursor;
  }
  listed.cut(`its list of tools has more than ${maxPages} pages; the tools of the first ${maxPages} are mounted`);
  return listed;
}

/** Returns the result of any other request as the server sent it. */
export function sendRequest(
  client: Client,
  method: string,
  params: Record<string, unknown>,
  { signal }: Pick<CallOptions, "signal">,
): Promise<unknown> {
  const options = { timeout: longestDelayMs, ...(signal && { signal }) };
  return client.request({ method, params }, anyResult, options);
}

/** Returns the result of `tools/call` as the server sent it. */
export function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  { signal, onProgress }: CallOptions,
): Promise<unknown> {
  const options = {
    // The registry limits the time of a call; the SDK must never end it first.
    timeout: longestDelayMs,
    ...(signal && { signal }),
    ...(onProgress && { onprogress: (report: Progress) => onProgress(report as ToolProgress) }),
  };
  const params = { name, arguments: args };
  if (client.getProtocolEra() === "modern") return client.callTool(params, options);
  return client.request({ method: "tools/call", params }, anyResult, options);
}
