import { type ExecutableTool, fromMcpHints, isToolError, ToolRegistry, toolOutput } from "@toolcrib/core";
import { mendSchema } from "@toolcrib/core/internal";
import { withoutControls } from "@toolcrib/core/text";
import { shownName } from "../errors.ts";
import { failureReason, type ListedTool, record } from "../mapping.ts";
import { withFittedPictures } from "./fittedPictures.ts";
import type { MountedServer } from "./mountedServer.ts";
import { readResult } from "./readResult.ts";
import { leftOutTool } from "./toolErrors.ts";

/** Shortens a long text of a server; `name` is the tool's. A failure has less room, as the registry cuts it. */
export type BoundText = (text: string, name: string, isError?: boolean) => string | Promise<string>;

/** Makes a tool of a mounted server under `name`. Throws an McpError (`invalid_tool`) when a registry would refuse it. */
export function createMountedTool(
  server: MountedServer,
  tool: ListedTool,
  name: string,
  timeoutMs: number,
  bound: BoundText,
): ExecutableTool {
  const description = typeof tool.description === "string" ? withoutControls(tool.description).trim() : "";
  const hints = fromMcpHints(record(tool.annotations));
  const { isTrusted, isDeferred, questions } = server.options;
  const origin = `mcp:${server.name}`;
  const mounted: ExecutableTool = {
    // Claims of a server must not skip a question, nor let calls run side by side.
    ...(isTrusted && hints),
    hints,
    ...(isDeferred && { deferred: true }),
    origin,
    name,
    timeoutMs,
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description: description || `The tool ${shownName(tool.name)} of the MCP server ${shownName(server.name)}.`,
        parameters: mendSchema(tool.inputSchema),
      },
    }),
    async execute(args, call = {}) {
      const send = (): Promise<unknown> => server.call(tool.name, args, call);
      const { callId, labels, signal } = call;
      const asked = { name, tool: mounted, origin, effects: undefined, callId, labels, signal };
      const { result, refusals } = questions
        ? await questions.during({ ...asked, args: Object.freeze(structuredClone(args)) }, send)
        : { result: await send(), refusals: [] };
      const { text, rich, data, isError } = readResult(await withFittedPictures(result, signal));
      if (isError) {
        const reasons = refusals.length > 0 ? ` (${refusals.join("; ")})` : "";
        throw new Error(await bound(server.remote.redactWords(failureReason(tool.name, text) + reasons), name, true));
      }
      const output = (await bound(text, name)) || "(no output)";
      if (rich.length === 0 && data === undefined) return output;
      return toolOutput(output, { ...(rich.length > 0 && { content: rich }), data });
    },
  };
  try {
    new ToolRegistry().register(mounted);
    return mounted;
  } catch (cause) {
    const problem = isToolError(cause) && cause.code === "invalid_tool" ? cause.details.problem : String(cause);
    throw leftOutTool("invalid_tool", server.name, tool.name, problem, cause);
  }
}
