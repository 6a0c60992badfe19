import type { ConversationChange, ModelRequest, Opening } from "../../provider.ts";
import type { ModelRules } from "../models/modelRules.ts";

/** The changes within a conversation that a wire tells in their places. */
export type SupportedChanges = ModelRules["changes"];

/** Every service takes this: changes are made at the beginning of the request. */
export const noSupportedChanges: SupportedChanges = { systemMessages: false, tools: false, deferredTools: false };

/** The opening before the messages of a request, and the changes that are told among them. */
export interface OpenedRequest extends Required<Opening> {
  readonly changes: readonly ConversationChange[];
}

/**
 * Returns the beginning of a request: that of the conversation, where its wire tells what has changed since, otherwise the present one. Of the
 * deferred tools those that were found later stay out of `tools`, since results refer to them.
 */
export function openingOf(request: ModelRequest, supported: SupportedChanges): OpenedRequest {
  const { opening = request, changes = [] } = request;
  const start = supported.tools ? opening : request;
  const deferredTools = supported.deferredTools ? (start.deferredTools ?? []) : [];
  const first = new Set(opening.tools.map((tool) => tool.function.name));
  const later = new Set(deferredTools.map((tool) => tool.function.name).filter((name) => !first.has(name)));
  const tools = later.size === 0 ? start.tools : start.tools.filter((tool) => !later.has(tool.function.name));
  // No service takes deferred tools alone, so those that were found are offered themselves.
  const areAlone = tools.length === 0 && !supported.tools;
  return {
    systemPrompt: (supported.systemMessages ? opening : request).systemPrompt,
    tools: areAlone ? start.tools : tools,
    deferredTools: areAlone ? [] : deferredTools,
    changes: changes.map(({ position, systemPrompt, ...tools }) => ({
      position,
      ...(supported.systemMessages && systemPrompt !== undefined && { systemPrompt }),
      ...(supported.tools && tools),
    })),
  };
}

/**
 * Returns from which message on the request began as it does now. Where changes are made at its beginning, a service that binds thinking refuses
 * that of earlier replies; to leave out the first ones is always allowed.
 */
export function unchangedSince(
  { messages, changes = [], deferredTools = [] }: ModelRequest,
  supported: SupportedChanges,
): number {
  const made = changes.findLast(
    ({ position: _, systemPrompt, ...tools }) =>
      (systemPrompt !== undefined && !supported.systemMessages) || (Object.keys(tools).length > 0 && !supported.tools),
  );
  if (supported.deferredTools || deferredTools.length === 0) return made?.position ?? 0;
  const deferred = new Set(deferredTools.map((tool) => tool.function.name));
  const isFound = (name: string): boolean => deferred.has(name);
  const found = messages.findLastIndex((message) => message.role === "tool" && foundIn(message, isFound).length > 0);
  return Math.max(made?.position ?? 0, found + 1);
}

export function promptChange(systemPrompt: string): string {
  if (systemPrompt === "") return "The earlier instructions no longer apply.";
  return `From here on, these instructions replace those given before:\n\n${systemPrompt}`;
}

/** Returns the deferred tools that a result of `search_tools` names, each at the beginning of a line. */
export function foundIn(
  result: { readonly name: string; readonly output: string; readonly isError: boolean },
  isDeferred: (name: string) => boolean,
): readonly string[] {
  if (result.name !== "search_tools" || result.isError) return [];
  return result.output.split("\n").flatMap((line) => {
    const name = line.slice(0, Math.max(0, line.indexOf(": ")));
    return isDeferred(name) ? [name] : [];
  });
}
