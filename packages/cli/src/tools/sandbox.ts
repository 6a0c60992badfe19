import { type SandboxOptions, sandboxProblem } from "@toolcrib/tools-bash";
import { usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import type { PermissionFlags } from "./permissions.ts";
import { hideState, isNamed, rootsOf, type ToolFlags } from "./toolSet.ts";

/** The words that `--sandbox-allow` may name, beside protected paths, which hold a dot or a slash. */
const allowable = ["network", "sockets"] as const;
const isPath = (name: string): boolean => /[./]/.test(name);

/**
 * Decides on the sandbox, but for a remote: on, unless `--no-sandbox`, or unless it does not work here and was not asked for: then one
 * line says so where `run_bash` is on. With a sandbox `run_bash` is switched on where `offersShell` says so. Throws a usage error where it was asked for and does not work.
 */
export async function chooseSandbox<Flags extends ToolFlags & PermissionFlags>(
  flags: Flags,
  { terminal, folders, cwd }: Program,
): Promise<Flags & Pick<ToolFlags, "commandSandbox" | "enable">> {
  const { sandbox, sandboxAllow, remote } = flags;
  const unknown = sandboxAllow?.find((name) => !isPath(name) && !allowable.some((known) => known === name));
  if (unknown !== undefined)
    throw usageError(
      `--sandbox-allow ${unknown}: expected ${allowable.join(", ")} or a protected path, such as .git/config`,
    );
  if (sandbox === false && sandboxAllow)
    throw usageError("--sandbox-allow has no effect with --no-sandbox; leave one of the two out");
  if (remote) return flags;
  const isOffered = offersShellIn(flags);
  if (sandbox === false) {
    if (isOffered) terminal.aside(`Commands are off with --no-sandbox; ${howToSwitchOn}`);
    return flags;
  }
  const inside = { ...flags, commandSandbox: sandboxOptions(flags) };
  const isAskedFor = sandbox === true || sandboxAllow !== undefined;
  // A shell that is switched on later runs in the sandbox or fails: the user was not told that it could run without.
  if (!isAskedFor && !isOffered && !isNamed("run_bash", flags)) return inside;
  const root = rootsOf(flags, cwd);
  // Protected paths that cannot be kept are no reason to run without a sandbox: they stop commands.
  const sandboxToTry = { ...inside.commandSandbox, unprotected: ["./"] };
  const problem = await sandboxProblem({ root, sandbox: hideState(sandboxToTry, root, folders) });
  if (problem === undefined) return isOffered ? { ...inside, enable: [...(flags.enable ?? []), "run_bash"] } : inside;
  if (isAskedFor) throw usageError(`the sandbox is not available: ${problem}; --no-sandbox runs commands without it`);
  terminal.aside(
    isOffered
      ? `Commands are off: there is no sandbox for them (${problem}); ${howToSwitchOn}`
      : `Commands run without a sandbox: ${problem} (--no-sandbox leaves this line out)`,
  );
  return flags;
}

const howToSwitchOn = "--enable run_bash turns them on, with all your rights and a question for each";

/** Returns whether the shell is on if a sandbox works: where a mode asks or refuses, and no flag says anything about it. */
function offersShellIn(flags: ToolFlags & PermissionFlags): boolean {
  const { offersShell, mode = "ask", tools, disable } = flags;
  if (!offersShell || isNamed("run_bash", flags) || tools || disable?.includes("run_bash")) return false;
  return mode === "ask" || mode === "accept-edits" || mode === "plan";
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
