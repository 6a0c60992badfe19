import { defineTool, type ExecutableTool, type JsonSchema } from "@toolcrib/core";
import { longestDelayMs, readOptions } from "@toolcrib/core/internal";
import { objectSchema } from "@toolcrib/kit/text";
import { checkArguments, checkBackground } from "./bashArguments.ts";
import { type BashSettings, isTimeout, knownOptions, type RunBashOptions, settingsOf } from "./bashOptions.ts";
import { confinementOf } from "./confinement.ts";
import type { BackgroundJobs } from "./jobs/backgroundJobs.ts";
import { createProgressTail } from "./process/progressTail.ts";
import { SpillFile } from "./process/spillFile.ts";
import { jsonOutput, StreamOutput, type StreamText, shownText, textWithNotes } from "./process/streamOutput.ts";
import { runCommand } from "./runCommand.ts";

const name = "run_bash";
/** The time that the registry waits beyond the command's limit, so that the command's own limit ends it first. */
const marginMs = 5000;
/** And where paths are looked for before and after the command. */
const walkMarginMs = 20_000;

const endSchema: JsonSchema = objectSchema({
  stdout: { type: "string" },
  stderr: { type: "string" },
  exit_code: { type: "integer" },
});
const startSchema: JsonSchema = objectSchema({ id: { type: "string" }, pid: { type: "integer" } });

/**
 * Makes `run_bash`, which runs `/bin/sh -c` and answers JSON `{ "stdout", "stderr", "exit_code" }`, each stream cut to 50 KB;
 * `exit_code` is -1 at the time limit and 128 + n after signal n. Fails with a ToolError on invalid arguments, when the command
 * cannot be started, when the sandbox is not available, and on abort. Throws a TypeError or RangeError for invalid options.
 */
export function createRunBashTool(options: RunBashOptions = {}): ExecutableTool {
  readOptions<RunBashOptions>("createRunBashTool", options, knownOptions);
  return runBashTool(settingsOf(options));
}

/** Makes `run_bash`. With `jobs` it takes `background`, and answers such a call with JSON `{ "id", "pid" }` at once. */
export function runBashTool(settings: BashSettings, jobs?: BackgroundJobs): ExecutableTool {
  const { sandbox, timeoutMs, maxTimeoutMs, spill } = settings;
  const margin = sandbox ? walkMarginMs : marginMs;
  const longest = maxTimeoutMs < longestDelayMs ? `, at most ${maxTimeoutMs}` : "";
  const newOutput = (stream: string, onPush?: () => void): StreamOutput =>
    new StreamOutput(() => (spill === undefined ? undefined : new SpillFile(spill, stream)), onPush);
  const offers = { background: jobs !== undefined, input: jobs !== undefined && settings.input };

  return defineTool({
    name,
    description:
      `Run a shell command (${settings.shellName}, stdin closed). It can change or destroy anything the process can reach. ` +
      "exit_code -1 means timed out.",
    parameters: objectSchema({
      command: { type: "string", description: "Shell command" },
      "cwd?": { type: "string", description: "Start directory" },
      "env?": { type: "object", additionalProperties: { type: "string" }, description: "Variables to add" },
      "timeout?": { type: "number", description: `ms, default ${timeoutMs}${longest}` },
      ...backgroundParameters(offers),
    }),
    origin: "@toolcrib/tools-bash",
    destructive: true,
    openWorld: true,
    defaults: { timeout: timeoutMs },
    outputSchema: jobs ? { type: "object", anyOf: [endSchema, startSchema] } : endSchema,
    timeoutMs: ({ timeout }) =>
      Math.min((isTimeout(timeout, maxTimeoutMs) ? timeout : timeoutMs) + margin, longestDelayMs),
    async effects(args) {
      const confinement = confinementOf(settings, checkBackground(args, offers));
      const { command, cwd, env } = await checkArguments(args, settings);
      const own = Object.keys(env).length > 0 ? { env } : {};
      const around = confinement === undefined ? {} : { confinement };
      return [{ kind: "execute", command, shell: settings.shellOption, cwd, ...own, ...around }];
    },
    async execute(args, { signal, beginCommit, onProgress }) {
      const use = checkBackground(args, offers);
      const checked = await checkArguments(args, settings);
      if (jobs && use.isBackground) {
        // Without a limit of its own it is not ended by the one for commands that are waited for.
        const timeout = args.timeout === undefined || args.timeout === null ? maxTimeoutMs : checked.timeout;
        const { keepsInput } = use;
        const job = { ...checked, newOutput, keepsInput, confinement: confinementOf(settings, use) };
        const { id, pid } = await jobs.start(job, (watch) =>
          runCommand({ ...checked, ...watch, timeout, beginCommit, startSignal: signal }, settings),
        );
        return jsonOutput({ id, pid });
      }
      const output = { stdout: newOutput("stdout"), stderr: newOutput("stderr") };
      const progress = onProgress && createProgressTail(output, (message) => onProgress({ message }));
      try {
        const run = { ...checked, signal, beginCommit, output: progress?.output ?? output };
        const { exitCode, notes, ...texts } = await runCommand(run, settings);
        const stdout = textOf(output.stdout, texts.stdout);
        const stderr = textWithNotes(textOf(output.stderr, texts.stderr), notes);
        return jsonOutput(
          { stdout: stdout.shown, stderr: stderr.shown, exit_code: exitCode },
          { stdout: stdout.raw, stderr: stderr.raw, exit_code: exitCode },
        );
      } catch (error) {
        for (const stream of [output.stdout, output.stderr]) stream.discard();
        throw error;
      } finally {
        progress?.end();
      }
    },
  });
}

/** Returns the text: a runner of the caller's own may answer another than it printed. */
function textOf(output: StreamOutput, raw: string): StreamText {
  output.end();
  const taken = output.take();
  return taken.raw === raw ? taken : { raw, shown: shownText(raw) };
}

/** Returns the parameters for commands in the background, where they are offered. */
function backgroundParameters(offers: {
  readonly background: boolean;
  readonly input: boolean;
}): Record<string, JsonSchema> {
  const background = { type: "boolean", description: "Answer at once with an id; it runs until it ends or is stopped" };
  const input = { type: "boolean", description: "With background: keep stdin open, to write to it later" };
  return { ...(offers.background && { "background?": background }), ...(offers.input && { "input?": input }) };
}
