import { realpathSync } from "node:fs";
import { promisify } from "node:util";
import { ToolError } from "@toolcrib/core";
import { isInside } from "@toolcrib/core/files";
import { clip } from "@toolcrib/core/text";
import { childProcess, findProgram } from "./platform.ts";

/** A sandbox of the operating system around every command, by bubblewrap (`bwrap` on PATH; Linux only). */
export interface SandboxOptions {
  /** Directories that commands may write in. Default: the roots of the tool, else its working directory. */
  writable?: string | readonly string[] | undefined;
  /** Whether commands reach the network, loopback included. Default: false. */
  network?: boolean | undefined;
}

export interface SandboxedCommand {
  file: string;
  args: readonly string[];
  cwd: string;
  /** Variables of the call: set inside only, or LD_PRELOAD among them would run code outside. */
  env: Readonly<Record<string, string>>;
}

/** Puts a program into the sandbox. Throws a ToolError when there is none to be had. */
export type Sandbox = (command: SandboxedCommand) => Promise<{ file: string; args: string[] }>;

/** Private and empty inside: what lies in the real ones (sockets of services, say) is not for commands. */
const hidden: readonly string[] = ["/tmp", "/run"];
/** Parts of /run that programs cannot work without. */
const shownRun: readonly string[] = ["/run/current-system", "/run/opengl-driver"];
const shownRunForNetwork: readonly string[] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

const probeMs = 10_000;

/** Read at each call: absolute directories, and where commands run by default, which they may always read. */
export interface SandboxPlaces {
  readonly writable: readonly string[];
  readonly cwd: string;
}

export function createSandbox(places: SandboxPlaces, network: boolean): Sandbox {
  let probed: Promise<unknown> | undefined;
  return async ({ file, args, cwd, env }) => {
    const bwrap = findProgram("bwrap");
    if (!bwrap) throw unavailable("bwrap (bubblewrap, Linux only) is not on PATH");
    const roots = places.writable.map(canonicalRoot);
    const home = canonicalRoot(places.cwd);
    const wrap = (directory: string): string[] => bubblewrapArguments(roots, home, network, directory);
    probed ??= promisify(childProcess().execFile)(bwrap, [...wrap("/"), "true"], { timeout: probeMs });
    try {
      await probed;
    } catch (error) {
      probed = undefined;
      throw unavailable(clip(String((error as { stderr?: string }).stderr || error).trim(), 300), error);
    }
    if (hidden.some((place) => isInside(place, cwd)) && ![home, ...roots].some((root) => isInside(root, cwd))) {
      throw new ToolError({
        code: "invalid_arguments",
        toolName: "run_bash",
        message: `Invalid arguments: cwd: is not visible inside the sandbox; use a directory inside ${roots.join(", ")}`,
        details: { field: "cwd", reason: "is not visible inside the sandbox" },
      });
    }
    const variables = Object.entries(env).flatMap(([key, value]) => ["--setenv", key, value]);
    return { file: bwrap, args: [...variables, ...wrap(cwd), file, ...args] };
  };
}

/**
 * All of the filesystem read-only, the roots writable, no capabilities, namespaces of its own. Nothing in it outlives the
 * command: a process left in its namespaces could not be reached by a later one.
 */
function bubblewrapArguments(roots: readonly string[], home: string, network: boolean, cwd: string): string[] {
  const shown = network ? [...shownRun, ...shownRunForNetwork] : shownRun;
  const bind = (root: string): string[] => ["--bind", root, root];
  const isHidden = (root: string): boolean => hidden.some((place) => isInside(place, root));
  return [
    ..."--unshare-all --die-with-parent --cap-drop ALL --ro-bind / /".split(" "),
    ...(network ? ["--share-net"] : []),
    // Before what is mounted over a root such as "/", after what would cover one in /tmp.
    ...roots.filter((root) => !isHidden(root)).flatMap(bind),
    ..."--dev /dev --proc /proc".split(" "),
    ...hidden.flatMap((place) => ["--tmpfs", place]),
    ...shown.flatMap((place) => ["--ro-bind-try", place, place]),
    ...(isHidden(home) ? ["--ro-bind", home, home] : []),
    ...roots.filter(isHidden).flatMap(bind),
    "--chdir",
    cwd,
    "--",
  ];
}

function canonicalRoot(root: string): string {
  try {
    return realpathSync.native(root);
  } catch (error) {
    throw unavailable(`its directory ${root} does not exist`, error);
  }
}

function unavailable(why: string, cause?: unknown): ToolError {
  return new ToolError({
    code: "execution_failed",
    toolName: "run_bash",
    message: `The sandbox that this tool must run in is not available: ${why}. Nothing was run`,
    recoverable: false,
    cause,
  });
}
