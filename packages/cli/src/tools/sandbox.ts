import { type SandboxOptions, sandboxProblem } from "@toolcrib/tools-bash";
import { usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { hideState } from "./hideState.ts";
import { hasShell, rootsOf, type ToolFlags } from "./toolSet.ts";

/** What `--sandbox-allow` may name. */
const allowable = ["network", "sockets"] as const;

/**
 * The flags with the sandbox decided, but for another place: on, unless `--no-sandbox`, or unless it does not work here and was not asked for: then one
 * line says so where `run_bash` is on. Throws a usage error where it was asked for and does not work.
 */
export async function chooseSandbox<Flags extends ToolFlags>(flags: Flags, { terminal, env }: Program): Promise<Flags> {
  const { sandbox, sandboxAllow, place } = flags;
  const unknown = sandboxAllow?.find((name) => !allowable.some((known) => known === name));
  if (unknown !== undefined) throw usageError(`--sandbox-allow ${unknown}: expected ${allowable.join(" or ")}`);
  if (sandbox === false) {
    if (sandboxAllow) throw usageError("--sandbox-allow has no effect with --no-sandbox; leave one of the two out");
    return flags;
  }
  if (place) return flags;
  const inside = { ...flags, commandSandbox: sandboxOptions(flags) };
  const isAskedFor = sandbox === true || sandboxAllow !== undefined;
  // A shell that is switched on later runs in the sandbox or fails: the user was not told that it could run without.
  if (!isAskedFor && !hasShell(flags)) return inside;
  const root = rootsOf(flags);
  const problem = await sandboxProblem({ root, sandbox: hideState(inside.commandSandbox, root, env) });
  if (problem === undefined) return inside;
  if (isAskedFor) throw usageError(`the sandbox is not available: ${problem}; --no-sandbox runs commands without it`);
  terminal.aside(`Commands run without a sandbox: ${problem} (--no-sandbox leaves this line out)`);
  return flags;
}

/** What the sandbox of `run_bash` allows, and the flag for what it refuses. */
export function sandboxOptions({ sandboxAllow = [] }: ToolFlags): SandboxOptions {
  const allows = (name: (typeof allowable)[number]): string => `the user can allow it by --sandbox-allow ${name}`;
  return {
    network: sandboxAllow.includes("network"),
    unixSockets: sandboxAllow.includes("sockets"),
    remedies: {
      write: "the user can add a directory by --root DIR",
      network: allows("network"),
      sockets: allows("sockets"),
      limits: "the user can run commands without limits by --no-sandbox",
      unavailable: "the user can run commands without it by --no-sandbox",
    },
  };
}
