import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type OptionSpecs, option, readOptions } from "@toolcrib/core/internal";
import { clip, isObject, messageOf } from "@toolcrib/core/text";
import { compileDenyRules, createPathScope, findProgram, isInside, removeIfPossible } from "@toolcrib/kit/files";
import { runShell } from "./process/runShell.ts";
import { type BeforeCommand, excludePlaceholders, quoted } from "./runtime/gitExcludes.ts";
import { literal, type RuntimeConfig, type RuntimeFiles, type RuntimePackage } from "./runtime/runtimePackage.ts";
import { type SessionUse, useSession } from "./runtime/runtimeSession.ts";
import { gitFoldersOf } from "./sandbox/gitFolders.ts";
import type { CommandToWrap, OwnSandbox, WrappedCommand } from "./sandbox/ownSandbox.ts";

/** Options of the sandbox that `@anthropic-ai/sandbox-runtime` makes. */
export interface SandboxRuntimeOptions {
  /** Existing directories that commands may write in. Default: the process's working directory. */
  writable?: string | readonly string[] | undefined;
  /** Hosts that commands reach through its proxies: `example.com`, `*.example.com`, `example.com:443`. Default: none. */
  hosts?: readonly string[];
  /** Protected paths that commands may change, as patterns like those of `deny`; `./` lets all through. Default: none. */
  unprotected?: readonly string[];
  /** Loads the package where it is not found by its name, as in a bundle. Default: `import("@anthropic-ai/sandbox-runtime")`. */
  load?: () => Promise<unknown>;
}

const specs: OptionSpecs<SandboxRuntimeOptions> = {
  writable: true,
  hosts: { ...option.texts, needed: "if written" },
  unprotected: { ...option.texts, needed: "if written" },
  load: option.call,
};

const packageName = "@anthropic-ai/sandbox-runtime";
const probeMs = 10_000;
const secret = "as it was";
/** The names of the programs, and the packages of Debian that have them. */
const programs = { bwrap: "bubblewrap", socat: "socat", rg: "ripgrep" } as const;

/**
 * Makes a sandbox for the option `sandbox` of `run_bash` from `@anthropic-ai/sandbox-runtime`: network by host, on Linux and macOS. Nothing is
 * loaded or started before the first command. Throws a TypeError for invalid options.
 */
