import type {
  BetaRequestToolAdditionBlock,
  BetaRequestToolRemovalBlock,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ToolUnion } from "@anthropic-ai/sdk/resources/messages";
import { type ChatTool, toAnthropicTool } from "@toolcrib/core";
import { memoize } from "../../memoize.ts";
import type { ToolMessage } from "../../messages.ts";
import type { ConversationChange } from "../../provider.ts";
import { beyondStrictLimits } from "../models/answerFormat.ts";
import { foundIn, type OpenedRequest } from "../shared/opening.ts";

type ToolLists = Omit<ConversationChange, "position" | "systemPrompt">;

export type ToolChange = BetaRequestToolAdditionBlock | BetaRequestToolRemovalBlock;

type WireTool = ToolUnion & { readonly name: string };

/** The tools that the model may call at one point of a conversation, which goes on with every change and search. */
export class OfferedTools {
  /** `tools` of the request. */
  readonly declared: ToolUnion[];
  readonly #toWire: (tool: ChatTool) => WireTool;
  /** Those that are hidden until a search finds them. */
  readonly #deferred = new Set<string>();
  /** Found, but not declared in this schema, so that a result cannot refer to them. */
  readonly #unannounced = new Set<string>();
  /** By name: the newest of all, those of the moment, and all that the model was told of. */
  readonly #newest = new Map<string, WireTool>();
  #offered: ReadonlyMap<string, WireTool>;
  readonly #known: Map<string, WireTool>;

  constructor({ tools, deferredTools, changes }: OpenedRequest) {
    const changed = changes.flatMap((change) => [...(change.deferredTools ?? []), ...(change.addedTools ?? [])]);
    this.#toWire = createToWire([...tools, ...deferredTools, ...changed]);
    this.#hide(deferredTools);
    for (const tool of tools) {
      this.#deferred.delete(nameOf(tool));
      this.#newest.set(nameOf(tool), this.#toWire(tool));
    }
    this.#offered = this.#with(tools.map(nameOf), new Map());
    // The service refuses a list in which every tool is deferred, and takes an edited one for a change.
    const hidden = new Map<string, WireTool>();
    const later = changes.flatMap((change) => change.deferredTools ?? []);
    for (const tool of this.#offered.size > 0 ? [...deferredTools, ...later] : [])
      if (!this.#offered.has(nameOf(tool)) && !hidden.has(nameOf(tool))) hidden.set(nameOf(tool), this.#toWire(tool));
    this.#known = new Map([...hidden, ...this.#offered]);
    const marked = [...hidden.values()].map((tool) => ({ ...tool, defer_loading: true }));
    this.declared = [...this.#offered.values(), ...marked];
  }

  /** Finds the deferred tools that a result refers to. The model may call them from here on. */
  find(result: ToolMessage): readonly string[] {
    const found = foundIn(result, (name) => this.#deferred.has(name));
    const isDeclared = (name: string): boolean => isSame(this.#known.get(name), this.#newest.get(name));
    const referred = found.filter(isDeclared);
    for (const name of found) if (!isDeclared(name)) this.#unannounced.add(name);
    this.#offered = this.#with(referred, this.#offered);
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
    const before = this.#offered;
    this.#hide(deferredTools);
    for (const tool of addedTools) this.#newest.set(nameOf(tool), this.#toWire(tool));
    const kept = [...before].filter(([name]) => !removedTools.includes(name));
    this.#offered = this.#with([...addedTools.map(nameOf), ...offeredTools], new Map(kept));
    const removed = [...before.keys()].filter((name) => !this.#offered.has(name));
    const added = [...this.#offered].filter(([name, tool]) => !isSame(before.get(name), tool));
    return [
      ...removed.map((name): ToolChange => ({ type: "tool_removal", tool: { type: "tool_reference", name } })),
      ...added.map(([name, tool]) => this.#addition(name, tool)),
    ];
  }

  #hide(tools: readonly ChatTool[]): void {
    for (const tool of tools) {
      this.#deferred.add(nameOf(tool));
      this.#newest.set(nameOf(tool), this.#toWire(tool));
    }
  }

  /** Returns the offered tools with more of those that are known, in their newest schemas. */
  #with(names: readonly string[], offered: ReadonlyMap<string, WireTool>): ReadonlyMap<string, WireTool> {
    const more = names.flatMap((name) => {
      const tool = this.#newest.get(name);
      return tool ? [[name, tool] as const] : [];
    });
    return new Map([...offered, ...more]);
  }

  #addition(name: string, definition: WireTool): ToolChange {
    if (isSame(this.#known.get(name), definition))
      return { type: "tool_addition", tool: { type: "tool_reference", name } };
    this.#known.set(name, definition);
    return { type: "tool_addition", tool: { type: "tool_definition", definition } };
  }
}

function nameOf(tool: ChatTool): string {
  return tool.function.name;
}

const plainTool: (tool: ChatTool) => WireTool = memoize(toAnthropicTool);

/** Makes the form of each tool, given all in the order in which the model is told of them: only the first ones may be strict. */
function createToWire(tools: readonly ChatTool[]): (tool: ChatTool) => WireTool {
  const loose = beyondStrictLimits(tools);
  return (tool) =>
    loose.has(tool) ? toAnthropicTool({ ...tool, function: { ...tool.function, strict: false } }) : plainTool(tool);
}

function isSame(one: WireTool | undefined, other: WireTool | undefined): boolean {
  return one !== undefined && (one === other || JSON.stringify(one) === JSON.stringify(other));
}
