import type { BashSettings } from "./bashOptions.ts";
import { runShell } from "./process/runShell.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

/**
 * Describes how a command is run, beyond its arguments: one canonical text, so that an approval for one way does not cover another. Undefined for
 * a plain command with nothing around it. What people look at first comes first.
 */
export function confinementOf(settings: BashSettings, isBackground: boolean): string | undefined {
  const { sandbox, scrubEnv, runner } = settings;
  const keep = typeof scrubEnv === "object" ? (scrubEnv.keep ?? []) : [];
  const parts = [
    sandbox && "sandbox",
    sandbox?.options.network && "network",
    sandbox?.options.unixSockets && "unixSockets",
    isBackground && "background",
    scrubEnv && "scrubEnv",
    keep.length > 0 && `keep ${list(keep)}`,
    runner !== runShell && "own runner",
    ...(sandbox ? boundsOf(sandbox, settings) : []),
  ].filter((part) => typeof part === "string");
  return parts.length > 0 ? parts.join("; ") : undefined;
}

function boundsOf(
  { writable, readable, options, limits }: Sandbox,
  { scope, denied }: BashSettings,
): (string | false)[] {
  const { hidden = [], unprotected = [] } = options;
  const { processes, memoryBytes, temporaryBytes } = limits;
  return [
    `writable ${list(writable)}`,
    // A hidden place, such as one in /tmp, is shown to commands where they start there.
    !writable.includes(scope.cwd) && `start ${JSON.stringify(scope.cwd)}`,
    readable.length > 0 && `readable ${list(readable)}`,
    unprotected.length > 0 && `unprotected ${list(unprotected)}`,
    hidden.length > 0 && `hidden ${list(hidden)}`,
    // Not sorted: a later pattern can undo an earlier one.
    denied !== undefined && `deny ${JSON.stringify(denied.rules.patterns)} in ${list(denied.rules.roots)}`,
    // Not the defaults, which change with the machine: a yes would not hold after a change of its memory.
    options.limits !== undefined && `limits ${processes} processes, ${memoryBytes} and ${temporaryBytes} bytes`,
  ];
}

function list(values: readonly string[]): string {
  return JSON.stringify([...new Set(values)].sort());
}
