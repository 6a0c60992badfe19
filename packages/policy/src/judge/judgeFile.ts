import { join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { compilePathPatterns, isInside } from "@toolcrib/kit/files";
import { describeEffect } from "../describe.ts";
import { isOfPack } from "../packOrigin.ts";
import { bareRule, type PathBases, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { askOrDeny, byMode, byRule, type Decision, type Subject, type Verdict } from "../verdict.ts";
import type { Budget, EntryKind } from "./folders.ts";
import { findBelow, isSeen, linkStatsOf, listBelow, newBudget, statsOf } from "./folders.ts";
import { judgeOwnState, type ProtectedEntry, type ProtectedMatcher } from "./protectedPaths.ts";

/** The groups of rules, of each list, that bind an effect. */
export type Groups = Readonly<Record<Decision, readonly RuleGroup[]>>;

export const shellOrigin = "shell";

/** Of the tool that saves the session of an agent, to a path that the program chose, not the model. */
const ownOrigin = "@toolcrib/agent";
const none: ReadonlySet<string> = new Set();

/** Judges a read, a write or a delete. The budget is for what lies below. */
export async function judgeFile(
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<Verdict> {
  const own = effect.kind === "read" ? undefined : judgeOwnState(effect, settings);
  if (own?.decision === "deny") return own;
  const looks = isSeen(effect, settings) ? budget : newBudget(0);
  const verdict = await judgeByRules(effect, origin, groups, settings, looks);
  return own && verdict.decision === "allow" ? own : verdict;
}

/** Judges by rules and the mode: deny wins over ask, ask over allow, and rules over the mode. */
async function judgeByRules(
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<Verdict> {
  const { mode, scope } = settings;
  const what = describeEffect(effect, scope);
  const subject = { what, effect };
  const leftOut = isOfPack(origin, effect.remote) ? settings.denied : none;
  // A shell line could put a folder in its place first.
  const mayBeFile =
    effect.kind === "read" && effect.tree !== true && origin !== shellOrigin && isSeen(effect, settings);
  const isOpenedAsFile = (path: string): boolean => mayBeFile && statsOf(path)?.isDirectory() === false;
  const binding = async (list: "deny" | "ask"): Promise<Verdict | undefined> => {
    const found = await bindingRule(groups[list], effect, leftOut, isOpenedAsFile, budget);
    if (found === undefined) return undefined;
    const verdict = byRule(list, found.rule.text, { effect, what: withBelow(what, found, settings) });
    return found.uncertain && origin === shellOrigin ? { ...verdict, decision: askOrDeny(mode) } : verdict;
  };
  const denied = await binding("deny");
  if (denied) return denied;
  const isFree = mayByMode(effect, settings);
  if (mode === "read-only" && !isFree) {
    const limit = effect.kind === "read" ? "only reads inside the roots" : "no changes";
    return byMode("deny", mode, `the mode read-only allows ${limit}`, subject);
  }
  const asked = await binding("ask");
  if (asked) return asked;
  if (effect.kind !== "read" && origin !== ownOrigin) {
    const verdict = await judgeProtected(effect, what, groups.allow, settings, budget);
    if (verdict) return verdict;
  }
  const allowed = coveringRule(groups.allow, effect, settings);
  if (allowed) return byRule("allow", allowed.text, subject);
  if (isFree) return byMode("allow", mode, `the mode ${mode} allows it`, subject);
  return byMode("ask", mode, whyAsked(effect, settings), subject);
}

/** Judges the names that all below a folder gets at the path of an effect: those that rules are about, or that are protected. */
export async function judgeNewNames(
  folder: string,
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<Verdict[]> {
  const { kind, path = "", givenPath } = effect;
  const renamed = (one: string): ToolEffect => {
    const rest = one.slice(folder.length);
    return { kind, path: path + rest, ...(givenPath === undefined ? {} : { givenPath: givenPath + rest }) };
  };
  const test = (one: string, entry: EntryKind): boolean => {
    const { path: name = "", givenPath: givenName = name } = renamed(one);
    return [name, givenName].some((form) => isLimited(form, entry, groups, settings));
  };
  const { paths, complete } = await listBelow(folder, test, budget);
  const verdicts: Verdict[] = [];
  for (const one of paths) verdicts.push(await judgeFile(renamed(one), origin, groups, settings, budget));
  return complete ? verdicts : [...verdicts, uncertain({ what: describeEffect(effect, settings.scope), effect })];
}

/** Returns whether a change of a path is one that a rule of deny or ask is about, or of a protected path. */
function isLimited(path: string, entry: EntryKind, { deny, ask }: Groups, { protectedPaths }: Settings): boolean {
  const isDirectory = entry.isDirectory();
  const isInRules = [...deny, ...ask].some(({ paths }) => paths?.match(path, isDirectory) !== undefined);
  return isInRules || protectedPaths.match(path) !== undefined;
}

function withBelow(
  what: string,
  binding: { below?: string | undefined; uncertain?: boolean | undefined },
  { scope }: Settings,
): string {
  if (binding.below !== undefined) return `${what}, which holds ${scope.print(binding.below)}`;
  return binding.uncertain ? `${what}, which contains more than can be searched` : what;
}

/** Returns whether the mode alone lets the effect happen. */
function mayByMode({ kind, path }: ToolEffect, { mode, roots, readable }: Settings): boolean {
  if (mode === "full") return true;
  if (path === undefined) return false;
  const inside = roots.some((root) => isInside(root, path));
  if (kind === "read") return inside || readable.some((folder) => isInside(folder, path));
  return mode === "accept-edits" && inside;
}

async function judgeProtected(
  effect: ToolEffect,
  what: string,
  allow: readonly RuleGroup[],
  settings: Settings,
  budget: Budget,
): Promise<Verdict | undefined> {
  const { protectedPaths, bases, scope } = settings;
  const found = await protectedIn(effect, protectedPaths, budget);
  if (found === undefined) return undefined;
  if (found === "uncertain") return uncertain({ what, effect });
  const { entry, below } = found;
  const rule = outrightRule(allow, below ?? effect.path ?? "", entry, protectedPaths, bases);
  if (rule && below === undefined) return byRule("allow", rule.text, { what, effect });
  const named = below === undefined ? "it" : scope.print(below);
  const why = `${named} is protected (${entry.pattern}): ${entry.why}`;
  return { decision: "ask", cause: { by: "protected", pattern: entry.pattern }, what, why, effect };
}

function uncertain(subject: Subject): Verdict {
  const why = "it contains more than can be searched for protected paths";
  return { decision: "ask", cause: { by: "protected", pattern: "" }, why, ...subject };
}

function whyAsked({ kind, path }: ToolEffect, { mode, roots }: Settings): string {
  if (path === undefined) return "it does not say which path";
  if (!roots.some((root) => isInside(root, path))) return "it is outside the roots";
  return `the mode ${mode} asks before each ${kind === "delete" ? "deletion" : "change"}`;
}

/** A rule of deny or ask that binds an effect on files. */
interface Binding {
  readonly rule: Rule;
  /** The path below a folder that it is about; undefined where it is the effect's own. */
  readonly below?: string | undefined;
  /** The folder holds more than was looked through. */
  readonly uncertain?: boolean | undefined;
}

/** Finds the rule of deny or ask that binds an effect on files: on its path, on the path as it was named, or on what lies below. */
async function bindingRule(
  groups: readonly RuleGroup[],
  effect: ToolEffect,
  leftOut: ReadonlySet<string>,
  isOpenedAsFile: (path: string) => boolean,
  budget: Budget,
): Promise<Binding | undefined> {
  const bare = bareRule(groups);
  if (bare) return { rule: bare };
  const { path, givenPath } = effect;
  for (const group of groups) {
    const { paths, byPattern, patterned } = group;
    // A pattern that cannot be tested binds: the effect could be on anything.
    if (path === undefined) {
      if (patterned[0]) return { rule: patterned[0] };
      continue;
    }
    const matching = (one: string | undefined): string | undefined => {
      const found = one === undefined ? undefined : paths?.match(one);
      // A pattern for directories binds what is not there yet, but no file.
      return one !== undefined && found !== undefined && isOpenedAsFile(one) ? paths?.match(one, false) : found;
    };
    const found = matching(path) ?? matching(givenPath);
    const rule = found === undefined ? undefined : byPattern.get(found);
    if (rule) return { rule };
  }
  if (path === undefined || effect.tree !== true) return undefined;
  for (const group of groups) {
    const binding = await bindingBelow(group, path, leftOut, budget);
    if (binding) return binding;
  }
  return undefined;
}

async function bindingBelow(
  group: RuleGroup,
  folder: string,
  leftOut: ReadonlySet<string>,
  budget: Budget,
): Promise<Binding | undefined> {
  const paths = group.pathsWithout(leftOut);
  if (!paths?.mayMatchBelow(folder)) return undefined;
  let pattern: string | undefined;
  const test = (path: string, entry: EntryKind): boolean => {
    pattern = paths.match(path, entry.isDirectory());
    return pattern !== undefined;
  };
  const { found, complete } = await findBelow(folder, test, budget);
  const rule = pattern === undefined ? undefined : group.byPattern.get(pattern);
  if (rule) return { rule, below: found };
  const first = group.patterned.find((one) => !leftOut.has(one.pattern ?? ""));
  return complete || first === undefined ? undefined : { rule: first, uncertain: true };
}

/** Finds the rule of allow that covers an effect on files, by its resolved path alone. */
function coveringRule(groups: readonly RuleGroup[], effect: ToolEffect, settings: Settings): Rule | undefined {
  const { path, tree } = effect;
  const bare = bareRule(groups);
  if (bare || path === undefined) return bare;
  let directory: boolean | undefined;
  const isThereAsDirectory = (): boolean => {
    directory ??= isSeen(effect, settings) && linkStatsOf(path)?.isDirectory() === true;
    return directory;
  };
  for (const { paths, byPattern } of groups) {
    // A pattern that ends in `/` allows the directory itself where there is one.
    const found = paths?.match(path, tree === true) ?? (isThereAsDirectory() ? paths?.match(path, true) : undefined);
    if (found !== undefined) return byPattern.get(found);
  }
  return undefined;
}

/** Lists the protected paths among those that an effect changes. */
async function protectedIn(
  effect: ToolEffect,
  matcher: ProtectedMatcher,
  budget: Budget,
): Promise<{ readonly entry: ProtectedEntry; readonly below?: string | undefined } | "uncertain" | undefined> {
  const { path, givenPath, tree } = effect;
  if (path === undefined) return undefined;
  const entry = matcher.match(path) ?? (givenPath === undefined ? undefined : matcher.match(givenPath));
  if (entry) return { entry };
  if (tree !== true || !matcher.mayMatchBelow(path)) return undefined;
  const { found, complete } = await findBelow(path, (one) => matcher.match(one) !== undefined, budget);
  const inside = found === undefined ? undefined : matcher.match(found);
  if (inside) return { entry: inside, below: found };
  // Files of some names are rarely protected ones.
  return complete || budget.passes?.("") === "descend" ? undefined : "uncertain";
}

/**
 * Finds the rule of allow that covers a protected path and names it outright: its pattern holds the protected name itself, not a folder
 * above it or a wildcard in its place.
 */
export function outrightRule(
  groups: readonly RuleGroup[],
  path: string,
  entry: ProtectedEntry,
  matcher: ProtectedMatcher,
  { roots, home }: PathBases,
): Rule | undefined {
  const names = (pattern: string): boolean =>
    candidatePaths(pattern, roots, home ?? "").some((candidate) => matcher.match(candidate)?.pattern === entry.pattern);
  for (const group of groups) {
    for (const [pattern, rule] of group.byPattern) {
      if (!names(pattern)) continue;
      const alone = compilePathPatterns([pattern], { roots, home });
      if (alone.match(path) !== undefined) return rule;
    }
  }
  return undefined;
}

/** Lists the pattern itself as a path, and each of its names. */
function candidatePaths(pattern: string, roots: readonly string[], home: string): string[] {
  const names = pattern.split("/").filter((name) => name !== "" && name !== "." && name !== "~");
  const whole = pattern.startsWith("/")
    ? [pattern]
    : pattern.startsWith("~/")
      ? [join(home, pattern.slice(2))]
      : roots.map((root) => join(root, pattern));
  return [...whole, ...names.flatMap((name) => roots.map((root) => join(root, name)))];
}
