import { existsSync } from "node:fs";
import { Agent, type AgentOptions, type Answers, type PendingCall, type Provider } from "@toolcrib/agent";
import type { ApprovalQuestion, ExecutableTool, ToolLabels } from "@toolcrib/core";

/** A session whose agent runs in this process. */
export interface AgentSession {
  /** The agent's journal. The same file is the same session, whoever opens it. */
  readonly journal: string;
  /** Makes the agent, as `openAgent` does. Called for the first of several requests alone, whose labels, policy and `close` are used, too. */
  readonly agent: () => Agent | Promise<Agent>;
  /** Handed to every tool call. */
  readonly labels?: ToolLabels | undefined;
  /** Remembers what a user allows for always: a policy of `@toolcrib/policy`. Without it, `always` is refused. */
  readonly policy?: RememberingPolicy | undefined;
  /** Called once the session is left: no turn runs, and nobody reads. */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/** A run of `@toolcrib/durable`. It has no stream: its status is asked every second. */
export interface DurableSession {
  readonly runs: RunsByShape;
  /** The id of the run, which has been started. */
  readonly run: string;
}

export type PageSession = AgentSession | DurableSession;

/** The shape of a Policy that can remember. */
export interface RememberingPolicy {
  remember(
    call: { readonly name: string; readonly args: Readonly<Record<string, unknown>>; readonly tool: ExecutableTool },
    question: ApprovalQuestion,
  ): Promise<unknown>;
}

/** The part of DurableRuns that a page needs. */
export interface RunsByShape {
  get(id: string): Promise<
    | {
        readonly status: "queued" | "running" | "waiting" | "done" | "failed" | "cancelled";
        readonly answer?: string;
        readonly pending?: readonly PendingCall[];
        readonly error?: Error;
      }
    | undefined
  >;
  approve(id: string, answers: Answers): Promise<void>;
  send(id: string, text: string): Promise<void>;
  cancel(id: string): Promise<void>;
}

/** Options of the sessions behind a page. */
export interface PageOptions {
  /**
   * Says which session the user of this request may open under this id, or refuses: undefined is a 403, a Response is sent as it is. Called
   * for every request. The id has letters, digits, `-` and `_` alone, at most 128, and is neither `stream` nor `stop`.
   */
  readonly open: (
    request: Request,
    id: string,
  ) => PageSession | Response | undefined | Promise<PageSession | Response | undefined>;
  /** A turn ends so many milliseconds after its last reader left. Default: 30,000, since a reload looks like leaving. */
  readonly lingerMs?: number | undefined;
  /** Of the body of a request. Default: 10 MB. */
  readonly maxBytes?: number | undefined;
  /** Origins of pages that may call beside the server's own, such as `https://app.example`. */
  readonly origins?: readonly string[] | undefined;
  /**
   * Words an error for the user, and logs it if need be. Default: errors of the model's service in their own words, any other in a sentence
   * without details, and on the console.
   */
  readonly explain?: ((error: unknown) => string) | undefined;
}

/** Begins a session in a journal, or continues the one that is there. */
export async function openAgent(provider: Provider, journal: string, options: AgentOptions = {}): Promise<Agent> {
  return existsSync(journal)
    ? await Agent.resume(provider, journal, options)
    : new Agent(provider, { ...options, journal });
}
