import type {
  BetaRequestToolAdditionBlock,
  BetaRequestToolRemovalBlock,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ToolUnion } from "@anthropic-ai/sdk/resources/messages";
import { type ChatTool, toAnthropicTool } from "@toolcrib/core";
import type { ToolMessage } from "../../messages.ts";
import type { ConversationChange } from "../../provider.ts";
import { foundIn, type OpenedRequest } from "../shared/opening.ts";
import { nativeFormsOf } from "./nativeTools.ts";

export type ToolChange = BetaRequestToolAdditionBlock | BetaRequestToolRemovalBlock;

/** A tool as the wire has it, and its name there. */
type WireTool = ToolUnion & { readonly name: string };

/** The tools that the model may call at one point of a conversation, which goes on with every change and search. */
export class OfferedTools {
  /** `tools` of the request. */
  readonly declared: ToolUnion[];
  readonly #hasNative: boolean;
  /** Those that are hidden until a search finds them, and with them those that were found before the conversation. */
  readonly #deferred = new Map<string, ChatTool>();
  readonly #everDeferred: readonly ChatTool[];
  /** By the registry's names: those of the moment, and the newest of all. */
  readonly #present = new Map<string, ChatTool>();
  readonly #schemas = new Map<string, ChatTool>();
  /** By the wire's names: those of the moment, and all that the model was told of. */
  #offered: ReadonlyMap<string, WireTool>;
  readonly #known: Map<string, WireTool>;

  constructor({ tools, deferredTools, changes }: OpenedRequest, hasNative: boolean) {
    this.#hasNative = hasNative;
    this.#everDeferred = [...deferredTools, ...changes.flatMap((change) => change.deferredTools ?? [])];
    for (const tool of this.#everDeferred) this.#deferred.set(nameOf(tool), tool);
    for (const tool of tools) {
      this.#deferred.delete(nameOf(tool));
      this.#present.set(nameOf(tool), tool);
    }
    for (const [name, tool] of [...this.#deferred, ...this.#present]) this.#schemas.set(name, tool);
    this.#offered = this.#wireTools();
    const hidden = [...this.#deferred.values()].map(wireTool);
    this.#known = new Map([...hidden.map((tool) => [tool.name, tool] as const), ...this.#offered]);
    const isAnyOffered = this.#offered.size > 0;
    // The service refuses a list in which every tool is deferred.
    const marked = isAnyOffered ? hidden.map((tool) => ({ ...tool, defer_loading: true })) : [];
    this.declared = [...this.#offered.values(), ...marked];
  }

  /** Returns whether the model was told of a tool of the wire. */
  isKnown(name: string): boolean {
    return this.#known.has(name);
  }

  /** The deferred tools that a result refers to. The model may call them from here on. */
  find(result: ToolMessage): readonly string[] {
    const found = foundIn(result, (name) => this.#deferred.has(name) && this.#known.has(name));
    for (const name of found) this.#present.set(name, this.#schemas.get(name) as ChatTool);
    if (found.length > 0) this.#offered = this.#wireTools();
    return found;
  }

  /** Makes a change, and returns the blocks that tell of it. */
  change({ removedTools = [], addedTools = [], offeredTools = [] }: ConversationChange): readonly ToolChange[] {
    for (const name of removedTools) this.#present.delete(name);
    for (const tool of addedTools) this.#schemas.set(nameOf(tool), tool);
    for (const name of [...addedTools.map(nameOf), ...offeredTools]) {
      const tool = this.#schemas.get(name);
      if (tool) this.#present.set(name, tool);
    }
    const before = this.#offered;
    this.#offered = this.#wireTools();
    const removed = [...before.keys()].filter((name) => !this.#offered.has(name));
    const added = [...this.#offered].filter(([name, tool]) => !isSame(before.get(name), tool));
    return [
      ...removed.map((name): ToolChange => ({ type: "tool_removal", tool: { type: "tool_reference", name } })),
      ...added.map(([name, tool]) => this.#addition(name, tool)),
    ];
  }

  #addition(name: string, definition: WireTool): ToolChange {
    if (isSame(this.#known.get(name), definition))
      return { type: "tool_addition", tool: { type: "tool_reference", name } };
    this.#known.set(name, definition);
    return { type: "tool_addition", tool: { type: "tool_definition", definition } };
  }

  /** The tools of the moment, each native one in place of the first tool behind it. */
  #wireTools(): ReadonlyMap<string, WireTool> {
    const tools = [...this.#present.values()];
    const forms = this.#hasNative ? nativeFormsOf({ tools, deferredTools: this.#everDeferred }) : undefined;
    return new Map(
      tools.map((tool) => {
        const wire = forms?.get(nameOf(tool)) ?? wireTool(tool);
        return [wire.name, wire];
      }),
    );
  }
}

function nameOf(tool: ChatTool): string {
  return tool.function.name;
}

const wireTools = new WeakMap<ChatTool, WireTool>();

function wireTool(tool: ChatTool): WireTool {
  const known = wireTools.get(tool);
  if (known) return known;
  const wire = toAnthropicTool(tool);
  wireTools.set(tool, wire);
  return wire;
}

function isSame(one: WireTool | undefined, other: WireTool): boolean {
  return one === other || (one !== undefined && JSON.stringify(one) === JSON.stringify(other));
}
