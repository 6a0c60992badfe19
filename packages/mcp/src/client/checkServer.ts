import type { AnyMcpError, McpErrorCode } from "../errors.ts";
import { shownName } from "../errors.ts";
import { type MountMcpOptions, mountMcp } from "./mountMcp.ts";
import type { McpServerConfig } from "./serverConfig.ts";
import type { McpToolStore } from "./toolStore.ts";

/** Problems that are no fault of the server, and keep no other tool from being used. */
const advisory: readonly McpErrorCode[] = ["many_tools", "unused_setting", "unsupported_tool"];

/** The findings about a server. */
export interface McpServerCheck {
  readonly server: string;
  /** True if it answers, and all its tools can be used, but for those of a kind that is not supported. */
  readonly isOk: boolean;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly problems: readonly AnyMcpError[];
  /** The result in a sentence. */
  readonly text: string;
  /** Advice about a problem. */
  readonly advice?: string | undefined;
}

/**
 * Starts or reaches a server, lists its tools and ends it. With a `store` the tools are compared with those that were accepted, also where
 * the entry is known. Never rejects for what is wrong with the server; rejects where `signal` fires. Only for a server that its user has
 * allowed.
 */
export async function checkServer(
  server: string,
  entry: McpServerConfig,
  options: MountMcpOptions = {},
): Promise<McpServerCheck> {
  const { store } = options;
  const mount = await mountMcp(
    { mcpServers: { [server]: entry } },
    { ...options, ...(store && { store: withoutCache(store) }) },
  );
  try {
    const { problems } = mount;
    const tools = mount.tools.map((tool) => ({ name: tool.name, description: tool.getSchema().function.description }));
    const isOk = problems.every(({ code }) => advisory.includes(code));
    const first = problems.find(({ code }) => !advisory.includes(code)) ?? problems[0];
    const count = `${shownName(server)}: ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`;
    const text = [...(tools.length > 0 || isOk ? [count] : []), ...problems.map(({ message }) => message)].join("\n");
    return { server, isOk, tools, problems, text, advice: first && adviceFor(first.code, server) };
  } finally {
    await mount.close();
  }
}

function adviceFor(code: McpErrorCode, server: string): string {
  switch (code) {
    case "login_required":
    case "login_failed":
      return `toolcrib mcp login ${shownName(server)}`;
    case "tool_changed":
    case "tool_added":
    case "instructions_changed":
      return "look at the changes, then accept them: toolcrib mcp test --accept";
    case "store_failed":
      return "check the file that keeps the accepted tools, then remove it";
    case "invalid_tool":
    case "tools_left_out":
      return "the other tools can be used; tell whoever makes the server";
    case "unsupported_tool":
      return "the other tools can be used; this one cannot be used here yet";
    case "many_tools":
    case "unused_setting":
      return "its tools can be used; correct its entry";
    default:
      return "check its entry: the command and args, or the url and headers";
  }
}

/** Makes a store that makes every server list its tools again, to compare them with what was accepted. */
function withoutCache(store: McpToolStore): McpToolStore {
  return {
    async load(server) {
      const known = await store.load(server);
      return known && { ...known, config: "" };
    },
    save: (server, known) => store.save(server, known),
  };
}
