import { invalidArgument, ToolError } from "@toolcrib/core";
import { isObject, messageOf } from "@toolcrib/core/text";
import { isForbiddenByNode, plainSystemError, systemErrorCode } from "@toolcrib/kit/files";
import type { CheckedArguments } from "./bashArguments.ts";
import type { BashSettings } from "./bashOptions.ts";
import { childEnvironment } from "./environment.ts";
import type { RunningProcess } from "./process/processes.ts";
import { loadProgramRunner } from "./process/runShell.ts";
import type { CommandWatch, EndedCommand, ShellResult } from "./process/shellRequest.ts";
import { describeProtection, describeRefusals } from "./sandbox/refusals.ts";
import type { EnteredSandbox } from "./sandbox/sandbox.ts";

/** A command with who watches it. */
export interface CommandRun extends CheckedArguments, CommandWatch {
  /** Keeps it from starting, and no more. */
  readonly startSignal?: AbortSignal | undefined;
  /** Called right before the start. */
  readonly beginCommit?: (() => void) | undefined;
}

/** Most processes that a note names. */
const mostNamed = 5;
/** Most changed paths, which a command could hide behind others. */
const mostChanged = 25;

/** Runs a command as the settings say, in the sandbox if there is one. Rejects with a ToolError if it cannot start or is aborted. */
export async function runCommand(run: CommandRun, settings: BashSettings): Promise<EndedCommand> {
  const { sandbox, shell, scrubEnv, leftovers, runner } = settings;
  const { cwd, env, timeout, signal } = run;
  // A command that begins like an option of the shell is none.
  const command = /^[-+]/.test(run.command) ? ` ${run.command}` : run.command;
  const mark = crypto.randomUUID();
  const path = shell();
  const program = await sandbox?.enter({ command, shell: path, cwd, env, signal });
  let left: readonly RunningProcess[] = [];
  try {
    // Before the look at the signals: between it and the start nothing is awaited.
    await loadProgramRunner();
    if (signal?.aborted || run.startSignal?.aborted)
      throw new ToolError({ code: "aborted", toolName: "run_bash", message: "Aborted; nothing was run" });
    run.beginCommit?.();
    leftovers?.started(mark);
    const result = await runner({
      ...(program ?? { file: path, args: ["-c", command] }),
      cwd,
      env: childEnvironment(program?.env ?? env, mark, scrubEnv),
      mark,
      timeoutMs: timeout,
      signal,
      output: run.output,
      unref: run.unref,
      onInput: run.onInput,
      onStart(pid) {
        program?.close();
        run.onStart?.(pid, mark);
      },
    });
    // Nothing outlives bubblewrap: a process that is still listed is ending.
    if (program?.mayLeave !== false) left = result.running;
    const notes = notesOf({ ...result, running: left }, run, settings, program);
    return { ...result, running: left, notes: [...(await changesOf(program, settings)), ...notes] };
  } catch (error) {
    throw startError(error);
  } finally {
    program?.close();
    program?.end();
    leftovers?.settled(mark, left);
  }
}

/** Makes the error for a command that could not be started. */
function startError(error: unknown): unknown {
  switch (refusalOf(error) ?? systemErrorCode(error)) {
    case "E2BIG":
      return invalidArgument("command", "with env is longer than the system accepts (E2BIG); put the data into a file");
    case "EAGAIN":
      return notStarted("the system allows no more processes (EAGAIN); end some and try again", error);
    case "ENOMEM":
      return notStarted("there is no memory for another process (ENOMEM); free some and try again", error);
    case "ERR_ACCESS_DENIED":
      return notStarted("Node's permission model forbids it; start the program with --allow-child-process", error);
    case "NotCapable":
      return notStarted("Deno's permissions forbid it; start the program with --allow-run", error);
    default:
      return plainSystemError(error, "the shell");
  }
}

/** Returns the name of the error by which the runtime itself refuses to start programs. */
function refusalOf(error: unknown): "ERR_ACCESS_DENIED" | "NotCapable" | undefined {
  if (isForbiddenByNode(error)) return "ERR_ACCESS_DENIED";
  return isObject(error) && error.name === "NotCapable" ? "NotCapable" : undefined;
}

function notStarted(why: string, cause: unknown): ToolError {
  return new ToolError({
    code: "execution_failed",
    toolName: "run_bash",
    message: `The command was not started: ${why}`,
    details: { cause },
    cause,
  });
}

function notesOf(
  { stdout, stderr, exitCode, running }: ShellResult,
  { timeout, cwd }: CommandRun,
  { sandbox, scope }: BashSettings,
  program: EnteredSandbox | undefined,
): string[] {
  const notes = running.length > 0 ? [`[still running in the background: ${listProcesses(running)}]`] : [];
  const printed = `${stdout}\n${stderr}`;
  if (sandbox && program) {
    const isOwn = "own" in sandbox;
    const remedy = isOwn ? undefined : sandbox.options.remedies?.protect;
    const protection = describeProtection(printed, program.kept, cwd, remedy, scope.print);
    notes.push(...(protection ?? (exitCode === 0 || isOwn ? [] : describeRefusals(printed, sandbox))));
  }
  if (exitCode === -1) notes.push(`[timed out after ${timeout} ms]`);
  return notes;
}

/** Notes the protected paths that were made or changed while a command ran: nothing could keep it from making them. */
async function changesOf(program: EnteredSandbox | undefined, { scope }: BashSettings): Promise<string[]> {
  try {
    const changed = (await program?.findChanges()) ?? [];
    if (changed.length === 0) return [];
    const shown = changed.slice(0, mostChanged).map((path) => scope.print(path));
    const more = changed.length > shown.length ? ` and ${changed.length - shown.length} more` : "";
    return [
      `[sandbox: protected paths that were made or changed while this ran: ${shown.join(", ")}${more}; the user should look at them before they are used]`,
    ];
  } catch (error) {
    return [`[sandbox: it is not known whether this created or changed protected paths: ${messageOf(error)}]`];
  }
}

function listProcesses(running: readonly RunningProcess[]): string {
  const named = running.slice(0, mostNamed).map(({ pid, command }) => (command ? `${pid} (${command})` : String(pid)));
  const more = running.length - named.length;
  return named.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
