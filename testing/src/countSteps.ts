import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";

/** Counts work in steps, which do not depend on how busy the machine is. */
export interface StepCounter {
  /** Counts how often the blocks of source files ran meanwhile: of those below a folder, or whose address fits a pattern. */
  count(files: string | RegExp, run: () => Promise<unknown>): Promise<number>;
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
  /** Returns the counts since the last call. */
  const take = (files: string | RegExp): number => {
    let steps = 0;
    session.post("Profiler.takePreciseCoverage", (error, taken) => {
      if (error) throw error;
      for (const { url, functions } of taken.result) {
        if (!(typeof files === "string" ? url.includes(files) : files.test(url))) continue;
        for (const { ranges } of functions) for (const { count } of ranges) steps += count;
      }
    });
    return steps;
  };
  return {
    async count(files, run) {
      take(files);
      await run();
      return take(files);
    },
    stop() {
      session.disconnect();
      setFlagsFromString("--compilation-cache");
    },
  };
}
