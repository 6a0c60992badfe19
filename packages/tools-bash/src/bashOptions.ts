import { isAbsolute, resolve } from "node:path";
import {
  checkValues,
  longestDelayMs,
  type OptionSpec,
  type OptionSpecs,
  option,
  readOptions,
} from "@toolcrib/core/internal";
import { printableName } from "@toolcrib/core/text";
import {
  compileDenyRules,
  createPathScope,
  type DeniedPaths,
  type DenyRules,
  isTrustedProgram,
  type PathScope,
} from "@toolcrib/kit/files";
import type { ScrubEnv } from "./environment.ts";
import type { BackgroundJobs } from "./jobs/backgroundJobs.ts";
import type { Leftovers } from "./process/leftovers.ts";
import { findShell } from "./process/platform.ts";
import { runShell } from "./process/runShell.ts";
import type { ShellRunner } from "./process/shellRequest.ts";
import type { SandboxLimits } from "./sandbox/bubblewrap.ts";
import { gitFoldersOf } from "./sandbox/gitFolders.ts";
import {
  createOwnSandbox,
  isOwnSandbox,
  type OwnSandbox,
  type OwnSandboxUse,
  ownSandboxSpecs,
} from "./sandbox/ownSandbox.ts";
import { pinDirectory } from "./sandbox/pinnedDirectory.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox/sandbox.ts";

export interface RunBashOptions {
  /**
   * The directory in which commands run, and that relative `cwd` arguments start from. Default: the first root, else the process's
   * directory.
   */
  cwd?: string | undefined;
  /** Does not confine commands: only gives the defaults of `cwd` and `sandbox.writable`. */
  root?: string | readonly string[] | undefined;
  /**
   * Paths that the sandbox keeps from commands, as patterns like those of .gitignore: `.env`, `*.pem`, `secrets/`, `./config/keys`,
   * `~/.ssh`. Without a sandbox it binds no command. Default: none.
   */
  deny?: readonly string[] | undefined;
  /**
   * One directory or several that commands in the sandbox may read also in `/tmp` and `/run`, which are otherwise private and empty; the
   * rest of the filesystem they may read anyway. It keeps no command from writing. Default: none.
   */
  readable?: string | readonly string[] | undefined;
  /** `sh` (the default), `bash`, or the absolute path of a shell. Looked up when the tool is made. */
  shell?: string | undefined;
  /** Milliseconds a command may run unless the call says otherwise. Default: 30,000, or `maxTimeoutMs` where that is less. */
  timeoutMs?: number | undefined;
  /** The longest `timeout` that a call may ask for, in milliseconds. Default: 2^31 - 1. */
  maxTimeoutMs?: number;
  /**
   * A directory for output beyond the 50 KB that an answer shows: a file for each stream, up to 64 MB, named by the answer. It is made at
   * the first use; nothing here ever deletes its files. Default: none, and the rest is lost.
   */
  spill?: string | undefined;
  /** Remove variables that look like secrets from the environment of commands. Default: false. */
  scrubEnv?: ScrubEnv;
  /**
   * Run every command in an OS sandbox, bubblewrap or one of your own (an object with `wrap`); calls fail if it is not available. Default:
   * false.
   */
  sandbox?: boolean | SandboxOptions | OwnSandbox;
  /** Tracks processes that outlive their command, so that the program can end them. */
  leftovers?: Leftovers;
  /** Runs a command; for tests, or to run it elsewhere. Default: `runShell`. */
  runner?: ShellRunner;
}

export interface BashToolOptions extends RunBashOptions {
  /**
   * Let `run_bash` leave a command running, with two more tools to read what it prints and to stop it; `createBackgroundJobs()` to list and
   * end these commands yourself. They end with the process. Default: false.
   */
  background?: boolean | BackgroundJobs | undefined;
  /**
   * Let a command in the background start with its standard input open, with one more tool, `write_input`, to write to it. Refused without
   * `background`. Default: false.
   */
  input?: boolean;
}

/** The checked options, with the objects made from them. */
export interface BashSettings {
  readonly scope: PathScope;
  readonly sandbox: Sandbox | OwnSandboxUse | undefined;
  /** The shell as the option names it. */
  readonly shellOption: string;
  /** The shell as the description names it. */
  readonly shellName: string;
  /** The path of the shell; throws a ToolError if it was not found. */
  readonly shell: () => string;
  /** The rules of `deny`; undefined if nothing is denied. */
  readonly denied: DeniedPaths | undefined;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Absolute. */
  readonly spill: string | undefined;
  readonly scrubEnv: ScrubEnv;
  readonly leftovers: Leftovers | undefined;
  readonly runner: ShellRunner;
  /** True if commands in the background may keep their standard input open. */
  readonly input: boolean;
}

