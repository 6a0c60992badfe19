// A page of assistant-ui on its AI SDK runtime, with unstyled parts: what a user of it writes, and no more.
import { useChat } from "@ai-sdk/react";
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
} from "@assistant-ui/react";
import { useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai";
import { createRoot } from "react-dom/client";
import { fetchWhole } from "../src/client.ts";

function Call({ toolName, argsText, result, approval, respondToApproval }: ToolCallMessagePartProps) {
  const isOpen = approval !== undefined && approval.approved === undefined && result === undefined;
  return (
    <section aria-label={`Call of ${toolName}`}>
      <pre>{argsText}</pre>
      <output>{typeof result === "string" ? result : JSON.stringify(result)}</output>
      {isOpen && (
        <>
          <button type="button" onClick={() => respondToApproval({ approved: true })}>
            Allow
          </button>
          <button type="button" onClick={() => respondToApproval({ approved: false, reason: "not today" })}>
            Reject
          </button>
        </>
      )}
    </section>
  );
}

function Message() {
  return (
    <MessagePrimitive.Root>
      <MessagePrimitive.Parts components={{ tools: { Fallback: Call } }} />
    </MessagePrimitive.Root>
  );
}

function Page({ id, messages }: { readonly id: string; readonly messages: UIMessage[] }) {
  const chat = useChat({
    ...{ id, messages, resume: true },
    transport: new DefaultChatTransport({ api: "/ai-sdk", fetch: fetchWhole }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return (
    <AssistantRuntimeProvider runtime={useAISDKRuntime(chat)}>
      <p role="status">{chat.status}</p>
      <button type="button" onClick={() => fetch(`/ai-sdk/${id}/stop`, { method: "POST" })}>
        Stop
      </button>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport role="log">
          <ThreadPrimitive.Messages components={{ Message }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

const id = new URLSearchParams(location.search).get("chat") ?? "";
const root = document.getElementById("chat");
const messages = (await (await fetch(`/ai-sdk/${id}`)).json()) as UIMessage[];
if (root) createRoot(root).render(<Page id={id} messages={messages} />);
