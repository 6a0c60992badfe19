import { defineTool, type ExecutableTool, type ToolContext, toolOutput } from "@toolcrib/core";
import type { SavedState } from "../conversation/state.ts";
import type { Message } from "../messages.ts";
import { createSession } from "./session.ts";
import { sessionTarget } from "./sessionPath.ts";

/** The context that the tool reads: a ToolContext, with what a session keeps besides. */
export interface SessionToolContext extends ToolContext {
  readonly kept?: SavedState;
}

/** For a model whose conversation another loop keeps, which gave these tools no context. */
const noConversation = "there is no conversation to save (the agent's own context is missing or empty)";

/** Creates the tool `save_session_context`: writes the session for `Agent.resume` to the context's file path, atomically; only its owner may read it. */
export function createSaveSessionContextTool(context: SessionToolContext, ...none: readonly never[]): ExecutableTool {
  if (none.length > 0) throw new TypeError("createSaveSessionContextTool accepts only the context: it has no options");
  return defineTool({
    name: "save_session_context",
    description: "Save this conversation to resume it later.",
    parameters: {
      type: "object",
      properties: { reason: { type: "string", description: "Why" } },
      required: ["reason"],
      additionalProperties: false,
    },
    origin: "@toolcrib/agent",
    idempotent: true,
    outputSchema: {
      type: "object",
      properties: { path: { type: "string" }, messages: { type: "integer", minimum: 0 } },
      required: ["path", "messages"],
      additionalProperties: false,
    },
    async effects() {
      const { pathEffect } = await import("@toolcrib/kit/files");
      const { path, scope } = await sessionTarget(context.sessionContextFilePath);
      return [pathEffect("write", path, context.sessionContextFilePath, scope)];
    },
    async execute({ reason }, call) {
      const { systemPrompt, sessionContext, sessionContextFilePath } = context;
      const messages = sessionContext as readonly Message[];
      const session = createSession({ reason, systemPrompt, messages, ...context.kept });
      // Loaded once something is saved.
      const { createPathScope, withPathLocks, writeAtomically } = await import("@toolcrib/kit/files");
      const { path, scope } = await sessionTarget(sessionContextFilePath);
      const text = `${JSON.stringify(session, null, 2)}\n`;
      await withPathLocks([path], () => writeAtomically(path, text, { scope, call, private: true }));
      const { length } = session.messages;
      const { print, shorten } = createPathScope();
      const saved = `Saved ${length} messages to ${print(path)}`;
      return toolOutput(length > 0 ? saved : `${saved}: ${noConversation}`, {
        data: { path: shorten(path), messages: length },
      });
    },
  });
}