export function createSandboxRuntime(options: SandboxRuntimeOptions = {}): OwnSandbox {
  readOptions<SandboxRuntimeOptions>("createSandboxRuntime", options, specs);
  const {
    writable = process.cwd(),
    hosts = [],
    unprotected = [],
    load = () => import("@anthropic-ai/sandbox-runtime"),
  } = options;
  if (unprotected.length > 0) compileDenyRules({ patterns: unprotected, roots: [] });
  const roots = createPathScope({ root: writable }).roots ?? [];
  const directories = [...roots, ...gitFoldersOf(roots)];
  const begin = async (): Promise<SessionUse> => {
    const { SandboxManager: manager, SandboxRuntimeConfigSchema: schema } = await loaded(load);
    if (process.platform === "win32" || !manager.isSupportedPlatform())
      throw new Error(`${packageName} works only on Linux and macOS`);
    const config = configOf(hosts, directories);
    try {
      schema.parse(config);
    } catch (error) {
      throw new Error(`hosts: ${packageName} does not accept them: ${messageOf(error)}`, { cause: error });
    }
    return useSession(manager, config, tryOut);
  };

  return {
    unprotected,
    confinement: {
      words: packageName,
      writable: directories,
      network: [...hosts],
      protects: true,
      denies: true,
    },
    async problem() {
      try {
        (await begin()).release(false);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    async wrap(command) {
      const use = await begin();
      const files = {
        denyRead: command.deniedPaths.map(literal),
        allowRead: [],
        allowWrite: [...directories, use.temporary].map(literal),
        denyWrite: [...command.protectedPaths, ...command.deniedPaths, ...extraPlaces(directories)].map(literal),
      };
      const id = crypto.randomUUID();
      return wrapWith(use, command, files, excludePlaceholders(directories, use.temporary, id));
    },
  };
}

/** Returns the directories that it lets every command write, also outside of the writable ones: these are closed again. */
function extraPlaces(directories: readonly string[]): string[] {
  const ofUser = [".npm/_logs", ".claude/debug"].map((name) => join(homedir(), name));
  const places = ["/tmp/claude", "/private/tmp/claude", ...ofUser];
  return places.filter(
    // On Linux it would put an empty file where there is nothing.
    (place) =>
      !directories.some((root) => isInside(root, place)) && (process.platform !== "linux" || existsSync(place)),
  );
}

/** Releases what it uses when the command has ended, or if it cannot be wrapped. */
async function wrapWith(
  use: SessionUse,
  { command, shell, env, signal }: Pick<CommandToWrap, "command" | "shell" | "env" | "signal">,
  filesystem: RuntimeFiles,
  before: BeforeCommand = { script: "" },
): Promise<WrappedCommand> {
  // The variables are set inside, after its own: TMPDIR is one of these.
  const variables = Object.entries({ TMPDIR: use.temporary, ...env }).map(([name, value]) => `${name}=${value}`);
  const inner = `${before.script}exec ${["/usr/bin/env", "--", ...variables, shell, "-c", command].map(quoted).join(" ")}`;
  try {
    // Otherwise the command itself would be the id, and stand in the environment of everything that it starts.
    const commandId = crypto.randomUUID();
    const line = await use.manager.wrapWithSandbox(inner, "/bin/sh", { filesystem }, signal, { commandId });
    // On Linux it has a namespace of processes, whose last ones may still be ending.
    return {
      file: "/bin/sh",
      args: ["-c", line],
      endsAll: process.platform === "linux",
      ended() {
        if (before.file !== undefined) removeIfPossible(before.file);
        use.release(true);
      },
    };
  } catch (error) {
    use.release(false);
    throw error;
  }
}

/** Runs a command that tries what it must not: whatever the version and the system, the package is used only if it holds. */
async function tryOut({ manager, temporary }: Omit<SessionUse, "release">): Promise<void> {
  const unfiltered = manager.checkDependencies().warnings.find((warning) => /seccomp/i.test(warning));
  if (unfiltered !== undefined) throw new Error(unfiltered);
  // A name that is also a pattern.
  const place = join(temporary, "trial[1]");
  const made = join(place, "made");
  const kept = join(place, "kept");
  const denied = join(place, "denied");
  const outside = `${temporary}-outside`;
  mkdirSync(place);
  for (const file of [kept, denied]) writeFileSync(file, secret);
  const steps = [made, kept, outside].map((file) => `echo x >${quoted(file)}`);
  const command = [...steps, `mv -f ${quoted(made)} ${quoted(kept)}`, `cat ${quoted(denied)}`].join("; ");
  const filesystem = {
    denyRead: [literal(denied)],
    allowRead: [],
    allowWrite: [literal(temporary)],
    denyWrite: [kept, denied].map(literal),
  };
  const release = (isWrapped: boolean): void => {
    if (isWrapped) manager.cleanupAfterCommand();
  };
  const plain = { command, shell: "/bin/sh", env: {}, signal: undefined };
  const { ended, ...program } = await wrapWith({ manager, temporary, release }, plain, filesystem);
  try {
    const mark = crypto.randomUUID();
    const { stdout, stderr } = await runShell({ ...program, cwd: "/", env: process.env, mark, timeoutMs: probeMs });
    if (readFileSync(kept, "utf8") !== secret) throw new Error("in a test, it did not protect a protected path");
    if (!existsSync(made))
      throw new Error(`in a test, it could not write where that is allowed: ${clip(stderr.trim(), 300)}`);
    if (stdout.includes(secret)) throw new Error("in a test, it did not hide a denied path");
    if (existsSync(outside)) throw new Error("in a test, it allowed writing outside the writable directories");
  } finally {
    removeIfPossible(outside);
    ended?.();
  }
}

function configOf(hosts: readonly string[], directories: readonly string[]): RuntimeConfig {
  const network = { allowedDomains: [...hosts], deniedDomains: [] };
  const filesystem = { denyRead: [], allowRead: [], allowWrite: [], denyWrite: [] };
  if (process.platform !== "linux") return { network, filesystem };
  const pathOf = (name: keyof typeof programs): string => {
    const path = findProgram(name, [...directories, process.cwd()]);
    if (path !== undefined) return path;
    throw new Error(
      `${name} is not on PATH, or only in a directory that tools may write; install it (apt install ${programs[name]})`,
    );
  };
  return {
    network,
    filesystem,
    bwrapPath: pathOf("bwrap"),
    socatPath: pathOf("socat"),
    ripgrep: { command: pathOf("rg") },
  };
}

async function loaded(load: () => Promise<unknown>): Promise<RuntimePackage> {
  let found: unknown;
  try {
    found = await load();
  } catch (error) {
    if (!isObject(error) || error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(`the package ${packageName} is not installed; run: npm install ${packageName}`, { cause: error });
  }
  if (isObject(found) && isObject(found.SandboxManager) && isObject(found.SandboxRuntimeConfigSchema))
    return found as unknown as RuntimePackage;
  throw new Error(`${packageName} has no SandboxManager; version 0.0.83 is needed`);
}
