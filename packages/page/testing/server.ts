import { join } from "node:path";
import { Chat } from "@ai-sdk/react";
import type { Agent, AgentOptions } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import {
  type ChatInit,
  DefaultChatTransport,
  type DynamicToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import { createUIHandler } from "../src/aiSdk.ts";
import { type AgentSession, openAgent, type PageOptions, PageSessions } from "../src/index.ts";

export const base = "http://page.test/api/chat";

/** A server with one session for each id, below a folder. */
export interface Server {
  readonly sessions: PageSessions;
  readonly handle: (request: Request) => Promise<Response>;
  readonly ran: unknown[];
  /** All that were made, the last one last. */
  readonly agents: Agent[];
  journalOf(id: string): string;
}

export interface ServerOptions extends Partial<PageOptions> {
  readonly session?: Partial<AgentSession>;
  readonly agent?: AgentOptions;
  readonly tools?: (ran: unknown[]) => ToolRegistry;
}

export function startServer(folder: string, replies: readonly ScriptedReply[], options: ServerOptions = {}): Server {
  const { session, agent, tools = payTools, ...rest } = options;
  const ran: unknown[] = [];
  const agents: Agent[] = [];
  const provider = new ScriptedProvider(replies);
  const journalOf = (id: string): string => join(folder, `${id}.jsonl`);
  const open = (_request: Request, id: string): AgentSession => ({
    journal: journalOf(id),
    agent: async () => {
      const made = await openAgent(provider, journalOf(id), { tools: tools(ran), ...agent });
      agents.push(made);
      return made;
    },
    ...session,
  });
  const sessions = new PageSessions({ open, ...rest });
  return { sessions, handle: createUIHandler(sessions), ran, agents, journalOf };
}

/** Has `pay`, about which is asked, and `look`, about which is not. */
export function payTools(ran: unknown[]): ToolRegistry {
  const parameters = { type: "object", properties: { amount: { type: "number" } } } as const;
  const execute = (args: unknown): string => {
    ran.push(args);
    return "paid";
  };
  return new ToolRegistry([
    defineTool({ name: "pay", description: "Pay", parameters, execute }),
    defineTool({
      name: "look",
      description: "Look",
      readOnly: true,
      parameters: { type: "object" },
      execute: () => "seen",
    }),
  ]).guard(({ name }) => name !== "pay" || { ask: { text: "May it pay?", data: { remember: { text: "pay" } } } });
}

/** Opens a page: the chat of `@ai-sdk/react`, on this server. */
export function openPage(
  { handle }: Pick<Server, "handle">,
  { id = "chat", body, ...init }: ChatInit<UIMessage> & { readonly body?: object } = {},
): Chat<UIMessage> {
  const fetch = (input: string | URL | Request, request?: RequestInit): Promise<Response> =>
    handle(new Request(input, request));
  return new Chat({
    id,
    transport: new DefaultChatTransport({ api: base, fetch, ...(body && { body }) }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    ...init,
  });
}

/** Reloads a page: what it shows comes from the server. */
export async function reloadPage(server: Server, id = "chat"): Promise<Chat<UIMessage>> {
  const response = await server.handle(new Request(`${base}/${id}`));
  return openPage(server, { id, messages: (await response.json()) as UIMessage[] });
}

export function post(body: unknown, headers: Record<string, string> = {}): Request {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Request(base, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: text });
}

/** Returns a message as a page sends it. */
export function say(text: string, id = "chat"): object {
  return { id, trigger: "submit-message", messages: [{ id: "1", role: "user", parts: [{ type: "text", text }] }] };
}

export function toolPart(message: UIMessage | undefined, name: string): DynamicToolUIPart | undefined {
  return message?.parts.find(
    (part): part is DynamicToolUIPart => part.type === "dynamic-tool" && part.toolName === name,
  );
}

export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** A point at which a test holds a reply of the model. */
export function gate(): {
  readonly reached: Promise<void>;
  readonly reply: (reply: ScriptedReply) => ScriptedReply;
  open(): void;
} {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    open: opened.resolve,
    reply:
      (reply) =>
      async ({ signal }) => {
        reached.resolve();
        await Promise.race([opened.promise, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
        return reply;
      },
  };
}
