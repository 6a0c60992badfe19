import { killLeft } from "./platform.ts";
import type { RunningProcess } from "./processes.ts";

/** Tracks processes that outlive their command, so that a program can end them when it ends itself. */
export interface Leftovers {
  /** Notes, for the tool, that a command starts, with the mark in its environment. */
  started(mark: string): void;
  /** Notes, for the tool, that the call has settled, with the processes that still run. */
  settled(mark: string, running: readonly RunningProcess[]): void;
  /**
   * Kills (SIGKILL) every process that these commands started and that still runs, also those of calls in flight. Synchronous,
   * so it can be called in a `process.on("exit")` listener. Returns the number of killed processes. On Linux they are found by
   * their mark; on other systems only process groups that were alive when their call settled are killed.
   */
  end(): number;
}

/** Pass one to `createRunBashTool`; call its `end()` when the program ends. */
export function createLeftovers(): Leftovers {
  const running = new Map<string, readonly RunningProcess[]>();
  return {
    started(mark) {
      running.set(mark, []);
    },
    settled(mark, left) {
      if (left.length === 0) running.delete(mark);
      else running.set(mark, left);
    },
    end() {
      const left = new Map(running);
      running.clear();
      return left.size === 0 ? 0 : killLeft(left);
    },
  };
}
