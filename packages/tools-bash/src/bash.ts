import type { ExecutableTool } from "@toolcrib/core";
import { readOptions } from "@toolcrib/core/internal";
import { type BashToolOptions, knownToolOptions, settingsOf } from "./bashOptions.ts";
import { createBackgroundJobs } from "./jobs/backgroundJobs.ts";
import { createReadOutputTool, createStopCommandTool } from "./jobs/readAndStop.ts";
import { createWriteInputTool } from "./jobs/writeInput.ts";
import { runBashTool } from "./runBash.ts";

/** Makes all tools of this package: `run_bash`, with `background` `read_output` and `stop_command`, and with `input` `write_input`. */
export function createBashTools(options: BashToolOptions = {}): ExecutableTool[] {
  readOptions<BashToolOptions>("createBashTools", options, knownToolOptions);
  const settings = settingsOf(options);
  const { background = false } = options;
  if (settings.input && background === false)
    throw new TypeError("createBashTools: input has no effect without background; pass background: true too");
  if (background === false) return [runBashTool(settings)];
  const jobs = background === true ? createBackgroundJobs() : background;
  const tools = [runBashTool(settings, jobs), createReadOutputTool(jobs), createStopCommandTool(jobs)];
  return settings.input ? [...tools, createWriteInputTool(jobs)] : tools;
}
