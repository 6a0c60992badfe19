import { useChat } from "@ai-sdk/react";
import { fetchWhole } from "@toolcrib/page/client";
import { DefaultChatTransport, type DynamicToolUIPart, type UIMessage } from "ai";
import { useEffect, useMemo } from "react";
import type { Answers, Chat, Entry, Part, QuestionData } from "./chat.ts";

const api = "/ai-sdk";

type Approval = { readonly descriptor?: { text?: string; data?: QuestionData; needs?: string } } | undefined;

/** A chat over the protocol of the AI SDK's `useChat`. `saved` are the messages that the server has. */
export function useAiSdk(id: string, saved: UIMessage[], onCut: () => void): Chat {
  const transport = useMemo(() => new DefaultChatTransport({ api, fetch: fetchWhole }), []);
  const chat = useChat({
    ...{ id, transport, messages: saved, resume: true, throttle: 50 },
    onFinish: ({ isDisconnect }) => {
      if (isDisconnect) onCut();
    },
  });
  const isOffline = chat.error instanceof TypeError;
  useEffect(() => {
    if (isOffline) onCut();
  }, [isOffline, onCut]);
  return {
    entries: chat.messages.map(toEntry),
    isBusy: chat.status === "submitted" || chat.status === "streaming",
    problem: isOffline ? undefined : chat.error?.message,
    send: (text, picture) => {
      const files = new DataTransfer();
      if (picture) files.items.add(picture);
      void chat.sendMessage({ text, files: files.files });
    },
    answer: (answers: Answers) => void chat.sendMessage(undefined, { body: { answers: Object.fromEntries(answers) } }),
    // To close the connection is to leave: the turn would go on for others to read.
    stop: () => void fetch(`${api}/${id}/stop`, { method: "POST" }),
  };
}

function toEntry({ id, role, parts }: UIMessage): Entry {
  return { id, role: role === "user" ? "user" : "assistant", parts: parts.flatMap(toParts) };
}

function toParts(part: UIMessage["parts"][number]): Part[] {
  if (part.type === "text" || part.type === "reasoning") return [{ type: part.type, text: part.text }];
  if (part.type === "file") return [{ type: "picture", url: part.url }];
  return part.type === "dynamic-tool" ? [toCall(part)] : [];
}

function toCall({
  toolCallId: id,
  toolName: name,
  input,
  output,
  errorText,
  state,
  approval,
}: DynamicToolUIPart): Part {
  const args = (input ?? {}) as object;
  const { text = "", data, needs } = (approval as Approval)?.descriptor ?? {};
  const question = { text, needsWords: needs === "output", choices: data?.choices, always: data?.remember?.text, args };
  return {
    ...{ type: "call", id, name, args, isError: state === "output-error" },
    result: errorText ?? (output === undefined ? undefined : String(output)),
    question: state === "approval-requested" ? question : undefined,
  };
}
