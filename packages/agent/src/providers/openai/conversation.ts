import { type ChatTool, toOpenAIResponsesTool } from "@toolcrib/core";
import type { ResponseCreateParams, ResponseInputItem, Tool } from "openai/resources/responses/responses";
import { memoize } from "../../memoize.ts";
import type { Message } from "../../messages.ts";
import type { ModelRequest } from "../../provider.ts";
import { foundIn, type OpenedRequest, openingOf, promptChange, type SupportedChanges } from "../shared/opening.ts";
import { foreignBefore, withoutReasoning } from "./foreignReasoning.ts";
import { toResponsesItems } from "./mapping.ts";

interface WireConversation {
  readonly instructions: string;
  readonly tools: Tool[];
  readonly input: ResponseInputItem[];
  readonly toolChoice: ResponseCreateParams["tool_choice"] | undefined;
}

/**
 * Makes the function that maps a request. It reads nothing but the request, so that each one begins with the whole of the one before.
 * Changes are told where they were made; a withdrawn tool stays declared and is not among the allowed ones. A new schema goes where the
 * tool was declared, since no page says whether a second declaration is taken.
 */
export function createToConversation(
  author: string,
  supported: SupportedChanges,
): (request: ModelRequest) => WireConversation {
  const toItems = memoize((message: Message) => toResponsesItems(message, author));
  return (request) => {
    // Of a conversation that began without tools no page says whether items may add some.
    const hasTools = supported.tools && (request.opening ?? request).tools.length > 0;
    const opened = openingOf(request, { ...supported, tools: hasTools, deferredTools: hasTools });
    const newest = newestSchemas(opened);
    const toTool = (name: string): Tool => toOpenAIResponsesTool(newest.get(name) as ChatTool);
    const declared = new Set<string>();
    const declare = (names: readonly string[]): Tool[] => {
      const added = [...new Set(names)].filter((name) => !declared.has(name));
      for (const name of added) declared.add(name);
      return added.map(toTool);
    };

    const tools = declare(opened.tools.map(nameOf));
    const deferred = new Set(
      [...opened.deferredTools, ...opened.changes.flatMap((change) => change.deferredTools ?? [])].map(nameOf),
    );
    const input: ResponseInputItem[] = [];
    const add = (names: readonly string[]): void => {
      const added = declare(names);
      if (added.length > 0) input.push({ type: "additional_tools", role: "developer", tools: added });
    };
    const later = [...opened.changes];
    const tell = (position: number): void => {
      for (let next = later[0]; next && next.position <= position; next = later[0]) {
        later.shift();
        if (next.systemPrompt !== undefined)
          input.push({ type: "message", role: "developer", content: promptChange(next.systemPrompt).toWellFormed() });
        add((next.addedTools ?? []).map(nameOf));
      }
    };
    const foreign = foreignBefore(request.messages);
    let found: readonly string[] = [];
    for (const [index, message] of request.messages.entries()) {
      if (message.role === "tool") found = [...found, ...foundIn(message, (name) => deferred.has(name))];
      else {
        add(found);
        found = [];
        if (message.role === "assistant") tell(index);
      }
      input.push(...(index < foreign ? withoutReasoning(toItems(message)) : toItems(message)));
    }
    add(found);
    tell(request.messages.length);
    const toolChoice = toToolChoice(request, declared);
    return { instructions: opened.systemPrompt, tools, input, toolChoice };
  };
}

function newestSchemas({ tools, deferredTools, changes }: OpenedRequest): ReadonlyMap<string, ChatTool> {
  const later = changes.flatMap((change) => [...(change.deferredTools ?? []), ...(change.addedTools ?? [])]);
  return new Map([...deferredTools, ...tools, ...later].map((tool) => [nameOf(tool), tool]));
}

function nameOf(tool: ChatTool): string {
  return tool.function.name;
}

/** Returns the choice among the tools of the moment: those that are declared and not among them may not be called. */
function toToolChoice(
  { tools, toolChoice }: ModelRequest,
  declared: ReadonlySet<string>,
): ResponseCreateParams["tool_choice"] | undefined {
  const present = tools.map(nameOf).filter((name) => declared.has(name));
  if (declared.size === 0) return undefined;
  if (present.length === 0) return "none";
  if (typeof toolChoice === "object") return { type: "function", name: toolChoice.name };
  if (toolChoice === "none" || present.length === declared.size) return toolChoice;
  const mode = toolChoice === "required" ? "required" : "auto";
  return { type: "allowed_tools", mode, tools: present.map((name) => ({ type: "function", name })) };
}
