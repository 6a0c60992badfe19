import type { ChatTool } from "@toolcrib/core";
import { memoize } from "../memoize.ts";
import type { Message } from "../messages.ts";
import type { ConversationChange, Opening } from "../provider.ts";

/** The prompt and tools that the model was told, and when. */
export interface Announced {
  messages: readonly Message[];
  opening: Opening | undefined;
  /** The number of messages before the opening. */
  openedAt: number;
  changes: readonly ConversationChange[];
  /** Deferred tools that were found, in the order in which they were. */
  readonly foundTools: ReadonlySet<string>;
}

/** The content of the first request of the conversation, or the first after a summary. */
export type OpeningLine = { readonly type: "opening" } & Opening;

/** The changes that the next request makes. Replaces changes that no reply has followed. */
export type ChangeLine = { readonly type: "change" } & Omit<ConversationChange, "position">;

/** The facts about a tool by its name: its schema as JSON, and whether the model may call it. */
interface KnownTool {
  readonly json: string;
  readonly state: "offered" | "withdrawn" | "deferred";
}

/** Returns the line that tells the model its next prompt and tools, unless it knows them. What no reply has followed is said anew. */
export function announcement(
  { messages, opening, changes, openedAt, foundTools }: Announced,
  present: Opening,
): OpeningLine | ChangeLine | undefined {
  const lastReply = messages.findLastIndex((message) => message.role === "assistant");
  if (!opening || lastReply < openedAt)
    return opening && !changeTo(opening, [], present, noneFound) ? undefined : { type: "opening", ...present };
  // A change stands behind a message of the user or of a tool.
  if (lastReply === messages.length - 1) return undefined;
  const answered = answeredChanges(messages, changes);
  const change = changeTo(opening, answered, present, foundTools);
  const unanswered = changes.at(answered.length);
  if (!change) return unanswered && { type: "change" };
  const isSaid = JSON.stringify(unanswered) === JSON.stringify({ position: messages.length, ...change });
  return isSaid ? undefined : { type: "change", ...change };
}

/** Returns the changes that a reply has followed. */
export function answeredChanges(
  messages: readonly Message[],
  changes: readonly ConversationChange[],
): readonly ConversationChange[] {
  const last = changes.at(-1);
  if (!last || messages.findLastIndex((message) => message.role === "assistant") >= last.position) return changes;
  return changes.slice(0, -1);
}

const noneFound: ReadonlySet<string> = new Set();

/** `found`: deferred tools that a search has found, which need no change. */
function changeTo(
  opening: Opening,
  changes: readonly ConversationChange[],
  present: Opening,
  found: ReadonlySet<string>,
): Omit<ConversationChange, "position"> | undefined {
  const known = knownTools(opening, changes);
  const { systemPrompt } = changes.findLast((change) => change.systemPrompt !== undefined) ?? opening;
  const isKnown = (tool: ChatTool): boolean => known.get(nameOf(tool))?.json === jsonOf(tool);
  const offered = new Set(present.tools.map(nameOf));
  const isHidden = (name: string): boolean => known.get(name)?.state === "deferred" && !found.has(name);
  const added = present.tools.filter((tool) => !isKnown(tool) || isHidden(nameOf(tool)));
  const again = present.tools.filter((tool) => isKnown(tool) && known.get(nameOf(tool))?.state === "withdrawn");
  const deferred = (present.deferredTools ?? []).filter((tool) => !offered.has(nameOf(tool)) && !isKnown(tool));
  const removed = [...known].flatMap(([name, { state }]) => {
    const isSeen = state === "offered" || (state === "deferred" && found.has(name));
    return isSeen && !offered.has(name) ? [name] : [];
  });
  const change = {
    ...(present.systemPrompt !== systemPrompt && { systemPrompt: present.systemPrompt }),
    ...(added.length > 0 && { addedTools: added }),
    ...(deferred.length > 0 && { deferredTools: deferred }),
    ...(removed.length > 0 && { removedTools: removed }),
    ...(again.length > 0 && { offeredTools: again.map(nameOf) }),
  };
  return Object.keys(change).length > 0 ? change : undefined;
}

function knownTools(opening: Opening, changes: readonly ConversationChange[]): ReadonlyMap<string, KnownTool> {
  const known = new Map<string, KnownTool>();
  const take = (tools: readonly ChatTool[] = [], state: KnownTool["state"]): void => {
    for (const tool of tools) known.set(nameOf(tool), { json: jsonOf(tool), state });
  };
  const mark = (names: readonly string[] = [], state: KnownTool["state"]): void => {
    for (const name of names) known.set(name, { json: known.get(name)?.json ?? "", state });
  };
  take(opening.deferredTools, "deferred");
  take(opening.tools, "offered");
  for (const { addedTools, deferredTools, removedTools, offeredTools } of changes) {
    take(deferredTools, "deferred");
    take(addedTools, "offered");
    mark(removedTools, "withdrawn");
    mark(offeredTools, "offered");
  }
  return known;
}

function nameOf(tool: ChatTool): string {
  return tool.function.name;
}

/** A registry freezes its schemas. */
const jsonOf = memoize((tool: ChatTool) => JSON.stringify(tool));
