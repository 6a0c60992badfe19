import type { BackgroundUse } from "./bashArguments.ts";
import type { BashSettings } from "./bashOptions.ts";
import { runShell } from "./process/runShell.ts";
import type { OwnSandboxUse } from "./sandbox/ownSandbox.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

/**
 * Describes how a command is run, beyond its arguments: one canonical text, so that an approval for one way does not cover another. Undefined for
 * a plain command with nothing around it. What people look at first comes first.
 */
export function confinementOf(settings: BashSettings, { isBackground, keepsInput }: BackgroundUse): string | undefined {
  const { sandbox, scrubEnv, runner } = settings;
  const keep = typeof scrubEnv === "object" ? (scrubEnv.keep ?? []) : [];
  const parts = [
    ...(sandbox ? kindOf(sandbox) : []),
    isBackground && "background",
    keepsInput && "open input",
    scrubEnv && "scrubEnv",
    keep.length > 0 && `keep ${list(keep)}`,
    runner !== runShell && "own runner",
    ...(sandbox ? [...boundsOf(sandbox, settings), ...deniedOf(settings)] : []),
  ].filter((part) => typeof part === "string");
  return parts.length > 0 ? parts.join("; ") : undefined;
}

/** Names the kind of sandbox first. One of the caller's own is never taken for ours: what it holds are the caller's claims. */
function kindOf(sandbox: Sandbox | OwnSandboxUse): (string | false | undefined)[] {
  if (!("own" in sandbox)) {
    return ["sandbox", sandbox.options.network && "network", sandbox.options.unixSockets && "unixSockets"];
  }
  const { words, network } = sandbox.own.confinement;
  const hosts = typeof network === "boolean" ? "network" : `network ${list(network)}`;
  return [
    `own sandbox ${JSON.stringify(words)}`,
    (network === true || (network !== false && network.length > 0)) && hosts,
  ];
}

function boundsOf(sandbox: Sandbox | OwnSandboxUse, { scope }: BashSettings): (string | false)[] {
  const { writable } = sandbox;
  if ("own" in sandbox) {
    const { unprotected = [] } = sandbox.own;
    return [`writable ${list(writable)}`, unprotected.length > 0 && `unprotected ${list(unprotected)}`];
  }
  const { readable, options, limits } = sandbox;
  const { hidden = [], unprotected = [] } = options;
  const { processes, memoryBytes, temporaryBytes } = limits;
  return [
    `writable ${list(writable)}`,
    // A hidden place, such as one in /tmp, is shown to commands where they start there.
    !writable.includes(scope.cwd) && `start ${JSON.stringify(scope.cwd)}`,
    readable.length > 0 && `readable ${list(readable)}`,
    unprotected.length > 0 && `unprotected ${list(unprotected)}`,
    hidden.length > 0 && `hidden ${list(hidden)}`,
    // Not the defaults, which change with the machine: a yes would not hold after a change of its memory.
    options.limits !== undefined && `limits ${processes} processes, ${memoryBytes} and ${temporaryBytes} bytes`,
  ];
}

function deniedOf({ denied }: BashSettings): string[] {
  // Not sorted: a later pattern can undo an earlier one.
  return denied ? [`deny ${JSON.stringify(denied.rules.patterns)} in ${list(denied.rules.roots)}`] : [];
}

function list(values: readonly string[]): string {
  return JSON.stringify([...new Set(values)].sort());
}
