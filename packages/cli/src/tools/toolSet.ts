import { statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { createAskUserTool } from "@toolcrib/agent/ask-user";
import type { ExecutableTool, Guard, Middleware, ToolContext, ToolRegistry } from "@toolcrib/core";
import { nearestName, oneLine } from "@toolcrib/core/internal";
import type { DefaultToolOptions } from "@toolcrib/defaults";
import { createDefaultToolRegistry } from "@toolcrib/defaults/registry";
import {
  createPathScope,
  ensureDirectory,
  findProgram,
  isInside,
  isTrustedProgram,
  spillOutput,
} from "@toolcrib/kit/files";
import { defaultMaxReplyBytes } from "@toolcrib/kit/text";
import type { ConnectedTools } from "@toolcrib/remote";
import type { BackgroundJobs, SandboxOptions } from "@toolcrib/tools-bash";
import { createEditFileTool } from "@toolcrib/tools-fs";
import { projectConfigName } from "../config/settings.ts";
import { usageError } from "../exitReasons.ts";
import type { FlagsOf } from "../flags.ts";
import type { Program } from "../program.ts";
import type { sandboxFlags, toolFlags } from "../sharedFlags.ts";
import type { Folders } from "../state/folders.ts";
import { canonicalPath, makeStateFolder } from "../state/stateFolder.ts";
import type { Hooks } from "./hooks.ts";
import type { PermissionFlags, Permissions } from "./permissions.ts";
import { addPrograms, type ProgramFlags, programTool } from "./programs.ts";

export interface ToolFlags extends FlagsOf<typeof toolFlags & typeof sandboxFlags>, ProgramFlags {
  /** Not a flag: the sandbox that `chooseSandbox` decided on, for the commands of `run_bash`. */
  readonly commandSandbox?: SandboxOptions | undefined;
  /** Not a flag: whether `run_bash` is on where a sandbox keeps its commands in, since somebody can be asked about each. */
  readonly offersShell?: boolean | undefined;
  /** Not a flag: the remote of `on`, connected. */
  readonly remote?: ConnectedTools | undefined;
  /** Not a flag: where relative paths begin. Default: in the working directory where a root holds it, else in the first root. */
  readonly directory?: string | undefined;
}

/** The tools that a conversation has beside the default ones. */
export interface ToolSetParts {
  readonly context?: ToolContext | undefined;
  readonly more?: readonly ExecutableTool[] | undefined;
  /** Folders that the tools may read beside the roots. */
  readonly readable?: readonly string[] | undefined;
  /** A folder for outputs beyond what a model gets at once, which the tools may read. */
  readonly outputs?: string | undefined;
  /** Keeps commands that run in the background, for `run_bash` and its two companions. */
  readonly jobs?: BackgroundJobs | undefined;
  readonly hooks?: Hooks | undefined;
  /** Decides about each call. Default: the policy of the permissions. */
  readonly guard?: Guard | undefined;
  readonly undo?: Middleware | undefined;
}

/** Most bytes of one output; a page of a file is as long, so that reading a kept output goes on by pages. */
const longestOutput = defaultMaxReplyBytes;

/**
 * Registers the default tools, `edit_file`, `ask_user` and those of servers, ours confined to the roots (default: the working
 * directory), each call decided by the permissions. Throws a usage error.
 */
export function createToolSet(
  flags: ToolFlags,
  { policy, deniedPaths: deny, flags: rules }: Pick<Permissions, "policy" | "deniedPaths" | "flags">,
  { leftovers, folders, cwd: here, terminal }: Pick<Program, "leftovers" | "folders" | "cwd" | "terminal">,
  { context, more = [], readable = [], outputs, jobs, hooks, guard = policy.guard, undo }: ToolSetParts = {},
): ToolRegistry {
  const { directory: cwd, remote } = flags;
  const root = rootsOf(flags, here);
  const limits = { cwd, ...(outputs !== undefined && { maxReplyBytes: longestOutput }) };
  const fs = { ...limits, ...(outputs !== undefined && { maxBytes: longestOutput }) };
  // Outputs of all conversations here: a yes to a command is bound to what the sandbox shows, and holds in the next one.
  const allReadable = [...(outputs === undefined ? [] : [dirname(outputs)]), ...readable];
  const local = (): DefaultToolOptions => ({
    root,
    deny,
    ...(allReadable.length > 0 && { readable: allReadable }),
    fs,
    search: limits,
    bash: {
      cwd: createPathScope({ root, cwd }).cwd,
      shell: chooseShell(flags.shell, { root, cwd }),
      scrubEnv: true,
      sandbox: flags.commandSandbox ? hideState(flags.commandSandbox, root, folders) : false,
      leftovers,
      spill: outputs,
      ...(jobs && { background: jobs, input: isNamed("write_input", flags) }),
    },
    extra: [createEditFileTool({ root, deny, ...fs }), createAskUserTool(), ...more],
  });
  const editThere = remote?.tools.filter(({ name }) => name === "edit_file") ?? [];
  const registry = createDefaultToolRegistry(
    context,
    remote ? { packs: remote.tools, extra: [...editThere, createAskUserTool(), ...more] } : local(),
  );
  toggle(registry, flags);
  addPrograms(registry, flags, outputs);
  checkRules(registry, rules, (line) => terminal.aside(line));
  hooks?.checkTools(registry);
  // The first one: it sees what the model gets.
  if (hooks) registry.use(hooks.middleware);
  if (outputs !== undefined) registry.use(spillOthers(outputs));
  // The last one: what it hands on reaches the tool.
  if (undo) registry.use(undo);
  return registry.guard(guard);
}

/** Off unless named; every conversation is kept without the first. */
const offByDefault = ["save_session_context", "ask_user", "list_resources", "read_resource"];

/** The tools that `run_bash` needs beside it for commands in the background. */
const companions = ["read_output", "stop_command"];

/** They keep each of their streams themselves: their answers stay JSON. */
const ownStreams: ReadonlySet<string> = new Set(["run_bash", ...companions]);

function spillOthers(directory: string): Middleware {
  const spill = spillOutput({ directory, bytes: longestOutput });
  return (call, next) => (ownStreams.has(call.name) ? next() : spill(call, next));
}

/** Returns the directories here that the tools may not leave. Throws a usage error for one that is not there. */
export function rootsOf({ on, root = [] }: ToolFlags, cwd: string): string[] {
  if (on !== undefined) return [cwd];
  for (const directory of root) {
    if (directory === "") throw usageError("--root needs a directory, not an empty word");
    const stat = statSync(resolve(cwd, directory), { throwIfNoEntry: false });
    if (!stat) throw usageError(`--root ${directory}: there is no such directory`);
    if (!stat.isDirectory()) throw usageError(`--root ${directory}: this is a file; name a directory`);
  }
  return root.length > 0 ? root.map((directory) => resolve(cwd, directory)) : [cwd];
}

export function isNamed(name: string, { tools, enable, disable }: ToolFlags): boolean {
  const isIn = (names: readonly string[] | undefined): boolean => names?.includes(name) ?? false;
  return (isIn(tools) || isIn(enable)) && !isIn(disable);
}

/** Switches tools on and off: `--tools` leaves only those; then `--enable`, and the companions of `run_bash` with it; then `--disable`. */
function toggle(registry: ToolRegistry, { tools, enable = [], disable = [], createPrograms }: ToolFlags): void {
  const known = (flag: string, given: readonly string[]): readonly string[] => {
    // It comes last, by a flag of its own.
    const names = given.filter((name) => !(createPrograms && name === programTool));
    for (const name of names) if (!registry.hasTool(name)) throw unknownTool(`${flag} ${name}`, name, registry);
    return names;
  };
  for (const name of offByDefault) registry.disable(name);
  if (tools) {
    known("--tools", tools);
    for (const name of registry.getToolNames()) {
      if (tools.includes(name)) registry.enable(name);
      else registry.disable(name);
    }
  }
  for (const name of known("--enable", enable)) registry.enable(name);
  // Not where the user has named tools one by one. Without jobs they are not there, and nothing happens.
  if (!tools && registry.isToolEnabled("run_bash")) for (const name of companions) registry.enable(name);
  for (const name of known("--disable", disable)) registry.disable(name);
}

/** Refuses a rule about a tool that is not there: it would never hold. Tools of servers may be there in another run. */
function checkRules(registry: ToolRegistry, flags: PermissionFlags, note: (line: string) => void): void {
  for (const list of ["allow", "ask", "deny"] as const) {
    for (const rule of flags[list] ?? []) {
      const name = /^[\w-]+(?=\(|$)/.exec(rule)?.[0];
      if (name === undefined || name.startsWith("mcp__") || registry.hasTool(name)) continue;
      const error = unknownTool(`--${list} ${oneLine(rule, 120)}`, name, registry);
      if (list !== "deny" || !flags.projectDeny?.includes(rule)) throw error;
      note(`Left out: ${projectConfigName}: ${error.message}`);
    }
  }
}

/** Makes the error for a tool that is not there. `what` begins the sentence. */
export function unknownTool(what: string, name: string, registry: ToolRegistry, advice = ""): Error {
  if (name === programTool) return usageError(`${what}: there is no such tool without --programs`);
  const names = registry.getToolNames();
  const nearest = nearestName(name, names);
  return usageError(
    `${what}: there is no such tool; ${nearest ? `did you mean ${nearest}?` : `the tools are ${names.join(", ")}${advice}`}`,
  );
}

/** Hides the user's own folders from commands where a root holds them: they could otherwise allow what only the user may allow. */
export function hideState(sandbox: SandboxOptions, root: readonly string[], folders: Folders): SandboxOptions {
  const { roots = [] } = createPathScope({ root });
  const hidden = [folders.state, folders.config].filter((folder) =>
    [folder, canonicalPath(folder)].some((place) => roots.some((root) => isInside(root, place))),
  );
  if (hidden.length === 0) return sandbox;
  try {
    // Only a folder that exists can be hidden.
    if (hidden.includes(folders.state)) makeStateFolder(folders);
    if (hidden.includes(folders.config)) ensureDirectory(folders.config, 0o700);
  } catch {
    // The sandbox reports a folder that it cannot hide.
  }
  return { ...sandbox, hidden };
}

/**
 * Returns the shell of `run_bash`: the one that is named, else `bash` where it is found, as models write for it, else `sh`. Never
 * one that the tools could write. Throws a usage error.
 */
function chooseShell(named: string | undefined, limits: { root: readonly string[]; cwd?: string | undefined }): string {
  if (named === "sh") return named;
  const { cwd, roots = [] } = createPathScope(limits);
  const notIn = [...new Set([cwd, ...roots])].filter((folder) => folder !== "/");
  const hasBash = findProgram("bash", notIn) !== undefined;
  if (named === undefined) return hasBash ? "bash" : "sh";
  const refuse = (why: string): Error => usageError(`--shell ${oneLine(named, 200)}: ${why}`);
  if (named === "bash") {
    if (hasBash) return named;
    throw refuse("it is not on PATH, outside of the folders that tools may write; leave it out for sh");
  }
  if (!isAbsolute(named)) throw refuse("expected sh, bash or the absolute path of a shell");
  if (!statSync(named, { throwIfNoEntry: false })?.isFile()) throw refuse("there is no such program");
  if (!isTrustedProgram(named, notIn)) throw refuse(`tools could write it; name one outside of ${notIn.join(", ")}`);
  return named;
}
