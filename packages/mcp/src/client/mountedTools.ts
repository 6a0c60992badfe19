import type { ExecutableTool } from "@toolcrib/core";
import { type AnyMcpError, isMcpError } from "../errors.ts";
import type { ListedTool } from "../mapping.ts";
import { mountedNames } from "./mountedNames.ts";
import type { MountedServer, ToolsChange } from "./mountedServer.ts";
import { type BoundText, createMountedTool } from "./mountedTool.ts";
import { leftOutTool } from "./toolErrors.ts";

/** A change of the tools of a server since they were mounted. */
export interface McpToolsChange {
  readonly server: string;
  /** Tools that are new, and those that stand in for one of the same name. */
  readonly tools: readonly ExecutableTool[];
  /** The names of tools that the server does not list any more. Their calls say so. */
  readonly withdrawn: readonly string[];
  /** All that is wrong with its tools now. */
  readonly problems: readonly AnyMcpError[];
}

/** The tools of all servers under the names that they are mounted with. */
export class MountedTools {
  readonly #tools = new Map<string, ExecutableTool>();
  /** The name of each tool that was ever there. */
  readonly #names = new Map<string, string>();
  readonly #timeoutMs: number;

  readonly #bound: BoundText;

  constructor(timeoutMs: number, bound: BoundText) {
    this.#timeoutMs = timeoutMs;
    this.#bound = bound;
  }

  get all(): ExecutableTool[] {
    return [...this.#tools.values()];
  }

  /** Mounts the tools of servers; returns them, and the problems of those that cannot be. */
  add(opened: readonly { readonly server: MountedServer; readonly tools: readonly ListedTool[] }[]): {
    tools: ExecutableTool[];
    problems: AnyMcpError[];
  } {
    const listed = opened.flatMap(({ server, tools }) => tools.map((tool) => ({ server, tool })));
    const unnamed = listed.filter(({ server, tool }) => !this.#names.has(keyOf(server, tool.name)));
    const taken = new Set(this.#names.values());
    const names = mountedNames(
      unnamed.map(({ server, tool }) => ({ server: server.name, name: tool.name })),
      (name) => taken.has(name),
    );
    for (const [at, { server, tool }] of unnamed.entries()) this.#names.set(keyOf(server, tool.name), names[at] ?? "");
    const result = { tools: [] as ExecutableTool[], problems: [] as AnyMcpError[] };
    for (const { server, tool } of listed) {
      const name = this.nameOf(server, tool.name);
      try {
        const mounted = createMountedTool(server, tool, name, this.#timeoutMs, this.#bound);
        this.#tools.set(name, mounted);
        result.tools.push(mounted);
      } catch (error) {
        result.problems.push(
          isMcpError(error) ? error : leftOutTool("invalid_tool", server.name, tool.name, String(error), error),
        );
      }
    }
    return result;
  }

  change(server: MountedServer, { tools: listed, withdrawn, problems }: ToolsChange): McpToolsChange {
    const names = withdrawn.map((tool) => this.nameOf(server, tool));
    for (const name of names) this.#tools.delete(name);
    const added = this.add([{ server, tools: listed }]);
    return {
      server: server.name,
      tools: added.tools,
      withdrawn: names,
      problems: [...problems, ...added.problems],
    };
  }

  nameOf(server: MountedServer, tool: string): string {
    return this.#names.get(keyOf(server, tool)) ?? "";
  }
}

function keyOf(server: MountedServer, tool: string): string {
  return JSON.stringify([server.name, tool]);
}
