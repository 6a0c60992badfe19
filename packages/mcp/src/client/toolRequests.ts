import type { Client, Progress } from "@modelcontextprotocol/client";
import type { ToolCallInfo, ToolProgress } from "@toolcrib/core";
import { longestDelayMs, mendSchema } from "@toolcrib/core/internal";
import type { ListedTool } from "../mapping.ts";
import { headerProblem } from "./headerProblem.ts";
import { ListedTools } from "./listedTools.ts";
import { pagesOf, type SendRequest } from "./listPages.ts";
import { rawResult } from "./rawResults.ts";

export type CallOptions = Pick<ToolCallInfo, "signal" | "onProgress">;

const maxPages = 1000;

/** Accepts any result: one invalid tool must not make the SDK refuse the whole list. */
const anyResult = {
  "~standard": { version: 1, vendor: "toolcrib", validate: (value: unknown) => ({ value: rawResult(value) }) },
} as const;

/**
 * Collects the tools that a server lists, page by page, within `ListedTools`' limits; a server that declares none is not asked. `timeout`
 * is milliseconds for all of it. `isHttp`: arguments may become headers.
 */
export async function listTools(client: Client, timeout: number, isHttp: boolean): Promise<ListedTools> {
  const hasHeaders = isHttp && isModern(client);
  const listed = new ListedTools(hasHeaders ? headerProblem : undefined);
  if (client.getServerCapabilities()?.tools === undefined) return listed;
  const options = { timeout, signal: AbortSignal.timeout(timeout) };
  const send: SendRequest = (method, params) => client.request({ method, params }, anyResult, options);
  let pages = 0;
  for await (const { tools } of pagesOf(send, "tools/list")) {
    pages += 1;
    if (pages > maxPages)
      listed.cut(`its list of tools has more than ${maxPages} pages; the tools of the first ${maxPages} are mounted`);
    if (!listed.add(tools)) break;
  }
  return listed;
}

/** Returns whether the revision 2026-07-28 or a later one is spoken. */
export function isModern(client: Client): boolean {
  return client.getProtocolEra() === "modern";
}

/**
 * Returns the result of a request as the server sent it; `tool` is the one that it calls. When its caller ends it, the server is told so, but not
 * why: the caller's reason may name what is no business of a server's.
 */
export async function sendRequest(
  client: Client,
  method: string,
  params: Record<string, unknown>,
  { signal, onProgress }: CallOptions,
  tool?: ListedTool,
): Promise<unknown> {
  const own = new AbortController();
  const stop = (): void => own.abort("the client has ended the request");
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const options = {
    // The registry limits the time of a call; the SDK must never end it first.
    timeout: longestDelayMs,
    signal: own.signal,
    ...(onProgress && { onprogress: (report: Progress) => onProgress(report as ToolProgress) }),
  };
  try {
    if (!tool || !isModern(client)) return await client.request({ method, params }, anyResult, options);
    const { name, inputSchema } = tool;
    // The SDK makes headers from arguments, by the schema.
    const toolDefinition = { name, inputSchema: { ...mendSchema(inputSchema), type: "object" as const } };
    return rawResult(await client.callTool({ ...params, name }, { ...options, toolDefinition }));
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
