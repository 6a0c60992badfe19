import { readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { canonicalOrUndefined, isInside, namesIn, type ProtectedPath } from "@toolcrib/kit/files";
import type { PathBases } from "../rules/compileRules.ts";
import { type Budget, linkStatsOf, newBudget } from "./folders.ts";
import { compileProtected, exactPattern, type ProtectedEntry, type ProtectedMatcher } from "./protectedPaths.ts";

/** Most names that are looked at in protected folders. */
const mostNames = 2000;

/**
 * Protects where links lead too: those with a protected name at the top of a root, and those in protected folders, as far as they stay in
 * a root. They are read once, as no call changes them unasked.
 */
export function withLinkTargets(
  matcher: ProtectedMatcher,
  list: readonly ProtectedPath[],
  bases: PathBases,
): ProtectedMatcher {
  const { roots } = bases;
  const isOwn = (path: string): boolean =>
    roots.some((root) => isInside(root, path)) && !roots.some((root) => isInside(path, root));
  const starts = [...roots.flatMap((root) => protectedAtTop(root, matcher)), ...placedIn(list, roots)].filter(isOwn);
  const targets = linksIn(starts, matcher, isOwn, newBudget(mostNames));
  const entries = new Map<string, ProtectedEntry>();
  for (const { path, entry } of targets) {
    if (isOwn(path) && matcher.match(path) === undefined) entries.set(exactPattern(path), entry);
  }
  if (entries.size === 0) return matcher;
  const linked = compileProtected(
    [...entries].map(([pattern, { why }]) => ({ pattern, why })),
    bases,
  );
  return {
    match(path) {
      return matcher.match(path) ?? entries.get(linked.match(path)?.pattern ?? "");
    },
    mayMatchBelow: (folder) => matcher.mayMatchBelow(folder) || linked.mayMatchBelow(folder),
  };
}

/** A path, and the protected one that links or folders lead to it from. */
interface Reached {
  readonly path: string;
  readonly entry: ProtectedEntry;
}

/** Lists the links and folders at the top of a root that are protected. Files lead nowhere, and there may be very many. */
function protectedAtTop(root: string, matcher: ProtectedMatcher): string[] {
  const entries = attempt(() => readdirSync(root, { withFileTypes: true })) ?? [];
  return entries
    .filter((entry) => !entry.isFile())
    .map(({ name }) => join(root, name))
    .filter((path) => matcher.match(path) !== undefined);
}

/** Lists the protected paths that are not at the top of a root. */
function placedIn(list: readonly ProtectedPath[], roots: readonly string[]): string[] {
  const paths = list
    .map(({ pattern }) => pattern)
    .filter((pattern) => /\/./.test(pattern) && !/^~|[*?[\\]/.test(pattern));
  return paths.flatMap((path) => (isAbsolute(path) ? [path] : roots.map((root) => join(root, path))));
}

/** Lists what the links among paths and below them lead to: the next name, and where that ends. */
function linksIn(
  starts: readonly string[],
  matcher: ProtectedMatcher,
  isOwn: (path: string) => boolean,
  budget: Budget,
): Reached[] {
  const targets: Reached[] = [];
  const waiting = starts.flatMap((path): Reached[] => {
    const entry = matcher.match(path);
    return entry === undefined ? [] : [{ path, entry }];
  });
  const seen = new Set<string>();
  // A path that is added meanwhile gets its turn, too.
  for (const { path, entry } of waiting) {
    if (seen.has(path)) continue;
    seen.add(path);
    if (!budget.take(1)) break;
    const stats = linkStatsOf(path);
    if (stats?.isSymbolicLink()) {
      // A repository elsewhere may be anybody's: git's commands in it are asked about.
      if (basename(path) === ".git") continue;
      const leading = { ...entry, why: entry.why.replace(/^(?!a link)/, "a link leads there, and ") };
      const end = canonicalOrUndefined(path) ?? path;
      targets.push({ path: nextOf(path), entry: leading }, { path: end, entry: leading });
      if (isOwn(end)) waiting.push({ path: end, entry: leading });
    } else if (stats?.isDirectory()) {
      // All else in it git writes itself.
      const names = basename(path) === ".git" ? ["hooks", "config"] : namesIn(path);
      waiting.push(...names.map((name) => ({ path: join(path, name), entry })));
    }
  }
  return targets;
}

function nextOf(link: string): string {
  return attempt(() => resolve(dirname(link), readlinkSync(link))) ?? link;
}
