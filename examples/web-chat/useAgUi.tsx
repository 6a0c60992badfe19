import type { Interrupt, Message } from "@ag-ui/core";
import { PageAgent } from "@toolcrib/page/ag-ui-client";
import { useCallback, useEffect, useMemo, useReducer, useState } from "react";
import type { Answer, Answers, Call, Chat, Entry, Part, QuestionData } from "./chat.ts";

/** A chat over AG-UI, with its own client. */
export function useAgUi(threadId: string, onCut: () => void): Chat {
  const agent = useMemo(() => new PageAgent({ url: "/ag-ui", threadId }), [threadId]);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  // It connects first: what the user writes meanwhile waits in its box.
  const [isBusy, setBusy] = useState(true);
  const [problem, setProblem] = useState<string>();

  const run = useCallback(
    async (start: () => Promise<unknown>): Promise<void> => {
      setBusy(true);
      setProblem(undefined);
      try {
        await start();
      } catch (error) {
        const { status, payload } = error as { status?: number; payload?: unknown };
        // A refusal has a status; anything else is a connection that was cut.
        if (status === undefined) onCut();
        else setProblem(String(payload));
      } finally {
        setBusy(false);
      }
    },
    [onCut],
  );

  useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onMessagesChanged: redraw,
      onRunFinalized: redraw,
      onRunErrorEvent: ({ event }) => void setProblem(event.message),
    });
    void run(() => agent.connectAgent());
    return () => {
      unsubscribe();
      void agent.detachActiveRun();
    };
  }, [agent, run]);

  return {
    entries: toEntries(agent.messages, agent.pendingInterrupts),
    ...{ isBusy, problem },
    send: async (text, picture) => {
      const content = picture ? [{ type: "text" as const, text }, await picturePart(picture)] : text;
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
      await run(() => agent.runAgent());
    },
    answer: (answers: Answers) => {
      const resume = agent.pendingInterrupts.flatMap(({ id: interruptId, toolCallId = "" }) => {
        const answer = answers.get(toolCallId);
        return answer === undefined ? [] : [{ interruptId, status: "resolved" as const, payload: payloadOf(answer) }];
      });
      void run(() => agent.runAgent({ resume }));
    },
    stop: () => agent.abortRun(),
  };
}

async function picturePart(picture: File) {
  const [, value = ""] = (await dataUrl(picture)).split(",");
  return { type: "image" as const, source: { type: "data" as const, value, mimeType: picture.type } };
}

function payloadOf(answer: Answer): object {
  if (typeof answer === "boolean") return { approved: answer };
  if (typeof answer === "string") return { approved: false, reason: answer };
  if ("output" in answer) return answer;
  return { approved: true, ...("args" in answer ? { editedArgs: answer.args } : { always: true }) };
}

/** Puts what followed a message of the user into one entry, and each result with its call. */
function toEntries(messages: readonly Message[], interrupts: readonly Interrupt[]): Entry[] {
  const results = new Map(messages.flatMap((one) => (one.role === "tool" ? [[one.toolCallId, one] as const] : [])));
  const entries: (Entry & { parts: Part[] })[] = [];
  for (const message of messages) {
    if (message.role !== "user" && message.role !== "assistant" && message.role !== "reasoning") continue;
    const role = message.role === "user" ? "user" : "assistant";
    const last = entries.at(-1);
    const entry = last?.role === role && role === "assistant" ? last : { id: message.id, role, parts: [] as Part[] };
    if (entry !== last) entries.push(entry as Entry & { parts: Part[] });
    entry.parts.push(...contentParts(message.content, message.role === "reasoning" ? "reasoning" : "text"));
    for (const { id, function: called } of (message.role === "assistant" && message.toolCalls) || []) {
      const interrupt = interrupts.find((one) => one.toolCallId === id);
      const result = results.get(id);
      const parts = result ? contentParts(result.content, "text") : [];
      entry.parts.push({
        ...{ type: "call", id, name: called.name, args: JSON.parse(called.arguments || "{}") as object },
        isError: result?.metadata?.isError === true,
        result:
          result &&
          parts
            .map((part) => (part.type === "text" ? part.text : ""))
            .join("\n")
            .trim(),
        question: interrupt && toQuestion(interrupt),
      });
      entry.parts.push(...parts.filter(({ type }) => type === "picture"));
    }
  }
  return entries;
}

function toQuestion({ message = "", reason, metadata }: Interrupt): Call["question"] {
  const { args = {}, data } = (metadata ?? {}) as { args?: object; data?: QuestionData };
  const { choices, remember } = data ?? {};
  return { text: message, needsWords: reason === "input_required", choices, always: remember?.text, args };
}

function contentParts(content: Message["content"], type: "text" | "reasoning"): Part[] {
  if (!Array.isArray(content)) return typeof content === "string" && content !== "" ? [{ type, text: content }] : [];
  return content.flatMap((part): Part[] => {
    if (part.type === "text") return [{ type, text: part.text }];
    if (part.type !== "image" || part.source.type !== "data") return [];
    return [{ type: "picture", url: `data:${part.source.mimeType};base64,${part.source.value}` }];
  });
}

async function dataUrl(file: File): Promise<string> {
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
