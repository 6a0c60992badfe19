import { killLeft } from "./platform.ts";
import type { RunningProcess } from "./processes.ts";

/** What the commands of one or several tools left running, so that a program can end it when it ends. */
export interface Leftovers {
  /** Called by the tool when a command starts, with the mark in its environment. */
  started(mark: string): void;
  /** Called by the tool when the call has settled, with what is still running. */
  settled(mark: string, running: readonly RunningProcess[]): void;
  /**
   * Kills (SIGKILL) everything that these commands started and that still runs, those of calls in flight too. Synchronous:
   * it may be called from a `process.on("exit")` listener. Returns how many processes it killed. On Linux found by mark;
   * elsewhere only the process groups that were alive when their call settled.
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
