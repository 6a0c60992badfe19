import { basename } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { describeEffect } from "../describe.ts";
import { isOfPack } from "../packOrigin.ts";
import { bareRule, type Groups, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { askOrDeny, byMode, byRule, type Subject, type Verdict } from "../verdict.ts";
import { compilePart, isSeen, type Listing } from "./folders.ts";
import type { Looks, Place } from "./looks.ts";
import { judgeOwnState, outrightRule } from "./protectedPaths.ts";

export const shellOrigin = "shell";

/** Of the tool that saves the session of an agent, to a path that the program chose, not the model. */
const ownOrigin = "@toolcrib/agent";
const none: ReadonlySet<string> = new Set();

/** The parts that are meant of all below a folder. */
export interface Meant {
  /** A path that is left alone, with all below it. */
  readonly skipped?: string | undefined;
  /** Patterns of names: only what has one. */
  readonly names?: readonly string[] | undefined;
}

/** Judges a read, a write or a delete. */
export function judgeFile(
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  looks: Looks,
  meant: Meant = {},
): Verdict {
  const own = effect.kind === "read" ? undefined : judgeOwnState(effect, settings, looks);
  if (own?.decision === "deny") return own;
  const below = (): Listing => lookBelow(effect, groups, settings, looks, meant);
  const verdict = judgeByRules(effect, origin, groups, settings, looks, below);
  return own && verdict.decision === "allow" ? own : verdict;
}

/** Lists what is meant of all below the folder of an effect. */
function lookBelow(
  effect: ToolEffect,
  { deny, ask }: Groups,
  settings: Settings,
  looks: Looks,
  { skipped, names }: Meant,
): Listing {
  if (!isSeen(effect, settings)) return { entries: [], complete: false };
  const { entries, complete } = looks.below(effect.path ?? "", skipped);
  if (names === undefined) return { entries, complete };
  // Letter case is ignored, as by -iname.
  const fits = names.map((name) => compilePart(name.replaceAll("\\", "").toLowerCase()));
  const isMeant = (path: string): boolean => fits.some((matches) => matches(basename(path).toLowerCase()));
  // Files of some names are rarely protected ones.
  const hasRules = deny.length > 0 || ask.length > 0;
  return { entries: entries.filter(({ path }) => isMeant(path)), complete: complete || !hasRules };
}

/** Judges by rules and the mode: deny wins over ask, ask over allow, and rules over the mode. */
function judgeByRules(
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  looks: Looks,
  below: () => Listing,
): Verdict {
  const { mode, scope } = settings;
  const what = describeEffect(effect, scope);
  const subject = { what, effect };
  const leftOut = isOfPack(origin, effect.remote) ? settings.denied : none;
  // A shell line could put a folder in its place first.
  const mayBeFile =
    effect.kind === "read" && effect.tree !== true && origin !== shellOrigin && isSeen(effect, settings);
  const isOpenedAsFile = (path: string): boolean => mayBeFile && looks.stats(path)?.isDirectory() === false;
  const binding = (list: "deny" | "ask"): Verdict | undefined => {
    const found = bindingRule(groups[list], effect, leftOut, isOpenedAsFile, below);
    if (found === undefined) return undefined;
    const { found: rule, inside, uncertain } = found;
    const holds = inside === undefined ? "" : `, which holds ${scope.print(inside)}`;
    const more = uncertain ? ", which contains more than can be searched" : "";
    const verdict = byRule(list, rule.text, { effect, what: `${what}${holds}${more}` });
    return uncertain && origin === shellOrigin ? { ...verdict, decision: askOrDeny(mode) } : verdict;
  };
  const denied = binding("deny");
  if (denied) return denied;
  const isFree = mayByMode(effect, settings);
  if (mode === "read-only" && !isFree) {
    const limit = effect.kind === "read" ? "only reads inside the roots" : "no changes";
    return byMode("deny", mode, `the mode read-only allows ${limit}`, subject);
  }
  const asked = binding("ask");
  if (asked) return asked;
  if (effect.kind !== "read" && origin !== ownOrigin) {
    const verdict = judgeProtected(effect, what, groups.allow, settings, below);
    if (verdict) return verdict;
  }
  const allowed = coveringRule(groups.allow, effect, settings, looks);
  if (allowed) return byRule("allow", allowed.text, subject);
  if (isFree) return byMode("allow", mode, `the mode ${mode} allows it`, subject);
  return byMode("ask", mode, whyAsked(effect, settings), subject);
}

/** Judges the names that all below a folder gets at the path of an effect: those that rules are about, or that are protected. */
export function judgeNewNames(
  folder: string,
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  looks: Looks,
): Verdict[] {
  const { kind, path = "", givenPath } = effect;
  const renamed = (one: string): ToolEffect => {
    const rest = one.slice(folder.length);
    return { kind, path: path + rest, ...(givenPath === undefined ? {} : { givenPath: givenPath + rest }) };
  };
  const { entries, complete } = looks.below(folder);
  const limited = entries.filter(({ path: one, kind: entry }) => {
    const { path: opened = "", givenPath: named = opened } = renamed(one);
    return isLimited({ named, opened }, entry.isDirectory(), groups, settings);
  });
  const verdicts: Verdict[] = [];
  for (const { path: one } of limited.slice(0, mostJudged))
    verdicts.push(judgeFile(renamed(one), origin, groups, settings, looks));
  if (complete && limited.length <= mostJudged) return verdicts;
  return [...verdicts, uncertain({ what: describeEffect(effect, settings.scope), effect })];
}

/** As many new names as are judged one by one. */
const mostJudged = 20;

/** Returns whether a rule of deny or ask is about a file, by its name or where that leads, or it is protected. */
export function isLimited(
  { named, opened }: Place,
  isDirectory: boolean | undefined,
  { deny, ask }: Pick<Groups, "deny" | "ask">,
  { protectedPaths }: Settings,
): boolean {
  const isIn = (groups: readonly RuleGroup[], name: string): boolean => {
    for (const { paths } of groups) if (paths?.match(name, isDirectory) !== undefined) return true;
    return false;
  };
  const is = (name: string): boolean => isIn(deny, name) || isIn(ask, name) || protectedPaths.match(name) !== undefined;
  return is(named) || (opened !== named && is(opened));
}

/** Returns whether the mode alone lets the effect happen. */
function mayByMode({ kind, path }: ToolEffect, { mode, roots, readable }: Settings): boolean {
  if (mode === "full") return true;
  if (path === undefined) return false;
  const inside = roots.some((root) => isInside(root, path));
  if (kind === "read") return inside || readable.some((folder) => isInside(folder, path));
  return mode === "accept-edits" && inside;
}

function judgeProtected(
  effect: ToolEffect,
  what: string,
  allow: readonly RuleGroup[],
  settings: Settings,
  below: () => Listing,
): Verdict | undefined {
  const { protectedPaths, bases, scope } = settings;
  const found = findNamed(effect, protectedPaths.match, () =>
    protectedPaths.mayMatchBelow(effect.path ?? "") ? below() : undefined,
  );
  if (found === undefined) return undefined;
  if (found === "uncertain") return uncertain({ what, effect });
  const { found: entry, inside } = found;
  const rule = outrightRule(allow, inside ?? effect.path ?? "", entry, protectedPaths, bases);
  if (rule && inside === undefined) return byRule("allow", rule.text, { what, effect });
  const named = inside === undefined ? "it" : scope.print(inside);
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

/** A finding about an effect on files. */
interface Named<Found> {
  readonly found: Found;
  /** The path below a folder that it is about; undefined where it is the effect's own. */
  readonly inside?: string;
  /** The folder holds more than was looked through. */
  readonly uncertain?: true;
}

/**
 * Finds what is about an effect on files: on its path, on the path as it was named, or on what lies below, where `isDirectory` is given.
 * `below` lists that, unless nothing there can match.
 */
function findNamed<Found>(
  { path, givenPath, tree }: ToolEffect,
  match: (path: string, isDirectory?: boolean) => Found | undefined,
  below: () => Listing | undefined,
): Named<Found> | "uncertain" | undefined {
  if (path === undefined) return undefined;
  const own = match(path) ?? (givenPath === undefined ? undefined : match(givenPath));
  if (own !== undefined) return { found: own };
  const listing = tree === true ? below() : undefined;
  for (const { path: inside, kind } of listing?.entries ?? []) {
    const found = match(inside, kind.isDirectory());
    if (found !== undefined) return { found, inside };
  }
  return listing === undefined || listing.complete ? undefined : "uncertain";
}

/** Finds the rule of deny or ask that binds an effect on files. */
function bindingRule(
  groups: readonly RuleGroup[],
  effect: ToolEffect,
  leftOut: ReadonlySet<string>,
  isOpenedAsFile: (path: string) => boolean,
  below: () => Listing,
): Named<Rule> | undefined {
  const { path } = effect;
  // A pattern that cannot be tested binds: the effect could be on anything.
  const any =
    bareRule(groups) ?? (path === undefined ? groups.find((one) => one.patterned[0])?.patterned[0] : undefined);
  if (any) return { found: any };
  const mayBeBelow = groups.flatMap((group) => {
    const paths = effect.tree === true ? group.pathsWithout(leftOut) : undefined;
    return paths?.mayMatchBelow(path ?? "") ? [{ ...group, paths }] : [];
  });
  const match = (one: string, isDirectory?: boolean): Rule | undefined => {
    for (const { paths, byPattern } of isDirectory === undefined ? groups : mayBeBelow) {
      const found = paths?.match(one, isDirectory);
      // A pattern for directories binds what is not there yet, but no file.
      const isFile = found !== undefined && isDirectory === undefined && isOpenedAsFile(one);
      const rule = byPattern.get((isFile ? paths?.match(one, false) : found) ?? "");
      if (rule) return rule;
    }
    return undefined;
  };
  const named = findNamed(effect, match, () => (mayBeBelow.length > 0 ? below() : undefined));
  if (named !== "uncertain") return named;
  const first = mayBeBelow.flatMap(({ patterned }) => patterned).find((one) => !leftOut.has(one.pattern ?? ""));
  return first && { found: first, uncertain: true };
}

/** Finds the rule of allow that covers an effect on files, by its resolved path alone. */
function coveringRule(
  groups: readonly RuleGroup[],
  effect: ToolEffect,
  settings: Settings,
  looks: Looks,
): Rule | undefined {
  const { path, tree } = effect;
  const bare = bareRule(groups);
  if (bare || path === undefined) return bare;
  const isThereAsDirectory = (): boolean => isSeen(effect, settings) && looks.link(path)?.isDirectory() === true;
  for (const { paths, byPattern } of groups) {
    // A pattern that ends in `/` allows the directory itself where there is one.
    const found = paths?.match(path, tree === true) ?? (isThereAsDirectory() ? paths?.match(path, true) : undefined);
    if (found !== undefined) return byPattern.get(found);
  }
  return undefined;
}
