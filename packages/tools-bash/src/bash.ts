import type { ExecutableTool } from "@toolcrib/core";
import { readOptions } from "@toolcrib/core/internal";
import { type BashToolOptions, knownToolOptions, settingsOf } from "./bashOptions.ts";
import { createBackgroundJobs } from "./jobs/backgroundJobs.ts";
import { createReadOutputTool } from "./jobs/readOutput.ts";
import { createStopCommandTool } from "./jobs/stopCommand.ts";
import { runBashTool } from "./runBash.ts";

/** Makes all tools of this package: `run_bash`, and with `background` `read_output` and `stop_command`. */
export function createBashTools(options: BashToolOptions = {}): ExecutableTool[] {
  readOptions<BashToolOptions>("createBashTools", options, knownToolOptions);
  const settings = settingsOf(options);
  const { background = false } = options;
  if (background === false) return [runBashTool(settings)];
  const jobs = background === true ? createBackgroundJobs() : background;
  return [runBashTool(settings, jobs), createReadOutputTool(jobs), createStopCommandTool(jobs)];
}
