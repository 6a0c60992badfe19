import { basename, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { describeEffect, oneLine } from "../describe.ts";
import { belowOf, type FoundBelow } from "../programs/below.ts";
import { readOnly } from "../programs/readOnly.ts";
import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { type Decision, notTold, type Verdict } from "../verdict.ts";
import {
  type CommandLine,
  changesNamed,
  handsOn,
  isChanging,
  isPlainChange,
  type LineCommand,
  rawWords,
} from "./commandLine.ts";
import {
  type Budget,
  expandPattern,
  findBelow,
  hasPattern,
  isSeen,
  leadsThroughProcess,
  newBudget,
  pathFrom,
  shellPath,
} from "./folders.ts";
import { ignoredIn } from "./gitIgnored.ts";
import { type Groups, judgeFile, shellOrigin } from "./judgeFile.ts";
import { judgeMentions, throughProcess } from "./judgeMentions.ts";
import { listedFiles, namedBelow } from "./listedFiles.ts";
import type { ProtectedMatcher } from "./protectedPaths.ts";
import { leavesFiles, repositoryAt, subcommandOf } from "./unsafeRepository.ts";

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
  /** The paths that it leaves out of a folder. */
  readonly skips?: Budget["skips"];
  /** Only files whose names fit one of these patterns. */
  readonly names?: readonly string[] | undefined;
  /** In a folder it opens what links lead to. */
  readonly followsLinks?: boolean;
  /** It is a list of files that are opened too. */
  readonly lists?: boolean | undefined;
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
  for (const { kind, word, tree, under, maybe, names, followsLinks, lists, skips } of usesOf(line, settings)) {
    const groups = effectGroups(kind, settings);
    for (const directory of directories) {
      const meant = hasPattern(word) && (kind !== "write" || tree) ? expandPattern(directory, word, budget) : [word];
      const paths = names ? await namedBelow(meant, names, directory, groups, settings, lookBudget) : meant;
      const listed = lists ? paths.map((path) => listedFiles(pathFrom(directory, path), directory)) : [];
      if (line.changesFiles ? listed.length > 0 : listed.includes(undefined)) {
        const why = `it is not known which files the list ${oneLine(word, 120)} names`;
        verdicts.push(notTold("unreadable", mode, why, subject));
      }
      const opened = [...paths, ...listed.flatMap((names) => names ?? [])];
      if (!budget.take(opened.length)) break;
      for (const path of opened) {
        const file = fileEffect(kind, directory, path, tree && !names, effect.remote);
        const verdict = await judgeFile(file, shellOrigin, groups, under, { ...lookBudget, skips });
        const { path: led = "", givenPath = led } = file;
        if (effect.remote === undefined && leadsThroughProcess(givenPath, led, kind !== "read" && line.hasInput))
          verdicts.push(notTold("unreadable", mode, throughProcess(path), subject));
        if (followsLinks && (under.mode !== "full" || isReadingLimited(settings)))
          verdicts.push(...(await linksBelow(file, settings, lookBudget)));
        if (maybe && verdict.decision === "deny" && under.mode !== "read-only")
          verdicts.push({ ...verdict, decision: "ask", why: `${verdict.why}, and ${maybe}` });
        else if (verdict.decision !== "allow") verdicts.push(verdict);
      }
    }
  }
  if (line.allowsAll && isAboutFiles(settings) && line.commands.some(getsWords)) {
    const why = "rules are about files, and a command in it gets words that the line does not show";
    verdicts.push(notTold("unreadable", mode, why, subject));
  }
  verdicts.push(...judgeMentions(line, directories, commandGroups, settings));
  if (!budget.take(0)) {
    const why = "its words and file patterns stand for too many files";
    verdicts.push(notTold("unreadable", mode, why, subject));
  }
  return verdicts;
}

/** Returns whether a command gets words that the line does not show, or hands some to another that cannot be told. */
function getsWords(command: LineCommand): boolean {
  return command.moreWords === true || handsOn(command);
}

