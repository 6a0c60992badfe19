// The seam between the handler and a protocol. The handler (`handle.ts`) knows HTTP, who may open which session, that one turn runs at a
// time, and keeps the events of the turn that runs for all its readers (`liveSession.ts`, `durableSession.ts`). A protocol knows neither: it reads a
// body as something that the page asks for, checked against the session as it is, and writes the events of a turn as text. To add a
// protocol, write a `PageProtocol` in a folder of its own and pass it to `createHandler`.
import type { AgentEvent, Answer, Message, PendingCall, UserContent } from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";

/** An answer as a page may give it. `always`: yes, and the session's policy remembers it. */
export type PageAnswer = Answer | { readonly always: true };

/** A session at one moment. */
export interface SessionState {
  readonly messages: readonly Message[];
  /** The calls that wait for an answer; none that has been answered already. */
  readonly pending: readonly PendingCall[];
  /** The tools of the agent; undefined for a durable run. */
  readonly tools?: AnyToolRegistry | undefined;
}

/** A turn, running or over, as each of its readers sees it. */
export interface Turn {
  /** The session as the turn found it, with the user's message; answered questions are not among the pending ones. */
  readonly before: SessionState;
  /** Set for a turn that answers made: by the id of the call. */
  readonly answers?: Readonly<Record<string, PageAnswer>> | undefined;
  /** All events from the first on, as they happen. Ends after `end`; throws what the turn threw, an AgentError `aborted` if it was stopped. */
  events(): AsyncIterable<AgentEvent>;
}

/** The wish of a page. `tools` makes the tools of the turn of those of the agent. */
export type PageAction =
  | { readonly type: "send"; readonly content: UserContent; readonly tools?: TurnTools | undefined }
  | {
      readonly type: "answer";
      readonly answers: Readonly<Record<string, PageAnswer>>;
      readonly tools?: TurnTools | undefined;
    }
  /** Reads the turn that runs; `idle` is sent if none does. */
  | { readonly type: "join" };

export type TurnTools = (tools: AnyToolRegistry) => AnyToolRegistry;

/** A reader of a session. Each text goes on the wire as it is yielded; an end without the protocol's own last word is a cut. */
export interface PageReader {
  /** Writes a turn. Never throws for a turn that failed: it words the failure. */
  stream(turn: Turn): AsyncIterable<string>;
  /** Writes the session while no turn runs. Undefined: there is nothing to write, the reply is a 204. */
  idle?(state: SessionState): AsyncIterable<string> | undefined;
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
  /** The session for `GET base/ID`, as JSON: while a turn runs, as it was before. */
  history(state: SessionState): unknown;
}
