import { statSync } from "node:fs";
import { type ExecutableTool, type ToolCallInfo, ToolError } from "@toolcrib/core";
import { createPathScope, type PathScope, plainSystemError, systemErrorCode } from "@toolcrib/core/files";
import { clip, printableName } from "@toolcrib/core/text";
import { childEnvironment, type ScrubEnv } from "./environment.ts";
import { withNewline } from "./headTailBuffer.ts";
import type { Leftovers } from "./leftovers.ts";
import { findShell } from "./platform.ts";
import type { RunningProcess } from "./processes.ts";
import { runShell, type ShellResult, type ShellRunner } from "./runShell.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";

export interface RunBashOptions {
  /** Where commands run, and what a relative `cwd` argument is relative to. Default: the first root, else the process's. */
  cwd?: string | undefined;
  /** Commands are not confined by it: it only gives the defaults of `cwd` and `sandbox.writable`. */
  root?: string | readonly string[] | undefined;
  /** Milliseconds a command may run unless the call says otherwise. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** Remove what looks like a secret from the environment that commands inherit. Default: false. */
  scrubEnv?: ScrubEnv | undefined;
  /** Run every command in an OS sandbox; an error where there is none. Default: false. */
  sandbox?: boolean | SandboxOptions | undefined;
  /** Keeps book of what commands leave running, so that the program can end it. */
  leftovers?: Leftovers | undefined;
  /** What runs a command; for tests, or to run it elsewhere. Default: `runShell`. */
  runner?: ShellRunner | undefined;
}

const name = "run_bash";
const defaultTimeoutMs = 30_000;
/** setTimeout fires at once beyond this. */
const longestTimeoutMs = 2 ** 31 - 1;
/** By so much the registry's limit is above the command's own, which settles within 1 s. */
const marginMs = 5000;
/** Most processes left running that are named. */
const mostNamed = 5;

/** The pack: `run_bash`. */
export function createBashTools(options: RunBashOptions = {}): ExecutableTool[] {
  return [createRunBashTool(options)];
}

/**
 * `run_bash`: runs `/bin/sh -c` and answers JSON `{ "stdout", "stderr", "exit_code" }`, each stream cut to 50 KB; `exit_code` is
 * -1 at the time limit and 128 + n after signal n. Fails with a ToolError on invalid arguments, when the command cannot be
 * started, when the sandbox asked for is not available, and on abort. Throws a RangeError for a `timeoutMs` out of range.
 */
export function createRunBashTool(options: RunBashOptions = {}): ExecutableTool {
  const { timeoutMs = defaultTimeoutMs, scrubEnv = false, leftovers, runner = runShell } = options;
  if (!isTimeout(timeoutMs)) throw new RangeError(`timeoutMs must be ${timeoutRange}, got ${String(timeoutMs)}`);
  const scope = createPathScope({ cwd: options.cwd ?? [options.root].flat()[0] });
  const sandbox = options.sandbox ? sandboxOf(options, options.sandbox, scope) : undefined;

  return {
    name,
    destructive: true,
    openWorld: true,
    timeoutMs: ({ timeout }) => Math.min((isTimeout(timeout) ? timeout : timeoutMs) + marginMs, longestTimeoutMs),
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description:
          "Run a shell command (stdin closed). It can change or destroy anything the process can reach. " +
          "exit_code -1 means timed out.",
        parameters: {
          type: "object",
          properties: {
            command: { type: "string", description: "Shell command" },
            cwd: { type: "string", description: "Start directory" },
            env: { type: "object", additionalProperties: { type: "string" }, description: "Variables to add" },
            timeout: { type: "number", description: `ms, default ${timeoutMs}` },
          },
          required: ["command"],
          additionalProperties: false,
        },
        strict: false,
      },
    }),
    async execute(args, call = {}) {
      const { command, env, timeout } = checkArguments(args, timeoutMs);
      const cwd = await directoryOf(args.cwd, scope);
      const shell = findShell();
      const plain = { file: shell, args: ["-c", command] };
      const program = sandbox ? await sandbox({ ...plain, cwd, env }) : plain;
      const { signal, beginCommit }: ToolCallInfo = call;
      const mark = crypto.randomUUID();
      if (signal?.aborted) throw notRun();
      beginCommit?.();
      leftovers?.started(mark);
      let result: ShellResult | undefined;
      try {
        result = await runner({
          ...program,
          cwd,
          env: childEnvironment(sandbox ? {} : env, mark, scrubEnv),
          mark,
          timeoutMs: timeout,
          signal,
        });
      } catch (error) {
        throw startError(error);
      } finally {
        leftovers?.settled(mark, result?.running ?? []);
      }
      return render(result, timeout);
    },
  };
}

