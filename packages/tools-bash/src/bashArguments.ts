import { statSync } from "node:fs";
import { invalidArgument, type ToolError } from "@toolcrib/core";
import { type PathScope, plainSystemError, systemErrorCode } from "@toolcrib/core/files";
import { clip, printableName } from "@toolcrib/core/text";
import { isTimeout } from "./bashOptions.ts";

export interface CheckedArguments {
  command: string;
  env: Record<string, string>;
  timeout: number;
}

/** Throws a ToolError, `invalid_arguments`. */
export function checkArguments(
  args: Record<string, unknown>,
  defaultTimeout: number,
  mostTimeout: number,
): CheckedArguments {
  const { command, env, timeout } = args;
  if (typeof command !== "string") throw invalid("command", "is required, expected string");
  if (command.includes("\0")) throw invalid("command", "must not contain a NUL character");
  if (timeout !== undefined && timeout !== null && !isTimeout(timeout, mostTimeout)) {
    throw invalid(
      "timeout",
      `must be a positive number of milliseconds up to ${mostTimeout}, got ${typeof timeout === "number" ? timeout : typeof timeout}`,
    );
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

/** The canonical directory that a `cwd` argument means. Throws a ToolError unless there is one. */
export async function directoryOf(cwd: unknown, scope: PathScope): Promise<string> {
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

/** The error for an argument that cannot be used. */
export function invalid(field: string, reason: string): ToolError {
  return invalidArgument(field, reason, { toolName: "run_bash" });
}
