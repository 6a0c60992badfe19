import type { AgentEvent } from "@toolcrib/agent";
import type { Program } from "../program.ts";
import type { InputHistory } from "../state/inputHistory.ts";
import type { PickChoice } from "./ask.ts";
import type { Keyboard } from "./keyboard.ts";
import type { RecentCalls } from "./recentCalls.ts";

/** The messages of a conversation. Those that nobody waits for yet are kept. */
export interface ChatInput {
  /** Resolves to the next message; undefined when there will be none. */
  next(): Promise<string | undefined>;
  /** The terminal's keys, for a question. */
  readonly keyboard: Keyboard | undefined;
  /** Undefined where lines are printed one after the other. */
  readonly screen: ChatScreen | undefined;
  /** The number of keys typed so far, without Ctrl-C. */
  readonly typed: number;
  /** Drops what is typed and not yet sent; a screen shows the hint in its status. */
  clear(hint: string): void;
  close(): void;
}

export interface ChatScreen {
  /** Sets what stands above the prompt, what Shift-Tab does, and what completes what is typed. */
  tell(status: Status, completions: Completions): void;
  /** Shows the events of a turn until it is ended. */
  startTurn(): Promise<{ show(event: AgentEvent): void; end(): void }>;
  readonly pick: PickChoice;
}

export interface Status {
  /** Lists what is shown while no turn runs, the most important first. */
  facts(): readonly string[];
  mode(): string;
  changeMode(): void;
  readonly calls?: RecentCalls;
}

export interface Completions {
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** Lists words that may follow those of a command. */
  wordsAfter(command: string, words: readonly string[]): Promise<readonly string[]>;
  /** Lists files whose path holds what was typed. */
  files(typed: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface ChatInputOptions {
  readonly program: Pick<Program, "host" | "terminal" | "env" | "cwd">;
  readonly history: InputHistory;
  /** Called at Ctrl-C where it comes as a key. */
  onInterrupt(): void;
  /** Called at Escape: ends the request that runs, and nothing else. */
  onEscape(): void;
}

/** Lines in the order in which they came. */
export class LineQueue {
  readonly lines: string[] = [];
  hasEnded = false;
  pushed = 0;
  #arrival = Promise.withResolvers<void>();

  get isEmpty(): boolean {
    return this.lines.length === 0 && !this.hasEnded;
  }

  push(line: string): void {
    this.lines.push(line);
    this.pushed += 1;
    this.#arrival.resolve();
  }

  end(): void {
    this.hasEnded = true;
    this.#arrival.resolve();
  }

  /** Returns the next line; undefined when there will be none. */
  async next(): Promise<string | undefined> {
    while (this.isEmpty) {
      this.#arrival = Promise.withResolvers<void>();
      await this.#arrival.promise;
    }
    return this.lines.shift();
  }
}
