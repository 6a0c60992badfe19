import { existsSync } from "node:fs";
import type { Guard } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { createPathScope, isBelowAny } from "@toolcrib/kit/files";
import {
  createPolicy,
  exactPattern,
  fileStore,
  type Mode,
  memoryStore,
  type Policy,
  type PolicyOptions,
} from "@toolcrib/policy";
import type { ConnectedTools } from "@toolcrib/remote";
import { projectConfigName } from "../config/settings.ts";
import { usageError } from "../exitReasons.ts";
import { type FlagsOf, ruleAdvice } from "../flags.ts";
import type { Program } from "../program.ts";
import type { permissionFlags } from "../sharedFlags.ts";
import type { Folders } from "../state/folders.ts";
import { canonicalPath, loginsFile } from "../state/stateFolder.ts";

export interface PermissionFlags extends FlagsOf<typeof permissionFlags> {
  /** Not a flag: the remote of `--on`. */
  readonly remote?: ConnectedTools | undefined;
  /** Not a flag: those of `deny` that come from a project that is not trusted. They may name a tool that there is not. */
  readonly projectDeny?: readonly string[] | undefined;
  /** Not a flag: where relative paths begin, as for the tools. */
  readonly directory?: string | undefined;
}

/** The user's way of working: a mode of the policy, or `plan`, in which the model only reads and then proposes. */
export type WorkMode = NonNullable<PermissionFlags["mode"]>;

/** The modes that Shift-Tab goes through. */
const cycled: readonly WorkMode[] = ["ask", "accept-edits", "plan"];

/** Returns the mode after this one; from any that is not among them, the first. */
export function nextMode(mode: WorkMode): WorkMode {
  return cycled[(cycled.indexOf(mode) + 1) % cycled.length] ?? "ask";
}

export function policyMode(mode: WorkMode): Mode {
  return mode === "plan" ? "read-only" : mode;
}

export interface Permissions {
  readonly policy: Policy;
  /** Makes the same policy with more rules that allow, or in another mode, to try them. Throws for a malformed rule. */
  policyWith(allow: readonly string[], mode?: Mode): Policy;
  /** True if answers are kept for later runs; else until this one ends. */
  readonly keepsAnswers: boolean;
  readonly roots: readonly string[];
  readonly mode: WorkMode;
  /** Holds for what is decided from now on. */
  setMode(mode: WorkMode): void;
  readonly flags: PermissionFlags;
  /** Patterns of paths that the tools themselves, and the sandbox, keep from every call. */
  readonly deniedPaths: readonly string[];
}

/** Makes the policy of the flags for the tools of `root`, which may read in `readable`, too; answers are remembered in the user's own folder. Throws a usage error for a wrong rule. */
export function createPermissions(
  flags: PermissionFlags,
  root: readonly string[],
  { folders, cwd: here, terminal }: Pick<Program, "folders" | "cwd" | "terminal">,
  mode: Mode,
  readable: readonly string[] = [],
): Permissions {
  let current: WorkMode = flags.mode ?? mode;
  const { allow = [], ask = [], deny = [], remote } = flags;
  const { cwd, roots = [] } = createPathScope({ root, cwd: flags.directory });
  const deniedPaths = [
    ...deny.flatMap((rule) => /^effect:read\((.+)\)$/s.exec(rule)?.[1] ?? []),
    ...loginPatterns(folders, roots),
  ];
  const answers = `${folders.state}/permissions.json`;
  // Nothing that decides about the tools can be kept where they may write.
  const keepsAnswers = !isBelowAny(answers, [...roots, cwd]);
  const onWarning = (message: string): void => terminal.aside(message);
  const options: PolicyOptions = {
    roots,
    readable,
    ...(remote && { remotes: { [remote.name]: { roots: remote.roots ?? [], denied: deniedPaths } } }),
    cwd,
    home: folders.home,
    denied: deniedPaths,
    ownState: {
      folders: [folders.state, folders.config],
      why: "toolcrib stores the user's answers and settings there, so no tool changes it",
      files: { ".mcp.json": "names programs that are started", [projectConfigName]: "says what may run here" },
      roots: [...roots, here],
    },
    remembered: keepsAnswers ? fileStore(answers, { onWarning }) : memoryStore(),
  };
  const policyWith = (more: readonly string[], mode: Mode = policyMode(current)): Policy => {
    const policy = createPolicy({ ...options, mode, allow: [...allow, ...more], ask, deny });
    return current === "plan" ? { ...policy, guard: planGuard(policy) } : policy;
  };
  try {
    let policy = policyWith([]);
    return {
      get policy() {
        return policy;
      },
      policyWith,
      keepsAnswers,
      roots,
      get mode() {
        return current;
      },
      setMode(next) {
        current = next;
        policy = policyWith([]);
      },
      flags,
      deniedPaths,
    };
  } catch (error) {
    const message = messageOf(error);
    if (!(error instanceof TypeError) || !/^(?:allow|ask|deny)\b/.test(message)) throw error;
    throw usageError(`--${message}${message.startsWith("ask") ? `, ${ruleAdvice}` : ""}`);
  }
}

/** Names the mode `plan` in what it refuses, in place of the one that stands for it. */
function planGuard({ guard, explain }: Policy): Guard {
  return async (call) => {
    const decided = await guard(call);
    if (typeof decided !== "object" || !("deny" in decided)) return decided;
    const { decidedBy, parts } = await explain(call);
    const what = parts.find(({ decision }) => decision === "deny")?.what;
    if (decidedBy.by !== "mode" || what === undefined) return decided;
    const deny = `${oneLine(call.name, 80)} would ${what}; the mode plan changes nothing`;
    return { ...decided, deny, details: { ...decided.details, mode: "plan" } };
  };
}

export async function describePermissions({ policy, mode, flags }: Permissions): Promise<string[]> {
  const rules = (["deny", "ask", "allow"] as const).flatMap((list) =>
    (flags[list] ?? []).map((rule) => `${list.padEnd(5)} ${oneLine(rule, 200)}`),
  );
  const remembered = (await policy.list()).map(
    ({ id, at, text }) => `${id.slice(0, 8)}  ${at.slice(0, 10)}  ${oneLine(text, 160)}`,
  );
  return [
    `mode  ${mode}: ${modeDescriptions[mode]}`,
    ...rules,
    ...(remembered.length > 0
      ? ["Remembered answers in this folder (toolcrib permissions revoke ID forgets one):", ...remembered]
      : []),
  ];
}

export const modeDescriptions: Readonly<Record<WorkMode, string>> = {
  plan: "reads in the folder and read-only commands run; everything else is refused, and the model proposes what to do",
  ask: "reads in the folder and read-only commands run; you are asked about everything else",
  "read-only": "reads in the folder and read-only commands run; everything else is refused",
  "accept-edits": "reads and edits in the folder and read-only commands run; you are asked about everything else",
  full: "everything runs unless a rule or a protected path prevents it",
};

/** Returns the file of logins, as patterns, where a tool could read it: its tokens are for servers, not for a model. */
function loginPatterns(folders: Folders, roots: readonly string[]): string[] {
  const file = loginsFile(folders);
  if (!existsSync(file) && !isBelowAny(file, roots)) return [];
  return [...new Set([file, canonicalPath(file)])].map(exactPattern);
}
