import { statSync } from "node:fs";
import { resolve } from "node:path";
import { invalidArgument, ToolError } from "@toolcrib/core";
import { clip, printableName } from "@toolcrib/core/text";
import { missingPathHint, plainSystemError, systemErrorCode } from "@toolcrib/kit/files";
import { type BashSettings, isTimeout } from "./bashOptions.ts";

export interface CheckedArguments {
  command: string;
  /** Canonical, an existing directory. */
  cwd: string;
  env: Record<string, string>;
  timeout: number;
}

/** Reads what a call means, for guards and for the run alike. Throws a ToolError for arguments that cannot be used. */
export async function checkArguments(args: Record<string, unknown>, settings: BashSettings): Promise<CheckedArguments> {
  const { command, env, timeout } = args;
  const { timeoutMs, maxTimeoutMs } = settings;
  if (typeof command !== "string") throw invalidArgument("command", "is required, expected string");
  if (command.trim() === "") throw invalidArgument("command", "is empty; pass a line for the shell");
  if (command.includes("\0")) throw invalidArgument("command", "must not contain a NUL character");
  if (timeout !== undefined && timeout !== null && !isTimeout(timeout, maxTimeoutMs)) {
    throw invalidArgument(
      "timeout",
      `must be a positive number of milliseconds up to ${maxTimeoutMs}, got ${typeof timeout === "number" ? timeout : typeof timeout}`,
    );
  }
  const variables = checkEnv(env ?? {});
  return { command, cwd: await directoryOf(args.cwd, settings), env: variables, timeout: timeout ?? timeoutMs };
}

function checkEnv(env: unknown): Record<string, string> {
  if (typeof env !== "object" || env === null || Array.isArray(env)) {
    throw invalidArgument("env", "expected an object with string values");
  }
  for (const [key, value] of Object.entries(env)) {
    const shown = JSON.stringify(clip(key));
    if (key === "" || /[=\0]/.test(key))
      throw invalidArgument("env", `${shown} cannot name a variable; pass a name that is not empty, without = and NUL`);
    if (typeof value !== "string") throw invalidArgument("env", `the value of ${shown} must be a string`);
    if (value.includes("\0")) throw invalidArgument("env", `the value of ${shown} must not contain a NUL character`);
  }
  return env as Record<string, string>;
}

/** Returns the canonical directory for a `cwd` argument. Throws a ToolError unless it is a directory. */
async function directoryOf(cwd: unknown, { scope, denied }: BashSettings): Promise<string> {
  if (cwd !== undefined && cwd !== null && typeof cwd !== "string") throw invalidArgument("cwd", "expected string");
  // As the caller wrote it, so that the error shows no other path of this machine.
  const shown = printableName(clip(cwd ?? "."));
  const refuseDenied = (directory: string): void => {
    const pattern = denied?.match(directory, true);
    if (pattern === undefined) return;
    const message = `Permission denied: ${shown} is on the list of denied paths; use another directory`;
    throw new ToolError({
      code: "permission_denied",
      toolName: "run_bash",
      message,
      details: { by: "deny", path: shown, pattern },
    });
  };
  try {
    // First, so that no other error tells what is there.
    if (typeof cwd === "string" && cwd !== "") refuseDenied(resolve(scope.cwd, cwd));
    const directory = typeof cwd === "string" ? await scope.resolve(cwd, "cwd") : scope.cwd;
    refuseDenied(directory);
    if (statSync(directory).isDirectory()) return directory;
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw plainSystemError(error, shown);
    const hint = missingPathHint(resolve(scope.cwd, String(cwd)), { ...scope, denied });
    throw invalidArgument("cwd", `no such directory: ${shown}; ${hint || "pass an existing one"}`);
  }
  throw invalidArgument("cwd", `is not a directory: ${shown}; pass an existing one`);
}

export interface BackgroundUse {
  readonly isBackground: boolean;
  /** True if its standard input stays open. */
  readonly keepsInput: boolean;
}

/** Throws a ToolError for what is no boolean, for what is not offered, and for `input` of a command that is waited for. */
export function checkBackground(
  args: Readonly<Record<string, unknown>>,
  offers: { readonly background: boolean; readonly input: boolean },
): BackgroundUse {
  const isBackground = checkSwitch("background", args.background, offers.background);
  const keepsInput = checkSwitch("input", args.input, offers.input);
  if (keepsInput && !isBackground)
    throw invalidArgument("input", "is for background commands; pass background: true too");
  return { isBackground, keepsInput };
}

/** Throws a ToolError for what is no boolean, and for what is not offered. */
function checkSwitch(field: string, value: unknown, isOffered: boolean): boolean {
  if (value === undefined || value === null) return false;
  if (!isOffered) throw invalidArgument(field, "is not a parameter here");
  if (typeof value !== "boolean") throw invalidArgument(field, "expected boolean");
  return value;
}
