import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";

/** Counts work in steps, which do not depend on how busy the machine is. */
export interface StepCounter {
  /** How often the blocks of source files below the folder ran meanwhile. */
  count(folder: string, run: () => Promise<unknown>): Promise<number>;
  stop(): void;
}

/** Blocks are counted in functions of modules that are loaded after this, also where they were loaded before and reset. */
export function startCountingSteps(): StepCounter {
  // Otherwise a module that is loaded again has the compiled functions of the first time, which count no blocks.
  setFlagsFromString("--no-compilation-cache");
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  /** What was counted since the last time. */
  const take = (folder: string): number => {
    let steps = 0;
    session.post("Profiler.takePreciseCoverage", (error, taken) => {
      if (error) throw error;
      for (const { url, functions } of taken.result) {
        if (!url.includes(folder)) continue;
        for (const { ranges } of functions) for (const { count } of ranges) steps += count;
      }
    });
    return steps;
  };
  return {
    async count(folder, run) {
      take(folder);
      await run();
      return take(folder);
    },
    stop() {
      session.disconnect();
      setFlagsFromString("--compilation-cache");
    },
  };
}
