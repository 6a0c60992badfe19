import { defineTool, type ExecutableTool, invalidArgument, type JsonSchema } from "@toolcrib/core";
import { longestDelayMs } from "@toolcrib/core/internal";
import { objectSchema } from "@toolcrib/kit/text";
import { jsonOutput } from "../process/streamOutput.ts";
import type { BackgroundJobs } from "./backgroundJobs.ts";
import type { Job } from "./job.ts";

/** The time that the registry waits beyond the call's own limit. */
const marginMs = 5000;

const readingSchema: JsonSchema = objectSchema({
  running: { type: "boolean" },
  exit_code: { type: ["integer", "null"] },
  stdout: { type: "string" },
  stderr: { type: "string" },
});
const id: JsonSchema = { type: "string", description: "Id of the command" };

/** Makes `read_output`, which answers what a command in the background has printed since the last reading, as JSON. */
export function createReadOutputTool(jobs: BackgroundJobs): ExecutableTool {
  const wait = { type: "number", description: "ms to wait for output or the end, default 0" };
  return defineTool({
    name: "read_output",
    description: "Read what a background command printed since the last reading. exit_code is null while it runs.",
    parameters: objectSchema({ id, "wait?": wait }),
    origin: "@toolcrib/tools-bash",
    readOnly: true,
    defaults: { wait: 0 },
    outputSchema: readingSchema,
    timeoutMs: (args) => Math.min((isWait(args.wait) ? args.wait : 0) + marginMs, longestDelayMs),
    effects: (args) => {
      jobs.find(args.id);
      // It reads and ends only what `run_bash` was allowed to start.
      return [];
    },
    async execute(args, { signal }) {
      const job = jobs.find(args.id);
      await job.wait(checkWait(args.wait), signal);
      return renderReading(job);
    },
  });
}

/** Makes `stop_command`, which kills a command in the background and everything it started, and answers what it printed last, as JSON. */
export function createStopCommandTool(jobs: BackgroundJobs): ExecutableTool {
  return defineTool({
    name: "stop_command",
    description: "Kill a background command and everything it started. Answers what it printed since the last reading.",
    parameters: objectSchema({ id }),
    origin: "@toolcrib/tools-bash",
    destructive: true,
    idempotent: true,
    outputSchema: readingSchema,
    effects: (args) => {
      jobs.find(args.id);
      // It reads and ends only what `run_bash` was allowed to start.
      return [];
    },
    async execute(args, { beginCommit }) {
      const job = jobs.find(args.id);
      beginCommit?.();
      await job.stop();
      return renderReading(job);
    },
  });
}

function renderReading(job: Job): string {
  const { running, exitCode, stdout, stderr } = job.read();
  const rest = { running, exit_code: exitCode };
  return jsonOutput(
    { ...rest, stdout: stdout.shown, stderr: stderr.shown },
    { ...rest, stdout: stdout.raw, stderr: stderr.raw },
  );
}

function checkWait(wait: unknown): number {
  if (wait === undefined || wait === null) return 0;
  if (isWait(wait)) return wait;
  throw invalidArgument("wait", `must be a number of milliseconds from 0 to ${longestDelayMs}`);
}

function isWait(wait: unknown): wait is number {
  return typeof wait === "number" && wait >= 0 && wait <= longestDelayMs;
}
