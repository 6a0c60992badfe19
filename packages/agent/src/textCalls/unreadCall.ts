import type { ChatTool } from "@toolcrib/core";
import { textOf } from "../conversation/conversation.ts";
import type { AssistantMessage, UnreadCall } from "../messages.ts";
import { type EndCalls, endCalls, OfferedTools } from "./endCalls.ts";
import { MarkdownPlace } from "./markers.ts";

const codeBlock = /^\s*(`{3,}|~{3,})[\w-]*\n([\s\S]*?)\n?\1\s*$/;

const reasons: Readonly<Record<UnreadCall["problem"], string>> = {
  "not-enabled":
    "calls as text are not read for this model. If it writes its calls so, set compat.textCalls of its provider",
  "not-offered": "no tool of that name is offered",
  "not-whole": "it cannot be read as a whole call",
  "in-line": "it does not begin a line",
  "in-code": "it stands in a code block",
  "in-thinking": "it stands in the model's thinking, and there is no answer",
};

/** Returns the event that tells of a call as text at the end of a reply without calls; undefined if there is none. */
export function unreadCall(message: AssistantMessage, tools: readonly ChatTool[]): UnreadCall | undefined {
  const offered = new OfferedTools(tools);
  const text = textOf(message);
  const found = endCalls(text, offered);
  if (found) return toEvent(found, "not-enabled");
  const inLine = /[\]}]$/.test(text.trimEnd()) ? endCalls(text, offered, new AnyPlace()) : undefined;
  if (inLine && "calls" in inLine) return toEvent(inLine, "in-line");
  const inCode = endCalls(codeBlock.exec(text)?.[2] ?? "", offered);
  if (inCode && "at" in inCode && inCode.at === 0) return toEvent(inCode, "in-code");
  if (text.trim() !== "") return undefined;
  const thinking = message.content.flatMap((block) => (block.type === "reasoning" ? [block.text] : []));
  const inThinking = endCalls(thinking.join("\n\n"), offered);
  return inThinking && toEvent(inThinking, "in-thinking");
}

/** A place at which calls without a token of their own may begin, too. */
class AnyPlace extends MarkdownPlace {
  override get isLineStart(): boolean {
    return true;
  }
}

function toEvent(found: EndCalls, otherwise: UnreadCall["problem"]): UnreadCall {
  const name = "name" in found ? found.name : (found.calls[0]?.name ?? "");
  const problem = "problem" in found ? found.problem : otherwise;
  const what = name === "" ? "a call" : `a call of ${name}`;
  return {
    type: "unread-call",
    name,
    problem,
    message: `The reply ends in ${what} as text, which did not run: ${reasons[problem]}.`,
  };
}
