import { isMarked, MarkedError } from "@toolcrib/core/internal";
import { withoutControls } from "@toolcrib/core/text";

/** Errors of MCP servers and of the files that name them, beside the failure of a call. */
export interface McpErrorDetails {
  /** The `mcpServers` entry cannot be used. */
  invalid_config: { problem: string };
  /** A setting of the entry has no effect, or names a tool that the server does not have. */
  unused_setting: { problem: string };
  /** The server could not be started or reached, or ended while it was needed. */
  server_failed: { cause?: unknown };
  /** A tool of the server cannot be mounted: its name or schema is refused. */
  invalid_tool: { tool: string; problem: string };
  /** A tool runs only in a way that is not supported here, such as a task. The server is right. */
  unsupported_tool: { tool: string; problem: string };
  /** A tool differs from the one that was accepted, in its description, schema or hints. `difference` shows each place, before and after. */
  tool_changed: { tool: string; accepted: string; found: string; difference: string };
  /** Says that the server's instructions differ from those that were accepted. */
  instructions_changed: { difference: string };
  /** The server lists more or larger tools than can be mounted. */
  tools_left_out: { problem: string };
  /** Says that a tool is new since the server's tools were first seen, and was not accepted. */
  tool_added: { tool: string; found: string; difference: string };
  /** The server does not list the tool any more. */
  tool_withdrawn: { tool: string };
  /** Says that the server has more or larger tools than every request should hold. All are mounted. */
  many_tools: { problem: string };
  /** The tool store could not be read or written. */
  store_failed: { cause?: unknown };
  /** The server asks for a login, and there is none that it takes. */
  login_required: { url: string };
  /** A login, or its renewal, has failed. */
  login_failed: { cause?: unknown };
  /** A file that names servers is not valid, or cannot be used. */
  bad_config_file: { file: string };
  /** A server is not in the file. */
  unknown_server: { file: string };
  /** The user has not allowed the servers, and nobody can be asked. */
  not_allowed: { names: readonly string[] };
}

export type McpErrorCode = keyof McpErrorDetails;

/** A failure of a mounted server or of one of its tools; tell kinds apart by `code`. */
export class McpError<Code extends McpErrorCode = McpErrorCode> extends MarkedError {
  declare readonly name: "McpError";
  readonly code: Code;
  /** The server's name in `mcpServers`; empty where it is about the file. */
  readonly server: string;
  readonly details: McpErrorDetails[Code];

  constructor(code: Code, server: string, message: string, details: McpErrorDetails[Code], cause?: unknown) {
    super("McpError", withoutControls(message), cause);
    this.code = code;
    this.server = server;
    this.details = details;
  }
}

/** Narrows by `code`, so that `details` has its type. */
export type AnyMcpError = { [Code in McpErrorCode]: McpError<Code> }[McpErrorCode];

/** Returns true for an McpError of this or any other installed copy of the package. */
export function isMcpError(value: unknown): value is AnyMcpError {
  return isMarked(value, "McpError");
}

/** Returns the reason that an error gives, also one of another realm. A TypeError of `fetch` has its reason in the cause. */
export function reasonOf(error: unknown): string {
  if (!isErrorLike(error)) return String(error);
  const hidden = error.name === "TypeError" && isErrorLike(error.cause) ? error.cause : error;
  return hidden.message || String(hidden.code ?? hidden.name);
}

function isErrorLike(value: unknown): value is { message: string; name?: unknown; code?: unknown; cause?: unknown } {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}

/** Shows the name of a server or tool in messages. */
export { shownName } from "@toolcrib/core/internal";
