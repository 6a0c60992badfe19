import { lastReply, messagesOf } from "./aiSdk/messages.ts";
import { actionOf, lastIdOf } from "./aiSdk/request.ts";
import { turnChunks } from "./aiSdk/stream.ts";
import { explain } from "./errors.ts";
import { createHandler, type PageHandler } from "./handle.ts";
import type { PageSessions } from "./pageSessions.ts";
import type { PageReader, Turn } from "./protocol.ts";

export { type Conversation, fromUIMessages, toUIMessages } from "./aiSdk/messages.ts";
export { type StreamOptions, toUIMessageStream } from "./aiSdk/toStream.ts";

/** Serves sessions to `useChat`, and to what is built on it. A transport of the AI SDK needs only the address, as `api`. */
export function createUIHandler(sessions: PageSessions): PageHandler {
  const reader = (isWhole: boolean, pageId?: string): PageReader => ({
    async *stream(turn: Turn) {
      // After a restart of the server the page still has its own id for the message.
      const messageId = (turn.continues && pageId) || lastReply(turn.before).id;
      const options = { messageId, isWhole, explain: (error: unknown) => explain(error, sessions) };
      for await (const chunk of turnChunks(turn, options)) yield `data: ${JSON.stringify(chunk)}\n\n`;
      yield "data: [DONE]\n\n";
    },
  });
  return createHandler(sessions, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      "x-vercel-ai-ui-message-stream": "v1",
    },
    read: (body) => ({ id: body.id, action: (state) => actionOf(body, state), ...reader(false, lastIdOf(body)) }),
    join: () => reader(true),
    history: messagesOf,
  });
}