function usesOf(line: CommandLine, settings: Settings): readonly FileUse[] {
  // If the command itself is allowed, only forbidden and protected files count.
  const forbiddenAlone: Settings = { ...settings, mode: "full" };
  // A protected file can be put back.
  const byRulesAlone: Settings = { ...forbiddenAlone, protectedPaths: nothingProtected, ownState: undefined };
  const usual = line.allowsAll ? forbiddenAlone : settings;
  const uses: FileUse[] = [];
  for (const { kind, path } of line.redirections) uses.push({ kind, word: path, tree: false, under: usual });
  const addBelow = (words: readonly string[], command?: LineCommand): void => {
    for (const found of belowOf(words, command !== undefined)) {
      const isLimited = found.kind !== "read" || isReadingLimited(settings);
      if (!isLimited && !found.takesAway) continue;
      const below = usesBelow(found, command, line, settings);
      const under = found.isChosen ? byRulesAlone : forbiddenAlone;
      if (isLimited) uses.push(...below.map((use) => ({ ...use, under })));
      if (found.takesAway) uses.push(...below.map((use) => ({ ...use, kind: "delete" as const, under: byRulesAlone })));
    }
  };
  if (line.unreadable !== undefined) addBelow(rawWords(line.text));
  const commands = line.unreadable === undefined ? line.commands : [];
  // In any folder git may show the whole repository, but only tracked files.
  if (isReadingLimited(settings) && commands.some(printsRepository)) {
    for (const root of settings.roots)
      uses.push({ kind: "read", word: root, tree: true, under: usual, maybe: ifTracked });
  }
  const changesFound = commands.some(({ moreWords, words }) => moreWords === true && mayChange(words));
  for (const command of commands) {
    const { reads, words } = command;
    if (isPlainChange(words)) continue;
    // What it finds is handed to a command that may do anything with it.
    if (changesFound && basename(words[0] ?? "") === "find") addBelow([...words, "-delete"], command);
    if (typeof reads === "string") {
      addBelow(words, command);
      continue;
    }
    const under = settings.mode !== "read-only" && command.allowedBy !== undefined ? forbiddenAlone : usual;
    // Every read is allowed.
    if (under.mode === "full" && !isReadingLimited(settings)) continue;
    // Without a path most look at the directory that they run in.
    const paths = reads.paths.length === 0 && isReadingLimited(settings) ? ["."] : reads.paths;
    const tree = reads.contents === true && !printsRepository(command);
    if (printsRepository(command))
      for (const top of repositoriesAbove(line, settings))
        uses.push({ kind: "read", word: top, tree: true, under, maybe: ifTracked });
    for (const word of paths)
      uses.push({ kind: "read", word, tree, under, followsLinks: words[0] === "diff", lists: reads.lists });
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
    JSON.stringify({ ...use, under: numberOf(use.under), skips: numberOf(use.skips) });
  return [...new Map(uses.map((use) => [keyOf(use), use])).values()];
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

const nothingProtected: ProtectedMatcher = { match: () => undefined, mayMatchBelow: () => false };

/** Lists what a command does with all below folders. */
function usesBelow(
  found: FoundBelow,
  command: LineCommand | undefined,
  line: CommandLine,
  settings: Settings,
): Omit<FileUse, "under">[] {
  const { kind, ofRepository, byGit, partly, followsLinks, leavesIgnored, names } = found;
  // A line that cannot be read may let a pattern stand for names with a dot, too.
  const named = found.folders.flatMap((word) =>
    command === undefined && hasPattern(word) && kind === "delete"
      ? [word, word.slice(0, word.lastIndexOf("/", word.search(/[*?[]/)) + 1) || "."]
      : [word],
  );
  const { effect } = line;
  const directories = line.directories ?? [effect.cwd ?? settings.scope.cwd];
  const tops = effect.remote === undefined ? [...new Set(directories.map((one) => repositoryAt(one) ?? one))] : ["."];
  const folders = found.folders.length > 0 ? named : ofRepository ? tops : ["."];
  const [top = ".", another] = tops;
  const isOwnFolder = (path: string): boolean => tops.some((one) => path === join(one, ".git"));
  const others = line.commands.filter((one) => one !== command);
  const isKnown = another === undefined && !others.some((one) => changesNamed(one) || mayChangeIgnored(one));
  const skips = leavesIgnored && isKnown && !line.writesFiles ? ignoredIn(top) : byGit ? isOwnFolder : undefined;
  const maybe = partly ? "it may take such a file" : undefined;
  return folders.map((word) => ({ kind, word, tree: true, maybe, names, followsLinks, skips }));
}

/** Returns whether a command may change a list of ignored files: one that its words name, or could by a pattern, or one that git takes away. */
function mayChangeIgnored(command: LineCommand): boolean {
  if (!isChanging(command)) return false;
  if (command.ofRepository === true && !leavesFiles(command)) return true;
  return command.words.some((word) => word.includes(".gitignore") || hasPattern(word));
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
export function effectGroups(kind: FileUse["kind"], { rules }: Settings): Groups {
  const of = (list: Decision): readonly RuleGroup[] => {
    const group = rules[list].ofEffect(kind);
    return group === undefined ? [] : [group];
  };
  return { allow: of("allow"), ask: of("ask"), deny: of("deny") };
}

/** Returns whether a rule is about files: a link in a remote could lead to one of them. */
export function isAboutFiles({ rules }: Settings): boolean {
  const kinds = ["read", "write", "delete"] as const;
  return kinds.some((kind) => rules.deny.ofEffect(kind) !== undefined || rules.ask.ofEffect(kind) !== undefined);
}

function isReadingLimited({ rules }: Settings): boolean {
  return rules.deny.ofEffect("read") !== undefined || rules.ask.ofEffect("read") !== undefined;
}

export function fileEffect(
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
