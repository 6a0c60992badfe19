import type {
  BetaRequestToolAdditionBlock,
  BetaRequestToolRemovalBlock,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ToolUnion } from "@anthropic-ai/sdk/resources/messages";
import { type ChatTool, toAnthropicTool } from "@toolcrib/core";
import type { ToolMessage } from "../../messages.ts";
import type { ConversationChange } from "../../provider.ts";
import { beyondStrictLimits } from "../models/answerFormat.ts";
import { foundIn, type OpenedRequest } from "../shared/opening.ts";

type ToolLists = Omit<ConversationChange, "position" | "systemPrompt">;

export type ToolChange = BetaRequestToolAdditionBlock | BetaRequestToolRemovalBlock;

/** A tool as the wire has it, and its name there. */
type WireTool = ToolUnion & { readonly name: string };

/** The tools that the model may call at one point of a conversation, which goes on with every change and search. */
export class OfferedTools {
  /** `tools` of the request. */
  readonly declared: ToolUnion[];
  readonly #toWire: (tool: ChatTool) => WireTool;
  /** Those that are hidden until a search finds them, in the schemas of the moment. */
  readonly #deferred = new Map<string, ChatTool>();
  /** Found, but not declared in this schema, so that a result cannot refer to them. */
  readonly #unannounced = new Set<string>();
  /** By name: those of the moment, and the newest of all. */
  readonly #present = new Map<string, ChatTool>();
  readonly #schemas = new Map<string, ChatTool>();
  /** By name, as the wire has them: those of the moment, and all that the model was told of. */
  #offered: ReadonlyMap<string, WireTool>;
  readonly #known: Map<string, WireTool>;

  constructor({ tools, deferredTools, changes }: OpenedRequest) {
    const changed = changes.flatMap((change) => [...(change.deferredTools ?? []), ...(change.addedTools ?? [])]);
    this.#toWire = createToWire([...tools, ...deferredTools, ...changed]);
    const later = changes.flatMap((change) => change.deferredTools ?? []);
    for (const tool of deferredTools) this.#hide(tool);
    for (const tool of tools) {
      this.#deferred.delete(nameOf(tool));
      this.#present.set(nameOf(tool), tool);
      this.#schemas.set(nameOf(tool), tool);
    }
    this.#offered = this.#wireTools();
    // The service refuses a list in which every tool is deferred, and takes an edited one for a change.
    const hidden = new Map<string, WireTool>();
    if (this.#offered.size > 0)
      for (const tool of [...deferredTools, ...later])
        if (!this.#present.has(nameOf(tool)) && !hidden.has(nameOf(tool))) hidden.set(nameOf(tool), this.#toWire(tool));
    this.#known = new Map([...hidden, ...this.#offered]);
    const marked = [...hidden.values()].map((tool) => ({ ...tool, defer_loading: true }));
    this.declared = [...this.#offered.values(), ...marked];
  }

  /** Finds the deferred tools that a result refers to. The model may call them from here on. */
  find(result: ToolMessage): readonly string[] {
    const found = foundIn(result, (name) => this.#deferred.has(name));
    const referred: string[] = [];
    for (const name of found) {
      const tool = this.#schemas.get(name);
      if (!tool || !isSame(this.#known.get(name), this.#toWire(tool))) this.#unannounced.add(name);
      else {
        referred.push(name);
        this.#present.set(name, tool);
      }
    }
    if (referred.length > 0) this.#offered = this.#wireTools();
    return referred;
  }

  /** Makes changes, with those that searches have left to tell of, and returns the blocks that tell of them. */
  change(changes: readonly ConversationChange[]): readonly ToolChange[] {
    if (changes.length === 0 && this.#unannounced.size === 0) return [];
    const found = [...this.#unannounced];
    this.#unannounced.clear();
    return [{ offeredTools: found }, ...changes].flatMap((change) => this.#change(change));
  }

  #change({
    removedTools = [],
    addedTools = [],
    deferredTools = [],
    offeredTools = [],
  }: ToolLists): readonly ToolChange[] {
    for (const name of removedTools) this.#present.delete(name);
    for (const tool of deferredTools) this.#hide(tool);
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

  #hide(tool: ChatTool): void {
    this.#deferred.set(nameOf(tool), tool);
    this.#schemas.set(nameOf(tool), tool);
  }

  #addition(name: string, definition: WireTool): ToolChange {
    if (isSame(this.#known.get(name), definition))
      return { type: "tool_addition", tool: { type: "tool_reference", name } };
    this.#known.set(name, definition);
    return { type: "tool_addition", tool: { type: "tool_definition", definition } };
  }

  /** Lists the tools of the moment. */
  #wireTools(): ReadonlyMap<string, WireTool> {
    return new Map([...this.#present].map(([name, tool]) => [name, this.#toWire(tool)]));
  }
}

function nameOf(tool: ChatTool): string {
  return tool.function.name;
}

const plainTools = new WeakMap<ChatTool, WireTool>();

function plainTool(tool: ChatTool): WireTool {
  const known = plainTools.get(tool);
  if (known) return known;
  const wire = toAnthropicTool(tool);
  plainTools.set(tool, wire);
  return wire;
}

/** Makes the form of each tool, given all in the order in which the model is told of them: only the first ones may be strict. */
function createToWire(tools: readonly ChatTool[]): (tool: ChatTool) => WireTool {
  const loose = beyondStrictLimits(tools);
  return (tool) =>
    loose.has(tool) ? toAnthropicTool({ ...tool, function: { ...tool.function, strict: false } }) : plainTool(tool);
}

function isSame(one: WireTool | undefined, other: WireTool): boolean {
  return one === other || (one !== undefined && JSON.stringify(one) === JSON.stringify(other));
}
