import { basename, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { describeEffect } from "../describe.ts";
import { beyondIn, beyondOf, type FoundBeyond } from "../programs/beyond.ts";
import { readOnly } from "../programs/readOnly.ts";
import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { type Decision, notTold, type Verdict } from "../verdict.ts";
import { type CommandLine, isChanging, isPlainChange, type LineCommand, rawWords } from "./commandLine.ts";
import {
  type Budget,
  compilePart,
  expandPattern,
  findBelow,
  foldersAt,
  foldersOf,
  hasPattern,
  isSeen,
  leadsThroughProcess,
  linkStatsOf,
  newBudget,
  pathFrom,
  shellPath,
} from "./folders.ts";
import { isLimited } from "./judgeBeyond.ts";
import { type Groups, judgeFile, judgeNewNames, shellOrigin } from "./judgeFile.ts";
import { judgeMentions, throughProcess } from "./judgeMentions.ts";
import { repositoryAt, subcommandOf } from "./unsafeRepository.ts";

/** Not a file of any folder. */
const nullDevice = "/dev/null";

const ifTracked = "git shows such a file if it is tracked";

/** A use of a file that can be told from a line. */
interface FileUse {
  readonly kind: "read" | "write" | "delete";
  /** As the line has it. */
  readonly word: string;
  /** Everything below it too. */
  readonly tree: boolean;
  /** The decision if no rule matches. */
  readonly under: Settings;
  /** It is not known whether the command comes by what lies below, as this says: a rule of deny asks then. */
  readonly maybe?: string | undefined;
  /** What a look through the folder leaves out. */
  readonly passes?: Budget["passes"];
  /** In a folder it opens what links lead to. */
  readonly followsLinks?: boolean;
}

/**
 * Judges the files that a shell line names: what redirections and read-only commands open, what `rm` and `mv` take away, and every
 * other word that could be a path. What is merely allowed is left out.
 */
export async function judgeNamedFiles(
  line: CommandLine,
  commandGroups: Groups,
  settings: Settings,
  lookBudget: Budget,
): Promise<Verdict[]> {
  const { budget, effect } = line;
  const { mode, scope } = settings;
  const subject = { what: describeEffect(effect, scope), effect };
  const directories = line.directories ?? [effect.cwd ?? scope.cwd];
  const verdicts: Verdict[] = [];
  for (const { kind, word, tree, under, maybe, followsLinks, passes } of usesOf(line, settings)) {
    const groups = effectGroups(kind, settings);
    for (const directory of directories) {
      const paths = hasPattern(word) && (kind !== "write" || tree) ? expandPattern(directory, word, budget) : [word];
      if (!budget.take(paths.length)) break;
      for (const path of paths) {
        const file = fileEffect(kind, directory, path, tree, effect.remote);
        const verdict = await judgeFile(file, shellOrigin, groups, under, { ...lookBudget, passes });
        const { path: led = "", givenPath = led } = file;
        if (effect.remote === undefined && leadsThroughProcess(givenPath, led, kind !== "read" && line.hasInput))
          verdicts.push(notTold("unreadable", mode, throughProcess(path), subject));
        if (followsLinks && (under.mode !== "full" || isLimited("read", settings)))
          verdicts.push(...(await linksBelow(file, settings, lookBudget)));
        if (maybe && verdict.decision === "deny" && under.mode !== "read-only")
          verdicts.push({ ...verdict, decision: "ask", why: `${verdict.why}, and ${maybe}` });
        else if (verdict.decision !== "allow") verdicts.push(verdict);
      }
    }
  }
  const changing = line.unreadable === undefined ? line.commands.filter(isChanging) : [];
  for (const { put } of changing.flatMap(({ words }) => beyondOf(words))) {
    for (const directory of put ? directories : [])
      if (put) verdicts.push(...(await judgePut(put, directory, line, settings, lookBudget)));
  }
  verdicts.push(...judgeMentions(line, directories, commandGroups, settings));
  if (!budget.take(0)) {
    const why = "its words and file patterns stand for too many files";
    verdicts.push(notTold("unreadable", mode, why, subject));
  }
  return verdicts;
}

function usesOf(line: CommandLine, settings: Settings): readonly FileUse[] {
  // If the command itself is allowed, only forbidden and protected files count.
  const forbiddenAlone: Settings = { ...settings, mode: "full" };
  const usual = line.allowsAll ? forbiddenAlone : settings;
  const uses: FileUse[] = [];
  for (const { kind, path } of line.redirections) uses.push({ kind, word: path, tree: false, under: usual });
  const addBeyond = (words: readonly string[], command?: LineCommand): void => {
    const isReader = command !== undefined && !isChanging(command);
    for (const found of isReader ? beyondOf(words) : beyondIn(words, command !== undefined)) {
      const below = usesBelow(found, command, line, settings);
      const kinds = found.kinds.filter((kind) => kind !== "read" || isLimited(kind, settings));
      for (const kind of kinds) uses.push(...below.map((use) => ({ ...use, kind, under: forbiddenAlone })));
    }
  };
  if (line.unreadable !== undefined) addBeyond(rawWords(line.text));
  const commands = line.unreadable === undefined ? line.commands : [];
  // In any folder git may show the whole repository, but only tracked files.
  if (isLimited("read", settings) && commands.some(printsRepository)) {
    for (const root of settings.roots)
      uses.push({ kind: "read", word: root, tree: true, under: usual, maybe: ifTracked });
  }
  const changesFound = commands.some(({ moreWords, words }) => moreWords === true && mayChange(words));
  for (const command of commands) {
    const { reads, words } = command;
    if (isPlainChange(words)) continue;
    // What it finds is handed to a command that may do anything with it.
    if (changesFound && basename(words[0] ?? "") === "find") addBeyond([...words, "-delete"], command);
    addBeyond(words, command);
    if (typeof reads === "string") continue;
    const under = settings.mode !== "read-only" && command.allowedBy !== undefined ? forbiddenAlone : usual;
    // Every read is allowed.
    if (under.mode === "full" && !isLimited("read", settings)) continue;
    // Without a path most look at the directory that they run in.
    const paths = reads.paths.length === 0 && isLimited("read", settings) ? ["."] : reads.paths;
    const tree = reads.contents === true && !printsRepository(command);
    if (printsRepository(command))
      for (const top of repositoriesAbove(line, settings))
        uses.push({ kind: "read", word: top, tree: true, under, maybe: ifTracked });
    for (const word of paths) uses.push({ kind: "read", word, tree, under, followsLinks: words[0] === "diff" });
  }
  return distinct(uses).filter(({ word }) => word !== nullDevice);
}

/** Returns whether a command may do more than read with the words that it gets in the place of `{}`, or behind its own. */
function mayChange(words: readonly string[]): boolean {
  return typeof readOnly({ words: words.filter((word) => word !== "{}") }) === "string";
}

/** Leaves out repeated uses. Two are one only if they are judged by the same settings and leave out the same paths. */
function distinct(uses: readonly FileUse[]): FileUse[] {
  const numbers = new Map<unknown, number>();
  const numberOf = (one: unknown): number => {
    const number = numbers.get(one) ?? numbers.size;
    numbers.set(one, number);
    return number;
  };
  const keyOf = (use: FileUse): string =>
    JSON.stringify({ ...use, under: numberOf(use.under), passes: numberOf(use.passes) });
  return [...new Map(uses.map((use) => [keyOf(use), use])).values()];
}

/** Judges the names that the operands of a command, and all below them, get at its last one. */
async function judgePut(
  { sources, target, links }: NonNullable<FoundBeyond["put"]>,
  directory: string,
  { effect: { remote }, budget }: CommandLine,
  settings: Settings,
  lookBudget: Budget,
): Promise<Verdict[]> {
  const under: Settings = { ...settings, mode: "full" };
  const groups = effectGroups("write", settings);
  const hasRules = [...groups.deny, ...groups.ask].length > 0;
  const verdicts: Verdict[] = [];
  for (const place of expandPattern(directory, target, budget)) {
    const at = fileEffect("write", directory, place, false, remote);
    // A rule that spells a protected target out is about what lies in it, too.
    const isSpelt = settings.protectedPaths.match(at.givenPath ?? at.path ?? "") !== undefined;
    for (const source of sources.flatMap((word) => expandPattern(directory, word, budget))) {
      if (!budget.take(1)) return verdicts;
      const path = shellPath(directory, source);
      const file = fileEffect("write", directory, join(place, basename(path)), false, remote);
      verdicts.push(await judgeFile(file, shellOrigin, groups, under, lookBudget));
      if (!isSeen({ kind: "read", path, remote }, settings)) continue;
      const places = [at.path ?? "", file.path ?? ""];
      // Below a link a name is only protected if that of the link begins with a dot (`.hg/hgrc`).
      const isLink = links || linkStatsOf(path)?.isSymbolicLink() === true;
      if (isLink && !hasRules && !places.some((one) => basename(one).startsWith("."))) continue;
      for (const folder of links ? foldersAt(source, places) : foldersOf(path, places))
        for (const to of [at, file])
          verdicts.push(...(await judgeNewNames(folder, to, shellOrigin, groups, under, lookBudget)));
    }
    if (isSpelt) return verdicts.filter(({ cause }) => cause.by !== "protected");
  }
  return verdicts.filter(({ decision }) => decision !== "allow");
}

/** Lists the working trees that git may take which lie around a root, so that it prints what is outside. */
function repositoriesAbove(
  { directories, effect }: CommandLine,
  { roots, readable, scope }: Settings,
): readonly string[] {
  if (effect.remote !== undefined) return [];
  const tops = (directories ?? [effect.cwd ?? scope.cwd]).flatMap((directory) => repositoryAt(directory) ?? []);
  return [...new Set(tops)].filter((top) => ![...roots, ...readable].some((folder) => isInside(folder, top)));
}

function printsRepository({ reads, ofRepository, words }: LineCommand): boolean {
  if (!ofRepository) return false;
  // With an option that the record does not have, too (`git grep --no-index`).
  return typeof reads === "string"
    ? /^(?:diff|grep|log|show)$/.test(subcommandOf(words) ?? "")
    : reads.contents === true;
}

/** Lists what a command does with all below folders. */
function usesBelow(
  { folders, ofRepository, byGit, partly, followsLinks, names, kinds }: FoundBeyond,
  command: LineCommand | undefined,
  { effect, directories }: CommandLine,
  { scope }: Settings,
): Omit<FileUse, "under" | "kind">[] {
  if (folders === undefined) return [];
  // A line that cannot be read may let a pattern stand for names with a dot, too.
  const named = folders.flatMap((word) =>
    command === undefined && hasPattern(word) && kinds.includes("delete")
      ? [word, word.slice(0, word.lastIndexOf("/", word.search(/[*?[]/)) + 1) || "."]
      : [word],
  );
  const all = directories ?? [effect.cwd ?? scope.cwd];
  const tops = effect.remote === undefined ? [...new Set(all.map((one) => repositoryAt(one) ?? one))] : ["."];
  const words = folders.length > 0 ? named : ofRepository ? tops : ["."];
  const isOwnFolder = (path: string): "skip" | undefined =>
    tops.some((one) => path === join(one, ".git")) ? "skip" : undefined;
  const passes = names ? onlyNamed(names) : byGit ? isOwnFolder : undefined;
  const maybe = partly ? "it may leave such a file out" : undefined;
  return words.map((word) => ({ word, tree: true, maybe, followsLinks, passes }));
}

/** Passes what has none of the names, whatever lies below it. */
function onlyNamed(names: readonly string[]): Budget["passes"] {
  // Letter case is ignored, as by -iname.
  const fits = names.map((name) => compilePart(name.replaceAll("\\", "").toLowerCase()));
  return (path) => (fits.some((matches) => matches(basename(path).toLowerCase())) ? undefined : "descend");
}

/** Judges the links in a folder whose links are followed. */
async function linksBelow(effect: ToolEffect, settings: Settings, budget: Budget): Promise<Verdict[]> {
  const { mode, scope } = settings;
  const { path = "" } = effect;
  const looks = isSeen(effect, settings) ? budget : newBudget(0);
  const { found, complete } = await findBelow(path, (_, entry) => entry.isSymbolicLink(), looks);
  if (found === undefined && complete) return [];
  const why = "it follows the links in a folder, which may lead anywhere";
  return [notTold("unreadable", mode, why, { what: describeEffect(effect, scope), effect })];
}

/** Returns the rules about effects alone: those about the tool were tested against the command. */
function effectGroups(kind: FileUse["kind"], { rules }: Settings): Groups {
  const of = (list: Decision): readonly RuleGroup[] => {
    const group = rules[list].ofEffect(kind);
    return group === undefined ? [] : [group];
  };
  return { allow: of("allow"), ask: of("ask"), deny: of("deny") };
}

function fileEffect(
  kind: ToolEffect["kind"],
  directory: string,
  word: string,
  tree: boolean,
  remote: string | undefined,
): ToolEffect {
  // Links of a remote cannot be followed from here.
  if (remote !== undefined) return { kind, path: shellPath(directory, word), ...(tree ? { tree } : {}), remote };
  const path = pathFrom(directory, word);
  const givenPath = shellPath(directory, word);
  return { kind, path, ...(givenPath === path ? {} : { givenPath }), ...(tree ? { tree } : {}) };
}
