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

export function unusedSetting(server: string, problem: string): McpError<"unused_setting"> {
  return new McpError("unused_setting", server, `MCP server ${shownName(server)}: ${problem}`, { problem });
}

export function manyTools(server: string, problem: string): McpError<"many_tools"> {
  return new McpError("many_tools", server, `MCP server ${shownName(server)}: ${problem}`, { problem });
}

export function instructionsChanged({ server, accepted, found }: McpToolChange): McpError<"instructions_changed"> {
  const message =
    `The instructions of the MCP server ${shownName(server)} have changed since they were accepted; they are left out until you ` +
    "review them and accept the change";
  return new McpError("instructions_changed", server, message, { difference: differenceOf(accepted, found) });
}

export function invalidTool(server: string, tool: string, problem: string, cause?: unknown): McpError<"invalid_tool"> {
  const message = `Tool ${shownName(tool)} of the MCP server ${shownName(server)} is left out: ${problem}`;
  return new McpError("invalid_tool", server, message, { tool, problem }, cause);
}

export function toolsLeftOut(server: string, problem: string): McpError<"tools_left_out"> {
  return new McpError("tools_left_out", server, `MCP server ${shownName(server)}: ${problem}`, { problem });
}

export function storeFailed(server: string, what: string, cause: unknown): McpError<"store_failed"> {
  const message = `The accepted tools of the MCP server ${shownName(server)} ${what}: ${reasonOf(cause)}`;
  return new McpError("store_failed", server, message, { cause }, cause);
}