function sandboxOf(options: RunBashOptions, sandbox: true | SandboxOptions, scope: PathScope): Sandbox {
  const { writable = options.root, network = false } = sandbox === true ? {} : sandbox;
  const given = writable === undefined ? undefined : [writable].flat();
  const roots = given && createPathScope({ root: given }).roots;
  return createSandbox(
    {
      get writable() {
        return roots ?? [scope.cwd];
      },
      get cwd() {
        return scope.cwd;
      },
    },
    network,
  );
}

interface CheckedArguments {
  command: string;
  env: Record<string, string>;
  timeout: number;
}

const timeoutRange = `a positive number of milliseconds up to ${longestTimeoutMs}`;

function isTimeout(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= longestTimeoutMs;
}

function checkArguments(args: Record<string, unknown>, defaultTimeout: number): CheckedArguments {
  const { command, env, timeout } = args;
  if (typeof command !== "string") throw invalid("command", "is required, expected string");
  if (command.includes("\0")) throw invalid("command", "must not contain a NUL character");
  if (timeout !== undefined && timeout !== null && !isTimeout(timeout)) {
    throw invalid("timeout", `must be ${timeoutRange}, got ${typeof timeout === "number" ? timeout : typeof timeout}`);
  }
  return { command, env: checkEnv(env ?? {}), timeout: timeout ?? defaultTimeout };
}

function checkEnv(env: unknown): Record<string, string> {
  if (typeof env !== "object" || env === null || Array.isArray(env)) {
    throw invalid("env", "expected an object with string values");
  }
  for (const [key, value] of Object.entries(env)) {
    const shown = clip(JSON.stringify(key));
    if (key === "" || /[=\0]/.test(key))
      throw invalid("env", `${shown} is no variable name: no "=", no NUL, not empty`);
    if (typeof value !== "string") throw invalid("env", `the value of ${shown} must be a string`);
    if (value.includes("\0")) throw invalid("env", `the value of ${shown} must not contain a NUL character`);
  }
  return env as Record<string, string>;
}

async function directoryOf(cwd: unknown, scope: PathScope): Promise<string> {
  if (cwd !== undefined && cwd !== null && typeof cwd !== "string") throw invalid("cwd", "expected string");
  // As the caller wrote it: an answer shows no more of this machine's paths than that.
  const shown = clip(printableName(cwd ?? "."));
  try {
    const directory = typeof cwd === "string" ? await scope.resolve(cwd, "cwd") : scope.cwd;
    if (statSync(directory).isDirectory()) return directory;
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw plainSystemError(error, shown);
    throw invalid("cwd", `no such directory: ${shown}; pass an existing one`);
  }
  throw invalid("cwd", `is not a directory: ${shown}; pass an existing one`);
}

function invalid(field: string, reason: string): ToolError {
  return new ToolError({
    code: "invalid_arguments",
    toolName: name,
    message: `Invalid arguments: ${field}: ${reason}`,
    details: { field, reason },
  });
}

function notRun(): ToolError {
  return new ToolError({ code: "aborted", toolName: name, message: "Aborted; nothing was run" });
}

function startError(error: unknown): unknown {
  if (systemErrorCode(error) !== "E2BIG") return plainSystemError(error, "the shell");
  return invalid("command", "it and env are longer than the system accepts (E2BIG); put the data into a file");
}

/** Lines about how it went come after all that the command printed. */
function render({ stdout, stderr, exitCode, running }: ShellResult, timeout: number): string {
  let text = stderr;
  if (running.length > 0) text = `${withNewline(text)}[still running in the background: ${listProcesses(running)}]`;
  if (exitCode === -1) text = `${withNewline(text)}[timed out after ${timeout} ms]`;
  return JSON.stringify({ stdout, stderr: text, exit_code: exitCode });
}

function listProcesses(running: readonly RunningProcess[]): string {
  const named = running.slice(0, mostNamed).map(({ pid, command }) => (command ? `${pid} (${command})` : String(pid)));
  const more = running.length - named.length;
  return named.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
