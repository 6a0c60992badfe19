// The seam between the handler and a protocol. The handler (`handle.ts`) knows HTTP, who may open which session, that one turn runs at a
// time, and keeps the events of the running turn for all its readers (`liveSession.ts`, `durableSession.ts`). A protocol knows none of that: it reads
// a body as something that the page asks for, checked against the session as it is, and writes the events of a turn as text. To add a
// protocol, write a `PageProtocol` in a folder of its own, and export a function that passes it to `createHandler`.
import {
  type AgentEvent,
  type Answer,
  isAnswer,
  type Message,
  type PendingCall,
  type UserContent,
} from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";

/** An answer as a page may give it. `always`: yes, and the session's policy remembers it. */
export type PageAnswer = Answer | { readonly always: true };

export function isPageAnswer(value: unknown): value is PageAnswer {
  return isAnswer(value) || isAlways(value);
}

export function isAlways(answer: unknown): answer is { readonly always: true } {
  return isObject(answer) && answer.always === true && Object.keys(answer).length === 1;
}

/** A session at one moment. */
export interface SessionState {
  readonly messages: readonly Message[];
  /** The questions. One with an `answer` was answered, but waits for others; at least one has none. */
  readonly pending: readonly PendingCall[];
  /** The tools of the agent; undefined for a durable run. */
  readonly tools?: Pick<AnyToolRegistry, "get"> | undefined;
}

/** A turn, running or over, as each of its readers sees it. */
export interface Turn {
  /** The session as the turn found it, with the user's message, or with the answers. */
  readonly before: SessionState;
  /** True for a turn that answers made: it goes on with the last message of the assistant. */
  readonly continues: boolean;
  /** Returns all events from the first on, as they happen. Ends after `end`; throws what the turn threw, an AgentError `aborted` if it was stopped. */
  events(): AsyncIterable<AgentEvent>;
  /** Returns the session as the turn left it; undefined if that is not known. Called once it is over. */
  after(): SessionState | undefined;
}

/** Makes the tools of one turn of those of the agent. */
export type TurnTools = (tools: AnyToolRegistry) => AnyToolRegistry;

/** The wish of a page. */
export type PageAction =
  | { readonly type: "send"; readonly content: UserContent; readonly tools?: TurnTools | undefined }
  | {
      readonly type: "answer";
      readonly answers: ReadonlyMap<string, PageAnswer>;
      readonly tools?: TurnTools | undefined;
    }
  /** Reads the turn that runs; `idle` is sent if none does. */
  | { readonly type: "join" };

/** Writes for one reader. Each text goes on the wire as it is yielded. */
export interface PageReader {
  /** Writes a turn, also one that fails. */
  stream(turn: Turn): AsyncIterable<string>;
  /** Writes the session while no turn runs. Without it the reply is a 204. */
  idle?(state: SessionState): AsyncIterable<string>;
}

/** A request that sends something. */
export interface PageRequest extends PageReader {
  /** The session that the page names; the handler checks its form, and asks the application. */
  readonly id: unknown;
  /** Throws a PageError for what the page may not ask in this state. Nothing has run then. */
  action(state: SessionState): PageAction;
}

export interface PageProtocol {
  /** Of a stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the body of `POST base`. Throws a PageError for what is no request of the protocol. */
  read(body: Readonly<Record<string, unknown>>): PageRequest;
  /** Makes the reader for `GET base/ID/stream`. */
  join(url: URL): PageReader;
  /** Returns the session for `GET base/ID`, as JSON: while a turn runs, as it was before. */
  history(state: SessionState): unknown;
}
