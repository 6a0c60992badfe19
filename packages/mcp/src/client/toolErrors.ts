import { type AnyMcpError, McpError, reasonOf, shownName } from "../errors.ts";
import { differenceOf } from "./difference.ts";
import { fingerprint, type McpToolChange } from "./fingerprint.ts";

export function toolChanged({ server, accepted, found }: McpToolChange): AnyMcpError {
  const difference = differenceOf(accepted, found);
  if (!accepted) {
    const message =
      `Tool ${shownName(found.name)} of the MCP server ${shownName(server)} is new since the server was mounted; review it and accept it ` +
      "to use it";
    return new McpError("tool_added", server, message, { tool: found.name, found: fingerprint(found), difference });
  }
  const message =
    `Tool ${shownName(found.name)} of the MCP server ${shownName(server)} has changed since it was accepted: its description, schema or ` +
    "hints differ; review them and accept the change to use it again";
  const details = { tool: found.name, accepted: fingerprint(accepted), found: fingerprint(found), difference };
  return new McpError("tool_changed", server, message, details);
}

export function toolWithdrawn(server: string, tool: string): McpError<"tool_withdrawn"> {
  const message = `The MCP server ${shownName(server)} has withdrawn its tool ${shownName(tool)}: it does not list it any more; use another tool`;
  return new McpError("tool_withdrawn", server, message, { tool });
}

/** Makes an error about a server's entry, or about its tools as a whole. */
export function serverProblem<Code extends "unused_setting" | "many_tools" | "tools_left_out">(
  code: Code,
  server: string,
  problem: string,
): McpError<Code> {
  return new McpError<Code>(code, server, `MCP server ${shownName(server)}: ${problem}`, { problem });
}

export function instructionsChanged({ server, accepted, found }: McpToolChange): McpError<"instructions_changed"> {
  const message =
    `The instructions of the MCP server ${shownName(server)} have changed since they were accepted; they are left out until you ` +
    "review them and accept the change";
  return new McpError("instructions_changed", server, message, { difference: differenceOf(accepted, found) });
}

/** Makes the error of a tool that cannot be mounted. */
export function leftOutTool<Code extends "invalid_tool" | "unsupported_tool">(
  code: Code,
  server: string,
  tool: string,
  problem: string,
  cause?: unknown,
): McpError<Code> {
  const message = `Tool ${shownName(tool)} of the MCP server ${shownName(server)} is left out: ${problem}`;
  return new McpError<Code>(code, server, message, { tool, problem }, cause);
}

export function storeFailed(server: string, what: string, cause: unknown): McpError<"store_failed"> {
  const message = `The accepted tools of the MCP server ${shownName(server)} ${what}: ${reasonOf(cause)}`;
  return new McpError("store_failed", server, message, { cause }, cause);
}