const defaultTimeoutMs = 30_000;

/** Options that guard something: undefined, which means nothing, is refused too. */
const guarding = { needed: "if written" } as const;
const switchOr = (expected: string, options: NonNullable<OptionSpec["options"]>): OptionSpec => ({
  expected: `true, false or ${expected}`,
  fits: (value) => typeof value === "boolean" || option.plain.fits(value),
  otherwise: "false",
  options,
});

const sandboxSpecs: OptionSpecs<SandboxOptions> = {
  writable: true,
  hidden: {
    ...guarding,
    expected: "an array of absolute paths",
    fits: (value) => isStrings(value) && value.every((path) => isAbsolute(path)),
    otherwise: "none",
  },
  unprotected: { ...option.texts, ...guarding },
  network: { ...option.flag, ...guarding },
  unixSockets: { ...option.flag, ...guarding },
  limits: { ...option.group<SandboxLimits>({ processes: true, memoryBytes: true, temporaryBytes: true }), ...guarding },
  remedies: true,
};

const ownNames = { confinement: true, wrap: true, problem: true } as const;
const eitherSandbox = switchOr("an object of options", { ...sandboxSpecs, ...ownNames });

export const knownOptions: OptionSpecs<RunBashOptions> = {
  cwd: true,
  root: true,
  deny: true,
  readable: true,
  shell: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  spill: {
    expected: "the path of a directory",
    fits: (value) => typeof value === "string" && value !== "" && !value.includes("\0"),
    otherwise: "none",
  },
  scrubEnv: { ...switchOr("an object with keep", { keep: { ...option.texts, ...guarding } }), ...guarding },
  sandbox: { ...eitherSandbox, ...guarding, fits: (value) => eitherSandbox.fits(value) || isOwnSandbox(value) },
  leftovers: { ...option.withMethods("started", "settled"), ...guarding },
  runner: { ...option.call, otherwise: "runShell", ...guarding },
};

export const knownToolOptions: OptionSpecs<BashToolOptions> = {
  ...knownOptions,
  background: {
    expected: "true, false or what createBackgroundJobs() returns",
    fits: (value) => typeof value === "boolean" || option.withMethods("start", "find").fits(value),
    otherwise: "false",
  },
  input: { ...option.flag, ...guarding },
};

/** Makes the settings of options whose names and kinds were checked. Throws a TypeError or RangeError for what else is wrong. */
export function settingsOf(options: BashToolOptions): BashSettings {
  const { shell = "sh" } = options;
  const maxTimeoutMs = "maxTimeoutMs" in options ? options.maxTimeoutMs : longestDelayMs;
  checkTimeout("maxTimeoutMs", maxTimeoutMs, longestDelayMs);
  const { timeoutMs = Math.min(defaultTimeoutMs, maxTimeoutMs) } = options;
  checkTimeout("timeoutMs", timeoutMs, maxTimeoutMs);
  const { roots, denied } = createPathScope({
    cwd: options.cwd,
    ...("root" in options && { root: options.root }),
    ...("deny" in options && { deny: options.deny }),
  });
  // Without the roots: they do not confine commands.
  const scope = createPathScope({ cwd: options.cwd ?? roots?.[0] });
  const { readable } = createPathScope("readable" in options ? { readable: options.readable } : {});
  const project = projectOf(scope, roots);
  return {
    scope,
    sandbox: sandboxOf(options, roots, scope, readable, denied?.rules),
    shellOption: shell,
    shellName: checkShell(shell, project),
    shell: findShell(shell, project),
    denied,
    timeoutMs,
    maxTimeoutMs,
    spill: options.spill === undefined ? undefined : resolve(options.spill),
    scrubEnv: options.scrubEnv ?? false,
    leftovers: options.leftovers,
    runner: options.runner ?? runShell,
    input: options.input === true,
  };
}

/** Resolves to the reason why the sandbox is not available, or to undefined if it is. Runs a command that does nothing. */
export async function sandboxProblem(options: RunBashOptions = {}): Promise<string | undefined> {
  readOptions<RunBashOptions>("sandboxProblem", options, knownOptions);
  return settingsOf({ sandbox: true, ...options }).sandbox?.problem();
}

