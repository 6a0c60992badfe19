import type { Agent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import type { McpToolsChange } from "@toolcrib/mcp";

type Listener = (change: McpToolsChange) => void;

/** Hands on the changes of servers' tools. While nobody listens one change of each server waits, which holds what counts of all of them. */
export class ToolsChanges {
  readonly #waiting = new Map<string, McpToolsChange>();
  #listener: Listener | undefined;

  send(change: McpToolsChange): void {
    if (this.#listener) this.#listener(change);
    else this.#waiting.set(change.server, joined(this.#waiting.get(change.server), change));
  }

  /** Has changes wait while `build` runs; then the listener for its result gets them, or if it fails the one before. */
  async during<Result>(build: () => Promise<Result>, listenerFor: (result: Result) => Listener): Promise<Result> {
    let listener = this.#listener;
    this.#listener = undefined;
    try {
      const result = await build();
      listener = listenerFor(result);
      return result;
    } finally {
      this.#listener = listener;
      if (listener) {
        const waiting = [...this.#waiting.values()];
        this.#waiting.clear();
        for (const change of waiting) listener(change);
      }
    }
  }
}

/** Makes one change of two: the tools as they are last. */
function joined(earlier: McpToolsChange | undefined, later: McpToolsChange): McpToolsChange {
  const over = new Set([...later.withdrawn, ...later.tools.map(({ name }) => name)]);
  return { ...later, tools: [...(earlier?.tools ?? []).filter(({ name }) => !over.has(name)), ...later.tools] };
}

/** Puts changed tools into the registry of a conversation. What is withdrawn stays there to say so. */
export function applyToolsChange(
  registry: Agent["toolRegistry"],
  { server, tools, problems }: McpToolsChange,
  isOff: (name: string) => boolean,
  note: (line: string) => void,
): void {
  const named = `The MCP server ${oneLine(server, 64)}`;
  for (const tool of tools) {
    const { name } = tool;
    const before = registry.get(name);
    // It changed after it was mounted, and before the registry was made.
    if (before === tool) {
      note(`${named} has added or changed its tool: ${name}`);
      continue;
    }
    const isDisabled = before ? !registry.isToolEnabled(name) : isOff(name);
    registry.unregister(name);
    try {
      registry.register(tool);
      note(`${named} has ${before ? "changed its tool" : "a new tool"}: ${name}`);
    } catch (error) {
      if (before) registry.register(before);
      note(`${named} has a tool that cannot be used: ${messageOf(error)}`);
    }
    if (isDisabled) registry.disable(name);
  }
  for (const { message } of problems) note(message);
}
