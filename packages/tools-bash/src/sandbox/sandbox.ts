import { closeSync, statSync } from "node:fs";
import { invalidArgument, ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { clip, messageOf } from "@toolcrib/core/text";
import { type DenyRules, findProgram, isInside } from "@toolcrib/kit/files";
import { inheritedDescriptors } from "../process/inheritedDescriptors.ts";
import { runShell } from "../process/runShell.ts";
import {
  bubblewrapArguments,
  isHidden,
  limitingShell,
  limitsWithDefaults,
  type SandboxLimits,
  type ShownDirectory,
} from "./bubblewrap.ts";
import { type BytePath, toBytePath, toText } from "./bytePath.ts";
import { createDeniedSearch } from "./deniedPaths.ts";
import { explained, type Masks, maskArguments, masksOf } from "./masks.ts";
import { openInPlace, openPinned, type PinnedDirectory, pinDirectory } from "./pinnedDirectory.ts";
import { createProtectedWatch, type FoundProtected, findProtected, type WatchedCommand } from "./protectedPaths.ts";
import { hasSyscallFilter, syscallFilter } from "./syscallFilter.ts";

/** Kinds of actions that the sandbox refuses. */
export type Refusal = "write" | "protect" | "deny" | "network" | "sockets" | "limits";

/** Options of the sandbox, which is bubblewrap (Linux only). */
export interface SandboxOptions {
  /** Directories that commands may write in, fixed when the tool is made. Default: the roots of the tool, else its working directory. */
  writable?: string | readonly string[];
  /** Directories that commands find empty and cannot change, also inside a writable one. Each must exist, with no link in its path. */
  hidden?: readonly string[];
  /**
   * Protected paths in writable directories that commands may change, as patterns like those of `deny`: `.git/config`, `./vendor/`. `./`
   * lets all through. Default: none.
   */
  unprotected?: readonly string[];
  /** Let commands reach the network, loopback included. Default: false. */
  network?: boolean;
  /** Let commands open Unix sockets, also those of visible services such as docker and ssh-agent. Default: false. */
  unixSockets?: boolean;
  /** Resource limits of each command. */
  limits?: SandboxLimits;
  /** Advice to the user of your program on each kind of refusal: "--network allows it". */
  remedies?: { readonly [Kind in Refusal | "unavailable"]?: string };
}

/** One command that is to run in a sandbox. */
export interface SandboxedCommand {
  readonly command: string;
  /** The path of the shell, which takes the command after `-c`. */
  readonly shell: string;
  /** Absolute, an existing directory. The program is started in it. */
  readonly cwd: string;
  /** Variables of the call, for the command alone: one such as LD_PRELOAD, set for a program outside of the sandbox, would run code there. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** A program that runs a command in the sandbox. */
export interface SandboxProgram {
  file: string;
  args: string[];
  /** Variables to set for it, beside those that it inherits. */
  env: Readonly<Record<string, string>>;
  /** True if something may go on when it has ended. */
  mayLeave: boolean;
  /** Its descriptors from 3 on: open descriptors, or bytes for it to read. */
  descriptors: readonly (number | Uint8Array)[];
  /** Protected paths that are kept. */
  kept: readonly string[];
  /** Closes the open descriptors; to be called when the program has ended. */
  close(): void;
}

/** A program in the sandbox, which watches what becomes of protected paths. */
export interface EnteredSandbox extends SandboxProgram, WatchedCommand {}

export interface Sandbox {
  /** Canonical. */
  readonly writable: readonly string[];
  /** Paths shown for reading alone in a place that is otherwise private and empty. */
  readonly readable: readonly string[];
  readonly limits: Required<SandboxLimits>;
  readonly options: SandboxOptions;
  /** True if it keeps any path from commands. */
  readonly denies: boolean;
  /** Resolves to the reason why the sandbox is not available, or to undefined if it is. */
  problem(): Promise<string | undefined>;
  /** Returns the program that runs a command in the sandbox. Rejects with a ToolError if the sandbox is not available. */
  enter(command: SandboxedCommand): Promise<EnteredSandbox>;
}

/** All are canonical paths. */
export interface SandboxPlaces {
  readonly writable: readonly string[];
  /** The default directory of commands; they may always read it. */
  readonly cwd: string;
  /** Paths that commands may read, also in /tmp and /run. */
  readonly readable?: readonly string[] | undefined;
  /** Paths that commands may not read or change. */
  readonly deny?: DenyRules | undefined;
}

const probeMs = 10_000;
/** The first descriptor after standard error. */
const firstDescriptor = 3;

/** Throws a TypeError for a directory that does not exist. */
export function createSandbox(places: SandboxPlaces, options: SandboxOptions): Sandbox {
  const { hidden = [], unprotected = [], remedies = {} } = options;
  const limits = limitsWithDefaults(options.limits ?? {});
  const { writable, deny } = places;
  const shown = [places.cwd, ...writable];
  const readable = (places.readable ?? []).filter(
    (path) => isHidden(path) && !writable.some((root) => isInside(root, path)),
  );
  const masked = { writable, shown, readable, hidden };
  const repositories = new Set<BytePath>();
  const findKept = (): Promise<FoundProtected> => explained(() => findProtected(writable, unprotected, repositories));
  const findDenied = createDeniedSearch(deny, [...shown, ...readable]);
  const findMasks = ({ kept }: FoundProtected): Promise<Masks> =>
    explained(async () => masksOf(await findDenied(), kept, masked));
  const watch = createProtectedWatch(findKept);
  const wrap = createWrap({ ...places, readable }, options, limits);
  let probed: Promise<void> | undefined;

  const checked = async (): Promise<void> => {
    probed ??= probe(
      wrap({ shell: "/bin/sh", command: ":", cwd: "/", env: {} }, masksOf({ files: [], directories: [] }, [], masked)),
    );
    try {
      await probed;
    } catch (error) {
      probed = undefined;
      throw error;
    }
  };

  return {
    writable,
    readable,
    limits,
    options,
    denies: deny !== undefined,
    problem: () =>
      checked()
        .then(findKept)
        .then(findMasks)
        .then(
          () => undefined,
          (error: unknown) => messageOf(error),
        ),
    async enter(command) {
      const isVisible = [...shown, ...readable].some((root) => isInside(root, command.cwd));
      if (isHidden(command.cwd) && !isVisible) throw hiddenDirectory(shown);
      await available(checked, remedies.unavailable);
      const found = await available(findKept, remedies.protect ?? remedies.unavailable);
      const masks = await available(() => findMasks(found), remedies.unavailable);
      if (masks.empty.some((path) => isInside(path, toBytePath(command.cwd)))) throw hiddenDirectory(shown);
      const program = await available(() => wrap(command, masks), remedies.unavailable);
      return { ...program, ...watch(found) };
    },
  };
}

/** Throws a TypeError for a directory that does not exist. What it returns throws an Error in plain words if it cannot. */
function createWrap(
  { writable, cwd: ownCwd, readable = [] }: SandboxPlaces,
  { network = false, unixSockets = false }: SandboxOptions,
  limits: Required<SandboxLimits>,
): (command: Omit<SandboxedCommand, "signal">, masks: Masks) => SandboxProgram {
  const pinned = writable.map((path) => pinDirectory(path, "sandbox.writable"));
  const isShown = writable.some((path) => isInside(path, ownCwd));
  const workingDirectory = isHidden(ownCwd) && !isShown ? [pinDirectory(ownCwd, "cwd")] : [];
  const bwrap = findProgram("bwrap", [...writable, ownCwd]);
  const filter = hasSyscallFilter() ? syscallFilter(unixSockets) : undefined;

  return ({ command, shell, cwd, env }, masks) => {
    if (!bwrap) throw new Error(`bwrap (bubblewrap, Linux only) is ${notFound}`);
    if (!filter && !unixSockets) throw new Error(`there is no filter of system calls for ${process.arch}`);
    const [stuck] = inheritedDescriptors().stuck;
    if (stuck !== undefined) throw new Error(`this program inherited descriptor ${stuck}, above its limit (ulimit -n)`);
    const descriptors: (number | Uint8Array)[] = [];
    /** Returns the number that it has in bubblewrap. */
    const pass = (descriptor: number | Uint8Array): number => firstDescriptor + descriptors.push(descriptor) - 1;
    const close = (): void => {
      for (const descriptor of descriptors.splice(0)) if (typeof descriptor === "number") closeSync(descriptor);
    };
    try {
      const show = (directory: PinnedDirectory): ShownDirectory => {
        return { path: directory.path, descriptor: pass(openPinned(directory)) };
      };
      const readOnly = readable.filter(isDirectory).map((path): ShownDirectory => {
        return { path, descriptor: pass(openInPlace(toBytePath(path))) };
      });
      const maskWords = maskArguments(masks, (path) => pass(openInPlace(path, true)));
      const surroundings = {
        writable: pinned.map(show),
        readable: [...workingDirectory.map(show), ...readOnly].sort((a, b) => a.path.length - b.path.length),
        masks: maskWords.length > 0 ? pass(maskWords) : undefined,
        network,
        filter: filter && pass(filter),
        temporaryBytes: limits.temporaryBytes,
        cwd,
        env,
      };
      return {
        file: bwrap,
        args: [...bubblewrapArguments(surroundings), "/bin/sh", ...limitingShell(limits), shell, "-c", command],
        // Set inside: one such as LD_PRELOAD would run code outside.
        env: {},
        mayLeave: false,
        descriptors: [...descriptors],
        kept: masks.kept.map(toText),
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  };
}

/** Returns whether a place to read is a directory: it need not exist yet, as a folder for long outputs is made when there is one. */
function isDirectory(path: string): boolean {
  return attempt(() => statSync(path).isDirectory()) ?? false;
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

function hiddenDirectory(shown: readonly string[]): ToolError {
  return invalidArgument("cwd", `is not visible inside the sandbox; use a directory inside ${shown.join(", ")}`);
}

/** Resolves to what is made. Rejects with the error of a sandbox that cannot be had if it cannot be made. */
export async function available<Value>(made: () => Value | Promise<Value>, remedy?: string): Promise<Value> {
  try {
    return await made();
  } catch (error) {
    throw unavailable(messageOf(error), remedy, error);
  }
}

/** Returns the error of a sandbox that cannot be had; `remedy` is what the user can do about it. */
export function unavailable(why: string, remedy?: string, cause?: unknown): ToolError {
  return new ToolError({
    code: "execution_failed",
    toolName: "run_bash",
    message: `The sandbox that this tool must run in is not available: ${why}. Nothing was run${remedy ? `; ${remedy}` : ""}`,
    recoverable: false,
    details: { cause },
    cause,
  });
}
