import { closeSync } from "node:fs";
import { invalidArgument, ToolError } from "@toolcrib/core";
import { isInside } from "@toolcrib/core/files";
import { clip } from "@toolcrib/core/text";
import { inheritedDescriptors } from "../process/inheritedDescriptors.ts";
import { findProgram } from "../process/programs.ts";
import { runShell } from "../process/runShell.ts";
import { bubblewrapArguments, isHidden, type ShownDirectory } from "./bubblewrap.ts";
import { limitingShell, type SandboxLimits, withDefaults } from "./limits.ts";
import { findMasks } from "./masks.ts";
import { openPinned, pinDirectory } from "./pinnedDirectory.ts";
import type { Refusal } from "./refusals.ts";
import { hasSyscallFilter, syscallFilter } from "./syscallFilter.ts";

/** A sandbox of the operating system around every command, by bubblewrap (Linux only). */
export interface SandboxOptions {
  /** Directories that commands may write in, fixed when the tool is made. Default: the roots of the tool, else its working directory. */
  writable?: string | readonly string[];
  /** Directories that commands find empty and cannot change, also inside a writable one. Each must exist, with no link in its path. */
  hidden?: readonly string[];
  /** Whether commands reach the network, loopback included. Default: false. */
  network?: boolean;
  /** Whether commands may open Unix sockets, also those of services (docker, ssh-agent) whose files they see. Default: false. */
  unixSockets?: boolean;
  /** What a command may use up. */
  limits?: SandboxLimits;
  /** For each kind of refusal, what the user can do about it, in the words of the program above: "--network allows it". */
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
  /** Its descriptors from 3 on: open ones, or bytes that it reads. */
  descriptors: readonly (number | Uint8Array)[];
  /** To be called when it has ended: closes the open descriptors. */
  close(): void;
}

export interface Sandbox {
  /** Canonical. */
  readonly writable: readonly string[];
  readonly limits: Required<SandboxLimits>;
  readonly options: SandboxOptions;
  /** Why there is none to be had; undefined where there is. */
  problem(): Promise<string | undefined>;
  /** Puts a command into the sandbox. Rejects with a ToolError when there is none to be had. */
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

/** Throws a TypeError for a directory that is not there. */
export function createSandbox(places: SandboxPlaces, options: SandboxOptions): Sandbox {
  const { hidden = [], network = false, unixSockets = false, remedies = {} } = options;
  const limits = withDefaults(options.limits ?? {});
  const pinned = places.writable.map((path) => pinDirectory(path, "sandbox.writable"));
  const isShown = places.writable.some((path) => isInside(path, places.cwd));
  const home = isHidden(places.cwd) && !isShown ? [pinDirectory(places.cwd, "cwd")] : [];
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
      const shown = [...pinned, ...home].map((directory): ShownDirectory => {
        opened.push(openPinned(directory));
        return { path: directory.path, descriptor: firstDescriptor + opened.length - 1 };
      });
      const surroundings = {
        writable: shown.slice(0, pinned.length),
        home: shown[pinned.length],
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
      const isShownAgain = shown.some((root) => isInside(root, command.cwd));
      if (hidden.some((path) => isInside(path, command.cwd)) || (isHidden(command.cwd) && !isShownAgain))
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

/** Runs nothing in the sandbox; rejects with the reason when that fails. */
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

/** By shape: an error of another realm is no instance of this one's Error. */
function messageOf(error: unknown): string {
  const isError = typeof error === "object" && error !== null && "message" in error;
  return isError ? String(error.message) : String(error);
}

function hiddenDirectory(shown: readonly string[]): ToolError {
  return invalidArgument("cwd", `is not visible inside the sandbox; use a directory inside ${shown.join(", ")}`, {
    toolName: "run_bash",
  });
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
