import type { AgentOptions, Answers, PendingCall, Provider, Usage, UserContent } from "@toolcrib/agent";
import type { ToolLabels } from "@toolcrib/core";

/**
 * `queued`: no worker has it yet · `running` · `waiting`: calls wait for an answer, and no worker is needed meanwhile · `done`:
 * there is an answer · `failed`: `error` says why · `cancelled`.
 */
export type RunStatus = "queued" | "running" | "waiting" | "done" | "failed" | "cancelled";

/** The state of a run at one moment. */
export interface Run {
  readonly id: string;
  readonly agent: string;
  readonly tenant?: string;
  readonly labels: ToolLabels;
  readonly priority: number;
  readonly status: RunStatus;
  /** With the status `done`. */
  readonly answer?: string;
  /** With the status `waiting`: the calls that wait for an answer. */
  readonly pending?: readonly PendingCall[];
  /** With the status `failed`: what `result` throws. */
  readonly error?: Error;
  /** Tokens, and cost where it is known, of the turns that have ended. */
  readonly usage: Usage;
  /** The number of turns: the first message, and each one after an answer or a further message. */
  readonly turns: number;
  /** The number of times that a worker has begun the present turn: more than one if workers died. */
  readonly attempts: number;
  /** The reason why no worker can go on with a queued or running run. */
  readonly detail?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The facts about the run that the maker of an agent gets. */
export interface RunInfo {
  /** Empty where the agent is made for its list of tools alone, before any run. */
  readonly id: string;
  readonly tenant: string | undefined;
  readonly labels: ToolLabels;
}

/** An agent as runs are made of it. The engine keeps the session: a journal is not taken. */
export interface AgentDefinition extends Omit<AgentOptions, "journal" | "onJournalError" | "sessionName" | "steps"> {
  readonly provider: Provider;
}

/** A definition, or a function that makes it for each run. It is called again wherever the run goes on. */
export type AgentSource = AgentDefinition | ((run: RunInfo) => AgentDefinition | Promise<AgentDefinition>);

/** Options of `start`. */
export interface StartOptions {
  /** The same id twice is the same run. Default: a random one. */
  readonly id?: string | undefined;
  readonly tenant?: string | undefined;
  /**
   * A run with a higher number starts sooner, among those of its agent: from -1,000,000 to 1,000,000. Where the turns of a tenant are
   * limited it counts among the runs of one tenant alone. Default: 0.
   */
  readonly priority?: number | undefined;
  /** JSON, handed to the maker of the agent and to every tool call. */
  readonly labels?: ToolLabels | undefined;
}

/** Options of `list`. */
export interface ListOptions {
  readonly status?: RunStatus | undefined;
  readonly tenant?: string | undefined;
  readonly agent?: string | undefined;
  /** Default: 100. */
  readonly limit?: number | undefined;
  /** Goes on after this run, the last one of the page before. */
  readonly after?: Pick<Run, "id" | "createdAt"> | undefined;
}

/** Options of `result`. */
export interface ResultOptions {
  /** Ends the waiting, not the run. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs of agents that outlive the process, on some engine. Calls reject with an AgentError: `network`, with `retryable`, where the database
 * cannot be reached.
 */
export interface DurableRuns {
  /** Makes this process a worker until `close`. */
  work(): Promise<void>;
  /** Queues a run and resolves to its id. */
  start(agent: string, message: UserContent, options?: StartOptions): Promise<string>;
  /** Returns what is known of a run; undefined for an unknown id. */
  get(id: string): Promise<Run | undefined>;
  /**
   * Waits for the end of the run and resolves to the answer. Rejects with an AgentError: as `agent.chat` does, `ended` with the reason
   * `approval` where calls wait for an answer, `aborted` where it was cancelled, `not_found` for an unknown id.
   */
  result(id: string, options?: ResultOptions): Promise<string>;
  /**
   * Answers questions by the id of the call: true, false, a reason to deny, `{ args }` or `{ output }`. The run goes on in some worker. Where
   * other arguments do not fit their tool it waits again, and `question.refused` says why.
   */
  approve(id: string, answers: Answers): Promise<void>;
  /**
   * Sends a message to a run: a running one gets it before its next request, a finished or failed one goes on with a further turn, and
   * for a waiting one it is a no to its questions.
   */
  send(id: string, text: string): Promise<void>;
  /** Ends a run; a request or call in flight gets its signal within about a second. A run that has ended stays as it is. */
  cancel(id: string): Promise<void>;
  /** Deletes a run that is neither queued nor running, with all its records. */
  remove(id: string): Promise<void>;
  /** Lists runs, the newest first. */
  list(options?: ListOptions): Promise<readonly Run[]>;
  /**
   * Lets go of the database; a worker hands its runs to the others first, and begins no further step but for the calls that it has claimed. A
   * call whose tool ignores its signal still runs then, and keeps the process alive: call `process.exit()`.
   */
  close(): Promise<void>;
}
