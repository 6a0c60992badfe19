import type { Agent } from "@toolcrib/agent";
import type { Policy } from "@toolcrib/policy";

/** A conversation that a client has open. */
export interface AcpSession {
  /** The id by which the client knows it, now and when it opens it again. */
  readonly id: string;
  /** Its questions come from the guards of its registry. */
  readonly agent: Agent;
  /** Keeps an answer for good where the client's user says always. Default: there is no such answer. */
  readonly policy?: Pick<Policy, "remember"> | undefined;
  /** The permission modes that the user can choose from. */
  readonly modes?: AcpChoice | undefined;
  /** The models that the user can choose from. */
  readonly models?: AcpChoice | undefined;
  /** Sentences about what does not work in it, as a server that did not start: told when the client has opened it. */
  readonly problems?: readonly string[] | undefined;
  /** Beside `/compact`, which every session has. */
  readonly commands?: readonly AcpCommand[] | undefined;
  /** Tokens that the model takes. Without it the client is not told how much of them is used. */
  readonly contextWindow?: number | undefined;
  /** Returns the texts that a call would change now, shown as a diff before it runs; undefined for a call that changes none. */
  changes?(call: AcpCall, signal: AbortSignal): Promise<readonly AcpFileChange[] | undefined>;
  /** Closes the session; called once, when no turn runs any more. */
  close(): Promise<void> | void;
}

/** One thing to choose out of a few. */
export interface AcpChoice {
  readonly current: string;
  readonly available: readonly { readonly id: string; readonly name: string; readonly description?: string }[];
  /** Gets one of `available`. */
  select(id: string): Promise<void> | void;
}

/** A command that the user can type as `/name`. */
export interface AcpCommand {
  readonly name: string;
  readonly description: string;
  /** A hint at the text that may follow the name; absent if none may. */
  readonly hint?: string;
  /** Returns what the user is told. */
  run(input: string, signal: AbortSignal): Promise<string> | string;
}

/** A call of a tool. */
export interface AcpCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The text of one file before and after a change: undefined before it is there, and after it is removed. */
export interface AcpFileChange {
  /** Absolute. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A client's request to open a conversation. */
export interface AcpSessionRequest {
  /** An absolute path, without links, of a directory that is there. */
  readonly cwd: string;
  /** `cwd`, and the other directories that the client has open; each is there. */
  readonly roots: readonly string[];
  /** In the form of `mcpServers` in other programs. The client's user has named them. */
  readonly mcpServers: Readonly<Record<string, AcpMcpServer>>;
  /** Fires when the client goes away. */
  readonly signal: AbortSignal;
}

/** An MCP server: a program to start, or an address. */
export type AcpMcpServer =
  | { readonly command: string; readonly args: string[]; readonly env: Record<string, string> }
  | { readonly type: "http"; readonly url: string; readonly headers: Record<string, string> };

/** A conversation that can be opened again. */
export interface AcpSessionInfo {
  readonly id: string;
  readonly cwd: string;
  readonly title?: string | undefined;
  readonly changedAt?: Date | undefined;
}
