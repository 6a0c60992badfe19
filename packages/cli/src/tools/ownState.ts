import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { GuardDecision, GuardedCall } from "@toolcrib/core";
import { compilePathPatterns, isInside } from "@toolcrib/core/files";
import type { Cause, Policy, PolicyQuestion } from "@toolcrib/policy";
import { projectConfigName } from "../config/projectConfigName.ts";
import { canonicalPath } from "../state/stateFolder.ts";

/** What the command itself decides about a call, whatever the rules say. */
interface OwnVerdict {
  readonly decision: "deny" | "ask";
  readonly why: string;
}

/** By the name of a file of the project: what it decides. */
const configs: Readonly<Record<string, string>> = {
  ".mcp.json": "names programs that are started",
  [projectConfigName]: "says what may run here",
};
const isKeptHere = "it is where toolcrib keeps what the user has allowed and set, so no tool changes it";

/**
 * The policy, and no tool changes the `folders` in which the command keeps what the user has allowed and set. Other names of a file
 * (hard links), which a pattern of paths cannot know, count too. So it is with the configuration of a root, which is asked about.
 */
export function guardOwnState(policy: Policy, folders: readonly string[], roots: readonly string[]): Policy {
  /** Where a shell line names the folder: it is one of the protected paths of the policy, perhaps by more than one entry. */
  const isOwn = (cause: Cause): boolean => {
    if (cause.by !== "protected" || !/toolcrib\/?$/.test(cause.pattern)) return false;
    const { match } = compilePathPatterns([cause.pattern], { roots, missingMatches: true });
    return folders.some((folder) => (match(folder) ?? match(canonicalPath(folder))) !== undefined);
  };
  return {
    ...policy,
    async guard(call) {
      const own = await ownVerdict(call, folders, roots);
      if (own?.decision === "deny") return own.why;
      const decision = await policy.guard(call);
      const data = dataOf(decision);
      if (data && isOwn(data.decidedBy)) return isKeptHere;
      return own && decision === true ? { ask: { text: `${call.name}: ${own.why}` } } : decision;
    },
    async explain(call) {
      const explained = await policy.explain(call);
      const effects = "effects" in call ? call.effects : await callEffects(call);
      const own = await ownVerdict({ effects }, folders, roots);
      if (own?.decision === "deny" || isOwn(explained.decidedBy))
        return { ...explained, decision: "deny", text: `Denied: ${own?.why ?? isKeptHere}.` };
      return own && explained.decision === "allow"
        ? { ...explained, decision: own.decision, text: `Asked: ${own.why}.` }
        : explained;
    },
  };
}

/** The pattern of exactly this path, for a rule or as a protected path: a parenthesis is written as any character. */
export function ownPattern(path: string): string {
  const slashed = process.platform === "win32" ? path.replaceAll("\\", "/") : path;
  return slashed.replace(/[*?[\\]/g, "\\$&").replace(/[()]/g, "?");
}

function dataOf(decision: GuardDecision): PolicyQuestion | undefined {
  if (typeof decision !== "object" || typeof decision.ask !== "object") return undefined;
  return decision.ask.data as PolicyQuestion | undefined;
}

async function callEffects({ tool, args }: Pick<GuardedCall, "tool" | "args">): Promise<GuardedCall["effects"]> {
  try {
    return await tool.effects?.({ ...args });
  } catch {
    // The policy judges a tool that cannot say what it would do.
    return undefined;
  }
}

async function ownVerdict(
  { effects = [] }: Pick<GuardedCall, "effects">,
  folders: readonly string[],
  roots: readonly string[],
): Promise<OwnVerdict | undefined> {
  const changes = effects.filter(({ kind, path }) => (kind === "write" || kind === "delete") && path !== undefined);
  if (changes.length === 0) return undefined;
  // Looked up at each change: a link may have come since the last one.
  const own = folders.map(canonicalPath);
  const files = Object.entries(configs).flatMap(([name, what]) =>
    [...roots, process.cwd()].map((root) => ({ file: canonicalPath(join(root, name)), name, what })),
  );
  const patterns = [...new Set([...folders, ...own])].map(ownPattern);
  const folder = compilePathPatterns(patterns, { roots: [], ignoreCase: true, missingMatches: true });
  let asked: OwnVerdict | undefined;
  for (const { kind, path = "", givenPath = path, tree } of changes) {
    const isThere = folder.match(path) ?? folder.match(givenPath);
    if (isThere !== undefined || (tree && folder.mayMatchBelow(path))) return { decision: "deny", why: isKeptHere };
    const stats = kind === "write" ? statsOf(path) : undefined;
    const linked = stats?.isFile() && stats.nlink > 1 ? stats : undefined;
    if (linked && own.some((folder) => holds(folder, linked))) return { decision: "deny", why: isKeptHere };
    // By its own name it is a protected path of the policy.
    if (basename(path) in configs) continue;
    const other = files.find(
      ({ file }) => file === path || (tree && isInside(path, file)) || (linked && isSame(statsOf(file), linked)),
    );
    if (other) {
      const why = `it is another name of ${other.name}, or a folder around it, and that ${other.what}`;
      asked = { decision: "ask", why };
    }
  }
  return asked;
}

/** Whether a folder holds the file, by whatever name. */
function holds(folder: string, file: Stats): boolean {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => {
      return entry.isFile() && isSame(statsOf(join(entry.parentPath, entry.name)), file);
    });
  } catch {
    // There is no such folder yet.
    return false;
  }
}

function isSame(one: Stats | undefined, other: Stats): boolean {
  return one?.ino === other.ino && one.dev === other.dev;
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
