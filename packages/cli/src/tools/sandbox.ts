import { type SandboxOptions, sandboxProblem } from "@toolcrib/tools-bash";
import { usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { hideState } from "./hideState.ts";
import { hasShell, rootsOf, type ToolFlags } from "./toolSet.ts";

/** What `--sandbox-allow` may name, beside protected paths, which hold a dot or a slash. */
const allowable = ["network", "sockets"] as const;
const isPath = (name: string): boolean => /[./]/.test(name);

/**
 * The flags with the sandbox decided, but for a remote: on, unless `--no-sandbox`, or unless it does not work here and was not asked for: then one
 * line says so where `run_bash` is on. Throws a usage error where it was asked for and does not work.
 */
export async function chooseSandbox<Flags extends ToolFlags>(
  flags: Flags,
  { terminal, env }: Program,
): Promise<Flags & Pick<ToolFlags, "commandSandbox">> {
  const { sandbox, sandboxAllow, remote } = flags;
  const unknown = sandboxAllow?.find((name) => !isPath(name) && !allowable.some((known) => known === name));
  if (unknown !== undefined)
    throw usageError(
      `--sandbox-allow ${unknown}: expected ${allowable.join(", ")} or a protected path, such as .git/config`,
    );
  if (sandbox === false) {
    if (sandboxAllow) throw usageError("--sandbox-allow has no effect with --no-sandbox; leave one of the two out");
    return flags;
  }
  if (remote) return flags;
  const inside = { ...flags, commandSandbox: sandboxOptions(flags) };
  const isAskedFor = sandbox === true || sandboxAllow !== undefined;
  // A shell that is switched on later runs in the sandbox or fails: the user was not told that it could run without.
  if (!isAskedFor && !hasShell(flags)) return inside;
  const root = rootsOf(flags);
  // Protected paths that cannot be kept are no reason to run without a sandbox: they stop commands.
  const sandboxToTry = { ...inside.commandSandbox, unprotected: ["./"] };
  const problem = await sandboxProblem({ root, sandbox: hideState(sandboxToTry, root, env) });
  if (problem === undefined) return inside;
  if (isAskedFor) throw usageError(`the sandbox is not available: ${problem}; --no-sandbox runs commands without it`);
  terminal.aside(`Commands run without a sandbox: ${problem} (--no-sandbox leaves this line out)`);
  return flags;
}

/** Returns the options of the sandbox of `run_bash`, with the flag for what it refuses. */
export function sandboxOptions({ sandboxAllow = [] }: ToolFlags): SandboxOptions {
  const allows = (name: (typeof allowable)[number]): string => `the user can allow it by --sandbox-allow ${name}`;
  return {
    network: sandboxAllow.includes("network"),
    unixSockets: sandboxAllow.includes("sockets"),
    unprotected: sandboxAllow.filter(isPath),
    remedies: {
      write: "the user can add a directory by --root DIR",
      protect: "the user can allow a path by --sandbox-allow PATH",
      network: allows("network"),
      sockets: allows("sockets"),
      limits: "the user can run commands without limits by --no-sandbox",
      unavailable: "the user can run commands without it by --no-sandbox",
    },
  };
}
