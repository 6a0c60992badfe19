import { type ExecutableTool, invalidArgument, longestDelayMs, type ToolCallInfo, ToolError } from "@toolcrib/core";
import { plainSystemError, systemErrorCode } from "@toolcrib/core/files";
import { checkArguments } from "./bashArguments.ts";
import { isTimeout, type RunBashOptions, settingsOf } from "./bashOptions.ts";
import { childEnvironment } from "./environment.ts";
import { HeadTailBuffer, withNewline } from "./process/headTailBuffer.ts";
import type { RunningProcess } from "./process/processes.ts";
import { createProgressTail } from "./process/progressTail.ts";
import type { ShellResult } from "./process/runShell.ts";
import { describeRefusals } from "./sandbox/refusals.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

const name = "run_bash";
const origin = "@toolcrib/tools-bash";
/** How much longer the registry waits than the command may run, so that the command's own limit ends it first. */
const marginMs = 5000;
/** And where denied paths are looked for before the command. */
const denyMarginMs = 20_000;
/** Most processes that the answer names. */
const mostNamed = 5;

/** All tools of this package: `run_bash`. */
export function createBashTools(options: RunBashOptions = {}): ExecutableTool[] {
  return [createTool(options, "createBashTools")];
}

/**
 * `run_bash`: runs `/bin/sh -c` and answers JSON `{ "stdout", "stderr", "exit_code" }`, each stream cut to 50 KB; `exit_code` is
 * -1 at the time limit and 128 + n after signal n. Fails with a ToolError on invalid arguments, when the command cannot be
 * started, when the sandbox is not available, and on abort. Throws a TypeError or RangeError for invalid options.
 */
export function createRunBashTool(options: RunBashOptions = {}): ExecutableTool {
  return createTool(options, "createRunBashTool");
}

function createTool(options: RunBashOptions, owner: string): ExecutableTool {
  const settings = settingsOf(options, owner);
  const { sandbox, shell, timeoutMs, maxTimeoutMs, scrubEnv, leftovers, runner } = settings;
  const margin = sandbox && options.deny ? denyMarginMs : marginMs;
  const longest = maxTimeoutMs < longestDelayMs ? `, at most ${maxTimeoutMs}` : "";

  return {
    name,
    origin,
    destructive: true,
    openWorld: true,
    timeoutMs: ({ timeout }) =>
      Math.min((isTimeout(timeout, maxTimeoutMs) ? timeout : timeoutMs) + margin, longestDelayMs),
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description:
          `Run a shell command (${settings.shellName}, stdin closed). It can change or destroy anything the process can reach. ` +
          "exit_code -1 means timed out.",
        parameters: {
          type: "object",
          properties: {
            command: { type: "string", description: "Shell command" },
            cwd: { type: "string", description: "Start directory" },
            env: { type: "object", additionalProperties: { type: "string" }, description: "Variables to add" },
            timeout: { type: "number", description: `ms, default ${timeoutMs}${longest}` },
          },
          required: ["command"],
          additionalProperties: false,
        },
        strict: false,
      },
    }),
    async effects(args) {
      const { command, cwd, env } = await checkArguments(args, settings);
      const own = Object.keys(env).length > 0 ? { env } : {};
      return [{ kind: "execute", command, shell: settings.shellOption, cwd, ...own }];
    },
    async execute(args, call = {}) {
      const { command, cwd, env, timeout } = await checkArguments(args, settings);
      const { signal, beginCommit, onProgress }: ToolCallInfo = call;
      const mark = crypto.randomUUID();
      const plain = { file: shell(), args: ["-c", command] };
      const program = await sandbox?.enter({ ...plain, cwd, env });
      const output = { stdout: new HeadTailBuffer(), stderr: new HeadTailBuffer() };
      const progress = onProgress && createProgressTail(output, (message) => onProgress({ message }));
      let result: ShellResult | undefined;
      try {
        if (signal?.aborted) throw notRun();
        beginCommit?.();
        leftovers?.started(mark);
        result = await runner({
          ...(program ?? plain),
          cwd,
          env: childEnvironment(sandbox ? {} : env, mark, scrubEnv),
          mark,
          timeoutMs: timeout,
          signal,
          output: progress?.output ?? output,
        });
      } catch (error) {
        throw startError(error);
      } finally {
        program?.close();
        progress?.end();
        leftovers?.settled(mark, (!sandbox && result?.running) || []);
      }
      // Nothing outlives the sandbox: a process that is still listed is ending.
      return render(sandbox ? { ...result, running: [] } : result, timeout, sandbox);
    },
  };
}

function notRun(): ToolError {
  return new ToolError({ code: "aborted", toolName: name, message: "Aborted; nothing was run" });
}

/** A command that could not be started. */
function startError(error: unknown): unknown {
  switch (startErrorCode(error)) {
    case "E2BIG":
      return invalidArgument("command", "with env is longer than the system accepts (E2BIG); put the data into a file");
    case "EAGAIN":
      return notStarted("the system allows no more processes (EAGAIN); end some and try again", error);
    case "ENOMEM":
      return notStarted("there is no memory for another process (ENOMEM); free some and try again", error);
    case "ERR_ACCESS_DENIED":
      return notStarted("Node's permission model forbids it; start the program with --allow-child-process", error);
    default:
      return plainSystemError(error, "the shell");
  }
}

function startErrorCode(error: unknown): unknown {
  const denied = typeof error === "object" && error !== null && "code" in error && error.code === "ERR_ACCESS_DENIED";
  return denied ? error.code : systemErrorCode(error);
}

function notStarted(why: string, cause: unknown): ToolError {
  return new ToolError({
    code: "execution_failed",
    toolName: name,
    message: `The command was not started: ${why}`,
    details: { cause },
    cause,
  });
}

/** The answer; notes about the command come after everything that it printed to stderr. */
function render({ stdout, stderr, exitCode, running }: ShellResult, timeout: number, sandbox?: Sandbox): string {
  const notes = running.length > 0 ? [`[still running in the background: ${listProcesses(running)}]`] : [];
  if (sandbox && exitCode !== 0) notes.push(...describeRefusals(`${stdout}\n${stderr}`, sandbox));
  if (exitCode === -1) notes.push(`[timed out after ${timeout} ms]`);
  const text = notes.length > 0 ? withNewline(stderr) + notes.join("\n") : stderr;
  return JSON.stringify({ stdout, stderr: text, exit_code: exitCode });
}

function listProcesses(running: readonly RunningProcess[]): string {
  const named = running.slice(0, mostNamed).map(({ pid, command }) => (command ? `${pid} (${command})` : String(pid)));
  const more = running.length - named.length;
  return named.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
