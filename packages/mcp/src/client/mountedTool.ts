import { type ExecutableTool, fromMcpHints, isToolError, ToolRegistry, toolOutput } from "@toolcrib/core";
import { withoutControls } from "@toolcrib/core/text";
import { shownName } from "../errors.ts";
import { failureReason, fromCallResult, type ListedTool, record, toParameters } from "../mapping.ts";
import type { MountedServer } from "./mountedServer.ts";
import { invalidTool } from "./toolErrors.ts";

/** A tool of a mounted server under `name`. Throws an McpError (`invalid_tool`) when a registry would refuse it. */
export function createMountedTool(
  server: MountedServer,
  tool: ListedTool,
  name: string,
  timeoutMs: number,
): ExecutableTool {
  const description = typeof tool.description === "string" ? withoutControls(tool.description).trim() : "";
  const hints = fromMcpHints(record(tool.annotations));
  const mounted: ExecutableTool = {
    // What a server claims must not skip a question, nor let calls run side by side.
    ...(server.isTrusted && hints),
    hints,
    origin: `mcp:${server.name}`,
    name,
    timeoutMs,
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description: description || `The tool ${shownName(tool.name)} of the MCP server ${shownName(server.name)}.`,
        parameters: toParameters(tool.inputSchema),
      },
    }),
    async execute(args, call = {}) {
      const { text, rich, data, isError } = fromCallResult(await server.call(tool.name, args, call));
      if (isError) throw new Error(server.redact(failureReason(tool.name, text)));
      const output = text || "(no output)";
      if (rich.length === 0 && data === undefined) return output;
      return toolOutput(output, { ...(rich.length > 0 && { content: rich }), data });
    },
  };
  try {
    new ToolRegistry().register(mounted);
    return mounted;
  } catch (cause) {
    const problem = isToolError(cause) && cause.code === "invalid_tool" ? cause.details.problem : String(cause);
    throw invalidTool(server.name, tool.name, problem, cause);
  }
}
