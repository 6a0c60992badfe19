import { type ExecutableTool, invalidArgument, type JsonSchema } from "@toolcrib/core";
import { longestDelayMs } from "@toolcrib/core/internal";
import { objectSchema } from "@toolcrib/kit/text";
import { jsonOutput } from "../answer.ts";
import type { BackgroundJobs } from "./backgroundJobs.ts";
import type { JobReading } from "./job.ts";

const name = "read_output";
/** The time that the registry waits beyond the call's own limit. */
const marginMs = 5000;

/** Makes `read_output`, which answers what a command in the background has printed since the last reading, as JSON. */
export function createReadOutputTool(jobs: BackgroundJobs): ExecutableTool {
  return {
    name,
    origin: "@toolcrib/tools-bash",
    readOnly: true,
    defaults: { wait: 0 },
    outputSchema: readingSchema,
    timeoutMs: ({ wait }) => Math.min((isWait(wait) ? wait : 0) + marginMs, longestDelayMs),
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description: "Read what a background command printed since the last reading. exit_code is null while it runs.",
        parameters: {
          type: "object",
          properties: {
            id: { type: "string", description: "Id of the command" },
            wait: { type: "number", description: "ms to wait for output or the end, default 0" },
          },
          required: ["id"],
          additionalProperties: false,
        },
        strict: false,
      },
    }),
    effects({ id }) {
      jobs.find(id);
      return [];
    },
    async execute({ id, wait }, { signal } = {}) {
      const job = jobs.find(id);
      await job.wait(checkWait(wait), signal);
      return renderReading(job.read());
    },
  };
}

/** The data that `renderReading` answers. */
export const readingSchema: JsonSchema = objectSchema({
  running: { type: "boolean" },
  exit_code: { type: ["integer", "null"] },
  stdout: { type: "string" },
  stderr: { type: "string" },
});

export function renderReading({ running, exitCode, stdout, stderr }: JobReading): string {
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
