import { closeSync } from "node:fs";
import { invalidArgument, ToolError } from "@toolcrib/core";
import { isInside } from "@toolcrib/core/files";
import { clip } from "@toolcrib/core/text";
import { findProgram } from "../process/findProgram.ts";
import { inheritedDescriptors } from "../process/inheritedDescriptors.ts";
import { runShell } from "../process/runShell.ts";
import { bubblewrapArguments, isHidden, type ShownDirectory } from "./bubblewrap.ts";
import { findMasks } from "./masks.ts";
import { openPinned, pinDirectory } from "./pinnedDirectory.ts";
import { limitingShell, limitsWithDefaults, type SandboxLimits } from "./resourceLimits.ts";
import { hasSyscallFilter, syscallFilter } from "./syscallFilter.ts";

/** Kinds of actions that the sandbox refuses. */
export type Refusal = "write" | "network" | "sockets" | "limits";

/** Options of the sandbox, which is bubblewrap (Linux only). */
export interface SandboxOptions {
  /** Directories that commands may write in, fixed when the tool is made. Default: the roots of the tool, else its working directory. */
  writable?: string | readonly string[];
  /** Directories that commands find empty and cannot change, also inside a writable one. Each must exist, with no link in its path. */
  hidden?: readonly string[];
  /** Whether commands reach the network, loopback included. Default: false. */
  network?: boolean;
  /** Whether commands may open Unix sockets, also those of visible services such as docker and ssh-agent. Default: false. */
  unixSockets?: boolean;
  /** Resource limits of each command. */
  limits?: SandboxLimits;
  /** What the user of your program can do about each kind of refusal: "--network allows it". */
  remedies?: { readonly [Kind in Refusal | "unavailable"]?: string };
}

export interface SandboxedCommand {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** A program that runs a command in the sandbox. */
export interface SandboxProgram {
  file: string;
  args: string[];
  /** Its descriptors from 3 on: open descriptors, or bytes for it to read. */
  descriptors: readonly (number | Uint8Array)[];
  /** Closes the open descriptors; to be called when the program has ended. */
  close(): void;
}

export interface Sandbox {
  /** Canonical. */
  readonly writable: readonly string[];
  readonly limits: Required<SandboxLimits>;
  readonly options: SandboxOptions;
  /** Resolves to the reason why the sandbox is not available, or to undefined if it is. */
  problem(): Promise<string | undefined>;
  /** The program that runs a command in the sandbox. Rejects with a ToolError if the sandbox is not available. */
  enter(command: SandboxedCommand): Promise<SandboxProgram>;
}

/** All are canonical paths. */
export interface SandboxPlaces {
  readonly writable: readonly string[];
  /** Where commands run by default; they may always read it. */
  readonly cwd: string;
}

const probeMs = 10_000;
/** The first descriptor after standard error. */
const firstDescriptor = 3;

/** Throws a TypeError for a directory that does not exist. */
export function createSandbox(places: SandboxPlaces, options: SandboxOptions): Sandbox {
  const { hidden = [], network = false, unixSockets = false, remedies = {} } = options;
  const limits = limitsWithDefaults(options.limits ?? {});
  const pinned = places.writable.map((path) => pinDirectory(path, "sandbox.writable"));
  const isShown = places.writable.some((path) => isInside(path, places.cwd));
  const workingDirectory = isHidden(places.cwd) && !isShown ? [pinDirectory(places.cwd, "cwd")] : [];
  const bwrap = findProgram("bwrap", [...places.writable, places.cwd]);
  const filter = hasSyscallFilter() ? syscallFilter(unixSockets) : undefined;
  let probed: Promise<void> | undefined;

  const wrap = ({ file, args, cwd, env }: SandboxedCommand): SandboxProgram => {
    if (!bwrap) throw new Error(`bwrap (bubblewrap, Linux only) is ${notFound}`);
    if (!filter && !unixSockets) throw new Error(`there is no filter of system calls for ${process.arch}`);
    const [stuck] = inheritedDescriptors().stuck;
    if (stuck !== undefined) throw new Error(`this program inherited descriptor ${stuck}, above its limit (ulimit -n)`);
    const masks = findMasks(hidden, places.writable);
    const opened: number[] = [];
    const close = (): void => {
      for (const descriptor of opened.splice(0)) closeSync(descriptor);
    };
    try {
      const shown = [...pinned, ...workingDirectory].map((directory): ShownDirectory => {
        opened.push(openPinned(directory));
        return { path: directory.path, descriptor: firstDescriptor + opened.length - 1 };
      });
      const surroundings = {
        writable: shown.slice(0, pinned.length),
        workingDirectory: shown[pinned.length],
        masks,
        network,
        filter: filter && firstDescriptor + shown.length,
        temporaryBytes: limits.temporaryBytes,
        cwd,
        env,
      };
      return {
        file: bwrap,
        args: [...bubblewrapArguments(surroundings), "/bin/sh", ...limitingShell(limits), file, ...args],
        descriptors: filter ? [...opened, filter] : [...opened],
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  };
  const checked = async (): Promise<void> => {
    probed ??= probe(wrap({ file: "/bin/sh", args: ["-c", ":"], cwd: "/", env: {} }));
    try {
      await probed;
    } catch (error) {
      probed = undefined;
      throw error;
    }
  };

  return {
    writable: places.writable,
    limits,
    options,
    problem: () =>
      checked().then(
        () => undefined,
        (error: unknown) => messageOf(error),
      ),
    async enter(command) {
      const shown = [places.cwd, ...places.writable];
      const isVisible = shown.some((root) => isInside(root, command.cwd));
      if (hidden.some((path) => isInside(path, command.cwd)) || (isHidden(command.cwd) && !isVisible))
        throw hiddenDirectory(shown);
      try {
        await checked();
        return wrap(command);
      } catch (error) {
        throw unavailable(messageOf(error), remedies.unavailable, error);
      }
    },
  };
}

const notFound =
  "not on PATH, or only in a directory that tools may write; install it (apt install bubblewrap), version 0.10 or a patched 0.8";

/** Runs a command that does nothing; rejects with the reason if that fails. */
async function probe(program: SandboxProgram): Promise<void> {
  try {
    const { exitCode, stderr } = await runShell({
      ...program,
      cwd: "/",
      env: process.env,
      mark: crypto.randomUUID(),
      timeoutMs: probeMs,
    });
    if (exitCode === 0) return;
    const outdated = /Unknown option/.test(stderr) ? "; bubblewrap 0.10 or a patched 0.8 is needed" : "";
    throw new Error(`${clip(stderr.trim(), 300) || `bwrap ended with ${exitCode}`}${outdated}`);
  } finally {
    program.close();
  }
}

/** By shape: an error of another realm is not an instance of this realm's Error. */
function messageOf(error: unknown): string {
  const isError = typeof error === "object" && error !== null && "message" in error;
  return isError ? String(error.message) : String(error);
}

function hiddenDirectory(shown: readonly string[]): ToolError {
  return invalidArgument("cwd", `is not visible inside the sandbox; use a directory inside ${shown.join(", ")}`);
}

function unavailable(why: string, remedy: string | undefined, cause: unknown): ToolError {
  return new ToolError({
    code: "execution_failed",
    toolName: "run_bash",
    message: `The sandbox that this tool must run in is not available: ${why}. Nothing was run${remedy ? `; ${remedy}` : ""}`,
    recoverable: false,
    details: { cause },
    cause,
  });
}
