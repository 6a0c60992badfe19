import type { ExecutableTool } from "@toolcrib/core";
import type { BackgroundJobs } from "./backgroundJobs.ts";
import { readingSchema, renderReading } from "./readOutput.ts";

const name = "stop_command";

/** Makes `stop_command`, which kills a command in the background and everything it started, and answers what it printed last, as JSON. */
export function createStopCommandTool(jobs: BackgroundJobs): ExecutableTool {
  return {
    name,
    origin: "@toolcrib/tools-bash",
    destructive: true,
    idempotent: true,
    outputSchema: readingSchema,
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description:
          "Kill a background command and everything it started. Answers what it printed since the last reading.",
        parameters: {
          type: "object",
          properties: { id: { type: "string", description: "Id of the command" } },
          required: ["id"],
          additionalProperties: false,
        },
        strict: false,
      },
    }),
    /** Ends only what `run_bash` was allowed to start. */
    effects({ id }) {
      jobs.find(id);
      return [];
    },
    async execute({ id }, { beginCommit } = {}) {
      const job = jobs.find(id);
      beginCommit?.();
      await job.stop();
      return renderReading(job.read());
    },
  };
}
