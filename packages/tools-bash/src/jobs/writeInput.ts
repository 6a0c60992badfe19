import { defineTool, type ExecutableTool, invalidArgument, ToolError } from "@toolcrib/core";
import { objectSchema } from "@toolcrib/kit/text";
import type { CommandInput } from "../process/commandInput.ts";
import { jsonOutput } from "../process/streamOutput.ts";
import type { BackgroundJobs } from "./backgroundJobs.ts";
import type { Job } from "./job.ts";

const name = "write_input";
/** Most bytes of one call. */
const longestText = 65_536;
/** Most bytes that wait for a program that does not read. */
const mostWaiting = 262_144;

interface CheckedWrite {
  readonly job: Job;
  readonly input: CommandInput;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly close: boolean;
}

/**
 * Makes `write_input`, which writes text to the standard input of a command in the background, which was started with `input`, and can
 * close it. Its effect is an execution: what reads the text may run it.
 */
export function createWriteInputTool(jobs: BackgroundJobs): ExecutableTool {
  return defineTool({
    name,
    description:
      "Write to the standard input of a background command that was started with input: true. Whatever reads it may run the text.",
    parameters: objectSchema({
      id: { type: "string", description: "Id of the command" },
      "text?": {
        type: "string",
        description: `Written as it is, so end a line with \\n; at most ${longestText} bytes`,
      },
      "close?": { type: "boolean", description: "Close the input after the text" },
    }),
    origin: "@toolcrib/tools-bash",
    destructive: true,
    openWorld: true,
    defaults: { text: "", close: false },
    outputSchema: objectSchema({
      running: { type: "boolean" },
      written: { type: "integer" },
      waiting: { type: "integer" },
      input: { enum: ["open", "closed"] },
    }),
    effects(args) {
      const { job, text } = checkWrite(args, jobs);
      const around = job.confinement === undefined ? {} : { confinement: job.confinement };
      return [{ kind: "execute", input: text, into: job.command, cwd: job.cwd, ...around }];
    },
    async execute(args, { beginCommit }) {
      const { job, input, bytes, close } = checkWrite(args, jobs);
      beginCommit?.();
      if (bytes.length > 0) {
        await input.write(bytes);
        if (!input.isOpen) throw notWritten(`${closedBy(job)}; the text, or a part of it, was not read`);
      }
      if (close) input.close();
      return jsonOutput({
        running: job.running,
        written: bytes.length,
        waiting: input.waiting,
        input: input.isOpen ? "open" : "closed",
      });
    },
  });
}

/** Throws a ToolError for what cannot be written. */
function checkWrite({ id, text, close }: Record<string, unknown>, jobs: BackgroundJobs): CheckedWrite {
  const job = jobs.find(id);
  if (text !== undefined && text !== null && typeof text !== "string") throw invalidArgument("text", "expected string");
  if (close !== undefined && close !== null && typeof close !== "boolean")
    throw invalidArgument("close", "expected boolean");
  const given = text ?? "";
  if (given === "" && close !== true) throw invalidArgument("text", "is empty; pass text, or close: true");
  if (/\p{Surrogate}/u.test(given)) throw invalidArgument("text", "holds half a character, which has no bytes");
  const bytes = Buffer.from(given, "utf8");
  if (bytes.length > longestText)
    throw invalidArgument(
      "text",
      `has ${bytes.length} bytes, at most ${longestText} fit; write it in parts, or to a file`,
    );
  const { input } = job;
  if (!job.running) throw notWritten(`the command has ended with exit code ${job.exitCode}`);
  if (!input) throw notWritten("the input of this command was closed from its start; start it with input: true");
  if (!input.isOpen) throw notWritten("its input is closed already");
  if (input.waiting + bytes.length > mostWaiting)
    throw notWritten(
      `the command has not read ${input.waiting} bytes that wait for it; read its output, and try again later`,
    );
  return { job, input, text: given, bytes, close: close === true };
}

function closedBy({ running, exitCode }: Job): string {
  return running ? "the command has closed its input" : `the command has ended with exit code ${exitCode}`;
}

function notWritten(why: string): ToolError {
  return new ToolError({ code: "execution_failed", toolName: name, message: `Not written: ${why}` });
}
