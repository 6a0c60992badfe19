import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { GuardDecision, GuardedCall } from "@toolcrib/core";
import { canonicalOrUndefined, compilePathPatterns, isInside } from "@toolcrib/kit/files";
import type { Policy } from "./policy.ts";
import type { PolicyQuestion } from "./question.ts";
import type { Cause } from "./verdict.ts";

/** What a program keeps that decides about calls. */
export interface KeptState {
  /** Absolute paths of folders that no tool changes, whatever allows it. Give them to `protect`, too, as `exactPattern(path)`, for what shell lines name. */
  readonly folders: readonly string[];
  /** Why, for a refusal: `it is where … keeps what the user has allowed, so no tool changes it`. */
  readonly why: string;
  /** Names of files in a root that are asked about by any other name: a link to one, a folder around it. What each decides: `says what may run here`. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Where these files are. */
  readonly roots: readonly string[];
}

/** What the state decides about a call, whatever the rules say. */
interface Verdict {
  readonly decision: "deny" | "ask";
  readonly why: string;
}

/**
 * The policy, and no tool changes what the program keeps. Other names of a file (hard links), which a pattern of paths cannot know, count
 * too. Of a remote (`effect.remote`) only paths are compared, as it may be this disk: what lies there cannot be looked up here, and its
 * links and `files` are those of that remote.
 */
export function guardState(policy: Policy, kept: KeptState): Policy {
  const { folders, roots } = kept;
  /** Recognises a shell line that names the folder: it is one of the protected paths of the policy, perhaps by more than one entry. */
  const isOwn = (cause: Cause): boolean => {
    if (cause.by !== "protected") return false;
    const last = basename(cause.pattern);
    const named = folders
      .flatMap((folder) => [folder, canonicalOf(folder)])
      .filter((folder) => basename(exactPattern(folder)) === last);
    if (named.length === 0) return false;
    const { match } = compilePathPatterns([cause.pattern], { roots, missingMatches: true });
    return named.some((folder) => match(folder) !== undefined);
  };
  return {
    ...policy,
    async guard(call) {
      const own = verdictOf(call, kept);
      if (own?.decision === "deny") return own.why;
      const decision = await policy.guard(call);
      const data = dataOf(decision);
      if (data && isOwn(data.decidedBy)) return kept.why;
      return own && decision === true ? { ask: { text: `${call.name}: ${own.why}` } } : decision;
    },
    async explain(call) {
      const explained = await policy.explain(call);
      const effects = "effects" in call ? call.effects : await callEffects(call);
      const own = verdictOf({ effects }, kept);
      if (own?.decision === "deny" || isOwn(explained.decidedBy))
        return { ...explained, decision: "deny", text: `Denied: ${own?.why ?? kept.why}.` };
      return own && explained.decision === "allow"
        ? { ...explained, decision: own.decision, text: `Asked: ${own.why}.` }
        : explained;
    },
  };
}

/** The pattern of exactly this path, for a rule or as a protected path: a parenthesis is written as any character. */
export function exactPattern(path: string): string {
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

function verdictOf(
  { effects = [] }: Pick<GuardedCall, "effects">,
  { folders, why, files: named = {}, roots }: KeptState,
): Verdict | undefined {
  const changes = effects.filter(({ kind, path }) => (kind === "write" || kind === "delete") && path !== undefined);
  if (changes.length === 0) return undefined;
  // Looked up at each change: a link may have come since the last one.
  const own = folders.map(canonicalOf);
  const files = Object.entries(named).flatMap(([name, what]) =>
    roots.map((root) => ({ file: canonicalOf(join(root, name)), name, what })),
  );
  const patterns = [...new Set([...folders, ...own])].map(exactPattern);
  const folder = compilePathPatterns(patterns, { roots: [], ignoreCase: true, missingMatches: true });
  let asked: Verdict | undefined;
  for (const { kind, path = "", givenPath = path, tree, remote } of changes) {
    const isThere = folder.match(path) ?? folder.match(givenPath);
    if (isThere !== undefined || (tree && folder.mayMatchBelow(path))) return { decision: "deny", why };
    if (remote !== undefined) continue;
    const stats = kind === "write" ? statsOf(path) : undefined;
    const linked = stats?.isFile() && stats.nlink > 1 ? stats : undefined;
    if (linked && own.some((folder) => holds(folder, linked))) return { decision: "deny", why };
    // By its own name it is a protected path of the policy.
    if (Object.hasOwn(named, basename(path))) continue;
    const other = files.find(
      ({ file }) => file === path || (tree && isInside(path, file)) || (linked && isSame(statsOf(file), linked)),
    );
    if (other) {
      asked = {
        decision: "ask",
        why: `it is another name of ${other.name}, or a folder around it, and that ${other.what}`,
      };
    }
  }
  return asked;
}

function canonicalOf(path: string): string {
  return canonicalOrUndefined(path) ?? path;
}

/** Returns whether a folder holds the file, by whatever name. */
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
