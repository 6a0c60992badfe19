import { statSync } from "node:fs";
import { dirname } from "node:path";
import { createAskUserTool } from "@toolcrib/agent/ask-user";
import type { ExecutableTool, Middleware, ToolContext, ToolRegistry } from "@toolcrib/core";
import { nearestName } from "@toolcrib/core/internal";
import { createDefaultToolRegistry, type DefaultToolOptions } from "@toolcrib/defaults/registry";
import { createPathScope, spillOutput } from "@toolcrib/kit/files";
import { defaultMaxReplyBytes } from "@toolcrib/kit/text";
import type { ConnectedTools } from "@toolcrib/remote";
import type { BackgroundJobs, SandboxOptions } from "@toolcrib/tools-bash";
import { createEditFileTool } from "@toolcrib/tools-fs";
import { usageError } from "../exitReasons.ts";
import type { FlagsOf } from "../flags.ts";
import type { Program } from "../program.ts";
import type { sandboxFlags, toolFlags } from "../sharedFlags.ts";
import { oneLine } from "../terminal/render.ts";
import { hideState } from "./hideState.ts";
import type { Hooks } from "./hooks.ts";
import type { PermissionFlags, Permissions } from "./permissions.ts";
import { chooseShell } from "./shell.ts";

/** The flags that say which tools there are and what they may reach. */
export interface ToolFlags extends FlagsOf<typeof toolFlags & typeof sandboxFlags> {
  /** Not a flag: the sandbox that `chooseSandbox` decided on, for the commands of `run_bash`. */
  readonly commandSandbox?: SandboxOptions | undefined;
  /** Not a flag: whether `run_bash` is on where a sandbox keeps its commands in, since somebody can be asked about each. */
  readonly offersShell?: boolean | undefined;
  /** Not a flag: the remote of `on`, connected. */
  readonly remote?: ConnectedTools | undefined;
  /** Not a flag: where relative paths begin. Default: in the working directory where a root holds it, else in the first root. */
  readonly directory?: string | undefined;
}

/** What a conversation has beside the default tools. */
export interface ToolSetParts {
  readonly context?: ToolContext | undefined;
  /** The tools of mounted servers. */
  readonly more?: readonly ExecutableTool[] | undefined;
  /** Folders that the tools may read beside the roots. */
  readonly readable?: readonly string[] | undefined;
  /** A folder for outputs beyond what a model gets at once, which the tools may read. */
  readonly outputs?: string | undefined;
  /** Keeps commands that run in the background, for `run_bash` and its two companions. */
  readonly jobs?: BackgroundJobs | undefined;
  /** The user's own commands around calls. */
  readonly hooks?: Hooks | undefined;
  /** Remembers what files were before a call. */
  readonly undo?: Middleware | undefined;
}

/** Most bytes of one output; a page of a file is as long, so that reading a kept output goes on by pages. */
const longestOutput = defaultMaxReplyBytes;

/**
 * The default tools, `edit_file`, `ask_user` and those of servers, ours confined to the roots (default: the working directory), each call decided
 * by the permissions. Throws a usage error.
 */
export function createToolSet(
  flags: ToolFlags,
  { policy, deniedPaths: deny, flags: rules }: Pick<Permissions, "policy" | "deniedPaths" | "flags">,
  { leftovers, env }: Pick<Program, "leftovers" | "env">,
  { context, more = [], readable = [], outputs, jobs, hooks, undo }: ToolSetParts = {},
): ToolRegistry {
  const { directory: cwd, remote } = flags;
  const root = rootsOf(flags);
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
      sandbox: flags.commandSandbox ? hideState(flags.commandSandbox, root, env) : false,
      leftovers,
      spill: outputs,
      ...(jobs && { background: jobs }),
    },
    extra: [createEditFileTool({ root, deny, ...fs }), createAskUserTool(), ...more],
  });
  const editThere = remote?.tools.filter(({ name }) => name === "edit_file") ?? [];
  const registry = createDefaultToolRegistry(
    context,
    remote ? { packs: remote.tools, extra: [...editThere, createAskUserTool(), ...more] } : local(),
  );
  toggle(registry, flags);
  checkRules(registry, rules);
  hooks?.checkTools(registry);
  // The first one: it sees what the model gets.
  if (hooks) registry.use(hooks.middleware);
  if (outputs !== undefined) registry.use(spillOthers(outputs));
  // The last one: what it hands on reaches the tool.
  if (undo) registry.use(undo);
  return registry.guard(policy.guard);
}

/** Off unless named; every conversation is kept without the first. */
const offByDefault = ["save_session_context", "ask_user", "list_resources", "read_resource"];

/** What `run_bash` needs beside it for commands in the background. */
const companions = ["read_output", "stop_command"];

/** They keep each of their streams themselves: their answers stay JSON. */
const ownStreams: ReadonlySet<string> = new Set(["run_bash", ...companions]);

function spillOthers(directory: string): Middleware {
  const spill = spillOutput({ directory, bytes: longestOutput });
  return (call, next) => (ownStreams.has(call.name) ? next() : spill(call, next));
}

/** Returns the directories here that the tools may not leave. Throws a usage error for one that is not there. */
export function rootsOf({ on, root = [] }: ToolFlags): string[] {
  if (on !== undefined) return [process.cwd()];
  for (const directory of root) {
    if (directory === "") throw usageError("--root needs a directory, not an empty word");
    const stat = statSync(directory, { throwIfNoEntry: false });
    if (!stat) throw usageError(`--root ${directory}: there is no such directory`);
    if (!stat.isDirectory()) throw usageError(`--root ${directory}: this is a file; name a directory`);
  }
  return root.length > 0 ? [...root] : [process.cwd()];
}

/** Returns whether `run_bash` is switched on by name. */
export function hasShell({ tools, enable, disable }: ToolFlags): boolean {
  const isIn = (names: readonly string[] | undefined): boolean => names?.includes("run_bash") ?? false;
  return (isIn(tools) || isIn(enable)) && !isIn(disable);
}

/** `--tools` leaves only those; then `--enable`, and the companions of `run_bash` with it; then `--disable`. */
function toggle(registry: ToolRegistry, { tools, enable = [], disable = [] }: ToolFlags): void {
  const known = (flag: string, names: readonly string[]): readonly string[] => {
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
function checkRules(registry: ToolRegistry, flags: PermissionFlags): void {
  for (const list of ["allow", "ask", "deny"] as const) {
    for (const rule of flags[list] ?? []) {
      const name = /^[\w-]+(?=\(|$)/.exec(rule)?.[0];
      if (name !== undefined && !name.startsWith("mcp__") && !registry.hasTool(name))
        throw unknownTool(`--${list} ${oneLine(rule, 120)}`, name, registry);
    }
  }
}

/** `what` begins the sentence. */
export function unknownTool(what: string, name: string, registry: ToolRegistry): Error {
  const names = registry.getToolNames();
  const nearest = nearestName(name, names);
  return usageError(
    `${what}: there is no such tool; ${nearest ? `did you mean ${nearest}?` : `the tools are ${names.join(", ")}`}`,
  );
}