export function isTimeout(value: unknown, most: number): value is number {
  return typeof value === "number" && value > 0 && value <= most;
}

function checkTimeout(name: string, value: unknown, most: number): asserts value is number {
  if (isTimeout(value, most)) return;
  throw new RangeError(`${name} must be a positive number of milliseconds up to ${most}, got ${String(value)}`);
}

/** Lists directories whose programs are not trusted, because tools may write there; not "/", which contains every program. */
function projectOf(scope: PathScope, roots: readonly string[] = []): string[] {
  try {
    return [scope.cwd, ...roots].filter((place) => place !== "/");
  } catch {
    // The process's directory was removed.
    return [...roots];
  }
}

/** Returns the shell as the description names it. Throws a TypeError unless it is `sh`, `bash` or a path where tools cannot write. */
function checkShell(shell: unknown, project: readonly string[]): string {
  if (shell === "sh") return process.platform === "win32" ? "sh" : "/bin/sh";
  if (shell === "bash") return shell;
  if (typeof shell !== "string" || !isAbsolute(shell) || shell.includes("\0"))
    throw new TypeError('shell must be "sh", "bash" or an absolute path');
  if (isTrustedProgram(shell, project)) return shell;
  throw new TypeError(`shell: tools could write ${printableName(shell)}; name a shell outside ${project.join(", ")}`);
}

function sandboxOf(
  options: RunBashOptions,
  roots: readonly string[] | undefined,
  scope: PathScope,
  readable: readonly string[],
  deny: DenyRules | undefined,
): Sandbox | OwnSandboxUse | undefined {
  if (!("sandbox" in options) || options.sandbox === false) return undefined;
  const sandbox = typeof options.sandbox === "object" ? options.sandbox : {};
  if (isOwnSandbox(sandbox)) return ownSandboxOf(sandbox, [scope.cwd, ...(roots ?? [])], deny);
  for (const name of ["confinement", "problem"])
    if (name in sandbox)
      throw new TypeError(`sandbox.${name} has no effect without sandbox.wrap; give both, or neither`);
  if (sandbox.unprotected) compileDenyRules({ patterns: sandbox.unprotected, roots: [] });
  if (sandbox.limits) checkLimits(sandbox.limits);
  const { cwd } = scope;
  const writable = ("writable" in sandbox ? directoriesOf(sandbox.writable) : roots) ?? [cwd];
  const isDenied = (path: string): boolean =>
    deny !== undefined && compileDenyRules(deny).match(path, true) !== undefined;
  const ofGit = gitFoldersOf(writable).filter((path) => !isDenied(path));
  return createSandbox({ writable: [...writable, ...ofGit], cwd, readable, deny }, sandbox);
}

/** Makes the sandbox of the caller's own. Throws a TypeError for what is wrong with it. */
function ownSandboxOf(own: OwnSandbox, walked: readonly string[], deny: DenyRules | undefined): OwnSandboxUse {
  const other = Object.keys(sandboxSpecs).find((name) => name in own && !(name in ownSandboxSpecs));
  if (other !== undefined)
    throw new TypeError(
      `sandbox.${other} is for bubblewrap, and has no effect together with sandbox.wrap; leave it out`,
    );
  checkValues("run_bash", own, ownSandboxSpecs, "sandbox.");
  if (own.unprotected) compileDenyRules({ patterns: own.unprotected, roots: [] });
  const { writable } = own.confinement;
  const directories = writable.length > 0 ? directoriesOf(writable) : [];
  for (const path of directories) pinDirectory(path, "sandbox.confinement.writable");
  return createOwnSandbox(own, directories, walked, deny);
}

/** Checks limits by themselves, as what is wrong here is a number out of range. */
function checkLimits(limits: SandboxLimits): void {
  for (const [name, value] of Object.entries(limits)) {
    if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value > 0)) continue;
    throw new RangeError(`sandbox.limits.${name} must be a whole number above 0, or Infinity for no limit`);
  }
}

function directoriesOf(writable: unknown): readonly string[] {
  const directories = [writable].flat();
  if (directories.length === 0 || !isStrings(directories) || directories.includes("")) {
    throw new TypeError("sandbox.writable must be the path of a directory, or an array of such");
  }
  return createPathScope({ root: directories }).roots ?? [];
}

function isStrings(values: unknown): values is string[] {
  return Array.isArray(values) && values.every((value) => typeof value === "string");
}
