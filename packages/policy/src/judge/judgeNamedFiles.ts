import { basename, join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { describeEffect } from "../describe.ts";
import { beyondIn, beyondOf, type FoundBeyond } from "../programs/beyond.ts";
import { readOnly } from "../programs/readOnly.ts";
import type { FileKind } from "../programs/record.ts";
import type { Groups } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { notTold, type Verdict } from "../verdict.ts";
import { type CommandLine, fileEffect, type LineCommand, wordsOfUnread } from "./commandLine.ts";
import { hasPattern, isSeen, shellPath } from "./folders.ts";
import { isHeld } from "./judgeBeyond.ts";
import { judgeFile, judgeNewNames, type Meant, shellOrigin } from "./judgeFile.ts";
import { judgeMentions, throughProcess } from "./judgeMentions.ts";
import type { Looks } from "./looks.ts";
import { repositoryAt, subcommandOf } from "./unsafeRepository.ts";

/** Not a file of any folder. */
const nullDevice = "/dev/null";

const ifTracked = "git shows such a file if it is tracked";
const ifShown = "it may show what such a file held";
const leavesOut = "it may leave such a file out";

/** Returns whether a folder holds more than was looked through. */
function isUncertain({ decision, cause }: Verdict): boolean {
  return decision === "ask" && (cause.by === "rule" || (cause.by === "protected" && cause.pattern === ""));
}

/** A use of a file that can be told from a line. */
interface FileUse {
  readonly kind: FileKind;
  /** As the line has it. */
  readonly word: string;
  /** Everything below it too. */
  readonly tree: boolean;
  /** The decision if no rule matches. */
  readonly under: Settings;
  /** It is not known whether the command comes by what lies below, as this says: a rule of deny asks then. */
  readonly maybe?: string | undefined;
  readonly meant?: Meant | undefined;
  /** In a folder it opens what links lead to. */
  readonly followsLinks?: boolean;
}

/**
 * Judges the files that a shell line names: what redirections and read-only commands open, what `rm` and `mv` take away, and every
 * other word that could be a path. What is merely allowed is left out.
 */
export function judgeNamedFiles(line: CommandLine, commandGroups: Groups, settings: Settings): Verdict[] {
  const { looks, effect, directories } = line;
  const { mode, scope } = settings;
  const subject = { what: describeEffect(effect, scope), effect };
  const held = isHeld(effect, settings);
  const verdicts: Verdict[] = [];
  for (const { kind, word, tree, under, maybe, followsLinks, meant } of usesOf(line, settings)) {
    const groups = settings.ofFiles[kind];
    for (const directory of directories) {
      const paths = kind !== "write" || tree ? looks.expand(directory, word) : [word];
      if (!looks.take(paths.length)) break;
      for (const path of paths) {
        const place = looks.place(directory, path);
        const file = fileEffect(kind, place, effect.remote, tree);
        const verdict = judgeFile(file, shellOrigin, groups, under, looks, meant);
        const writesInput = kind !== "read" && line.hasInput;
        if (effect.remote === undefined && looks.leadsThroughProcess(place, writesInput))
          verdicts.push(notTold("unreadable", mode, throughProcess(path), subject));
        if (followsLinks && (under.mode !== "full" || settings.limited.has("read")))
          verdicts.push(...linksBelow(file, settings, looks));
        if (held && (maybe === leavesOut || (maybe === undefined && isUncertain(verdict)))) continue;
        if (maybe && verdict.decision === "deny" && under.mode !== "read-only")
          verdicts.push({ ...verdict, decision: "ask", why: `${verdict.why}, and ${maybe}` });
        else if (verdict.decision !== "allow") verdicts.push(verdict);
      }
    }
  }
  const changing = line.unreadable === undefined ? line.commands.filter(({ changes }) => changes) : [];
  for (const { put } of changing.flatMap(({ beyond }) => beyond)) {
    for (const directory of put ? directories : []) if (put) verdicts.push(...judgePut(put, directory, line, settings));
  }
  verdicts.push(...judgeMentions(line, commandGroups, settings));
  if (!looks.take(0)) {
    const why = "its words and file patterns stand for too many files";
    verdicts.push(notTold("unreadable", mode, why, subject));
  }
  return verdicts;
}

function usesOf(line: CommandLine, settings: Settings): readonly FileUse[] {
  // If the command itself is allowed, only forbidden and protected files count.
  const forbiddenAlone = settings.inFull;
  const usual = line.allowsAll ? forbiddenAlone : settings;
  const uses: FileUse[] = [];
  for (const { kind, path } of line.redirections) uses.push({ kind, word: path, tree: false, under: usual });
  const addBeyond = (all: readonly FoundBeyond[], command?: LineCommand): void => {
    for (const found of all) {
      // A rule that spells all of it out has answered what may be left out.
      if (command?.spelledOut && found.partly) continue;
      for (const kind of found.kinds)
        if (kind !== "read" || settings.limited.has(kind))
          uses.push(...usesBelow(found, kind, command, line).map((use) => ({ ...use, under: forbiddenAlone })));
    }
  };
  for (const words of line.unreadable === undefined ? [] : wordsOfUnread(line, settings))
    addBeyond(beyondIn(words, false));
  const commands = line.unreadable === undefined ? line.commands : [];
  // In any folder git may show the whole repository, but only tracked files.
  if (settings.limited.has("read") && commands.some(printsRepository)) {
    for (const root of settings.roots)
      uses.push({ kind: "read", word: root, tree: true, under: usual, maybe: ifTracked });
  }
  const changesFound = commands.some(({ moreWords, words }) => moreWords === true && mayChange(words));
  for (const command of commands) {
    const { reads, words } = command;
    if (command.moves) continue;
    // What it finds is handed to a command that may do anything with it.
    if (changesFound && basename(words[0] ?? "") === "find") addBeyond(beyondOf([...words, "-delete"]), command);
    addBeyond(command.changes ? beyondIn(command.known, true, command.moreWords) : command.beyond, command);
    if (typeof reads === "string") continue;
    const under = settings.mode !== "read-only" && command.allowedBy !== undefined ? forbiddenAlone : usual;
    // Every read is allowed.
    if (under.mode === "full" && !settings.limited.has("read")) continue;
    // Without a path most look at the directory that they run in.
    const paths = reads.paths.length === 0 && settings.limited.has("read") ? ["."] : reads.paths;
    const tree = reads.contents === true && !printsRepository(command);
    if (printsRepository(command))
      for (const top of repositoriesAbove(line, settings))
        uses.push({ kind: "read", word: top, tree: true, under, maybe: ifTracked });
    for (const word of paths) uses.push({ kind: "read", word, tree, under, followsLinks: words[0] === "diff" });
  }
  if (uses.length < 2) return uses.filter(({ word }) => word !== nullDevice);
  // Two are one if they are judged alike.
  const keyOf = ({ under, ...use }: FileUse): string => JSON.stringify([under.mode, use]);
  return [...new Map(uses.map((use) => [keyOf(use), use])).values()].filter(({ word }) => word !== nullDevice);
}

/** Returns whether a command may do more than read with the words that it gets in the place of `{}`, or behind its own. */
function mayChange(words: readonly string[]): boolean {
  return typeof readOnly({ words: words.filter((word) => word !== "{}") }) === "string";
}

/** Judges the names that the operands of a command, and all below them, get at its last one. */
function judgePut(
  { sources, target, links }: NonNullable<FoundBeyond["put"]>,
  directory: string,
  line: CommandLine,
  settings: Settings,
): Verdict[] {
  const { looks, effect } = line;
  const under = settings.inFull;
  const groups = settings.ofFiles.write;
  const hasRules = [...groups.deny, ...groups.ask].length > 0;
  const verdicts: Verdict[] = [];
  for (const place of looks.expand(directory, target)) {
    const at = fileEffect("write", looks.place(directory, place), effect.remote);
    // A rule that spells a protected target out is about what lies in it, too.
    const isSpelt = settings.protectedPaths.match(at.givenPath ?? at.path ?? "") !== undefined;
    for (const source of sources.flatMap((word) => looks.expand(directory, word))) {
      if (!looks.take(1)) return verdicts;
      const path = shellPath(directory, source);
      const target = looks.place(directory, join(place, basename(path)));
      const file = fileEffect("write", target, effect.remote);
      verdicts.push(judgeFile(file, shellOrigin, groups, under, looks));
      if (!isSeen({ path, remote: effect.remote }, settings)) continue;
      const places = [at.path ?? "", file.path ?? ""];
      // Below a link a name is only protected if that of the link begins with a dot (`.hg/hgrc`).
      const isLink = links || looks.link(path)?.isSymbolicLink() === true;
      if (isLink && !hasRules && !places.some((one) => basename(one).startsWith("."))) continue;
      for (const folder of links ? looks.foldersAt(source, places) : looks.foldersOf(path, places))
        for (const to of [at, file]) verdicts.push(...judgeNewNames(folder, to, shellOrigin, groups, under, looks));
    }
    if (isSpelt) return verdicts.filter(({ cause }) => cause.by !== "protected");
  }
  return verdicts.filter(({ decision }) => decision !== "allow");
}

/** Lists the working trees that git may take which lie around a root, so that it prints what is outside. */
function repositoriesAbove(
  { directories, effect, looks }: CommandLine,
  { roots, readable }: Settings,
): readonly string[] {
  if (effect.remote !== undefined) return [];
  const tops = directories.flatMap((directory) => repositoryAt(directory, looks) ?? []);
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
  { folders, ofRepository, byGit, partly, followsLinks, names }: FoundBeyond,
  kind: FileKind,
  command: LineCommand | undefined,
  { effect, directories, looks }: CommandLine,
): Omit<FileUse, "under">[] {
  if (folders === undefined) return [];
  // A line that cannot be read may let a pattern stand for names with a dot, too.
  const named = folders.flatMap((word) =>
    command === undefined && hasPattern(word) && kind === "delete"
      ? [word, word.slice(0, word.lastIndexOf("/", word.search(/[*?[]/)) + 1) || "."]
      : [word],
  );
  const tops =
    effect.remote === undefined ? [...new Set(directories.map((one) => repositoryAt(one, looks) ?? one))] : ["."];
  const words = folders.length > 0 ? named : ofRepository ? tops : ["."];
  const meantOf = (top: string): Meant | undefined =>
    names ? { names } : byGit ? { skipped: join(top, ".git") } : undefined;
  const maybe = partly === "history" ? ifShown : partly ? leavesOut : undefined;
  return words.map((word) => ({ kind, word, tree: true, maybe, followsLinks, meant: meantOf(tops[0] ?? ".") }));
}

/** Judges the links in a folder whose links are followed. */
function linksBelow(effect: ToolEffect, settings: Settings, looks: Looks): Verdict[] {
  const { mode, scope } = settings;
  const { entries, complete } = isSeen(effect, settings)
    ? looks.below(effect.path ?? "")
    : { entries: [], complete: false };
  if (complete && !entries.some(({ kind }) => kind.isSymbolicLink())) return [];
  const why = "it follows the links in a folder, which may lead anywhere";
  return [notTold("unreadable", mode, why, { what: describeEffect(effect, scope), effect })];
}
