import type { Client, Progress } from "@modelcontextprotocol/client";
import type { ToolCallInfo, ToolProgress } from "@toolcrib/core";
import { type ListedTool, record } from "./mapping.ts";

export type CallWatch = Pick<ToolCallInfo, "signal" | "onProgress">;

/** The registry has the clock; the SDK's own must never come first. */
const noTimeout = 2 ** 31 - 1;
const mostPages = 1000;

/** A result as it came: a server's mistakes are looked at one tool at a time, not by refusing the whole answer. */
const anyResult = {
  "~standard": { version: 1, vendor: "toolcrib", validate: (value: unknown) => ({ value }) },
} as const;

/** Every tool that a server lists, page by page. `timeout` is milliseconds for a page. */
export async function listTools(client: Client, timeout: number): Promise<ListedTool[]> {
  // From 2026-07-28 on the SDK has a part in calls (headers made from arguments), for which it reads the list itself.
  if (client.getProtocolEra() === "modern") return (await client.listTools(undefined, { timeout })).tools;
  const tools: ListedTool[] = [];
  let cursor: unknown;
  for (let page = 0; page < mostPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result = record(await client.request({ method: "tools/list", params }, anyResult, { timeout }));
    const listed = Array.isArray(result.tools) ? result.tools : [];
    tools.push(...listed.filter((tool): tool is ListedTool => typeof record(tool).name === "string"));
    if (result.nextCursor === undefined || result.nextCursor === null || result.nextCursor === cursor) break;
    cursor = result.nextCursor;
  }
  return tools;
}

/** The result of `tools/call` as the server sent it. */
export function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  { signal, onProgress }: CallWatch,
): Promise<unknown> {
  const options = {
    timeout: noTimeout,
    ...(signal && { signal }),
    ...(onProgress && { onprogress: (report: Progress) => onProgress(report as ToolProgress) }),
  };
  const params = { name, arguments: args };
  if (client.getProtocolEra() === "modern") return client.callTool(params, options);
  return client.request({ method: "tools/call", params }, anyResult, options);
}
