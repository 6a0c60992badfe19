import { basename, dirname, join } from "node:path";
import { isInside, isOnOtherShare } from "@toolcrib/kit/files";
import { oneLine } from "../describe.ts";
import { type Placed, placedBy } from "../programs/placed.ts";
import type { Settings } from "../settings.ts";
import { notTold, type Subject, type Verdict } from "../verdict.ts";
import { type CommandLine, changesNamed, isChanging, isPlainChange, type LineCommand } from "./commandLine.ts";
import {
  type Budget,
  type EntryKind,
  expandPattern,
  foldersAt,
  foldersOf,
  linkStatsOf,
  listBelow,
  pathFrom,
  statsOf,
} from "./folders.ts";
import { isInRules, isLimited, judgeFile, shellOrigin } from "./judgeFile.ts";
import { effectGroups, fileEffect, isAboutFiles } from "./judgeNamedFiles.ts";

/*
 * A line is judged by what the disk holds before it runs. `mv`, `cp` and their like put what they take under names that the line does not
 * show, and a link leads elsewhere from another place.
 */

/** A command that puts things under other names. */
interface Placing {
  readonly command: LineCommand;
  readonly placed: Placed;
}

/** The files that a command takes, as far as they can be found. */
interface Taken {
  readonly verdicts: readonly Verdict[];
  readonly links: boolean;
  /** The reason why not all of it can be told. */
  readonly unknown?: string | undefined;
}

/**
 * Judges what the commands of a line put under other names: what rules forbid to read there or to write here, protected names, and whether
 * the rest of the line could open it by its new name.
 */
export async function judgePlaced(line: CommandLine, settings: Settings, budget: Budget): Promise<Verdict[]> {
  if (line.unreadable !== undefined || settings.mode === "read-only") return [];
  const all = line.commands.flatMap((command): Placing[] => {
    const placed = placedBy(command);
    return placed === undefined ? [] : [{ command, placed }];
  });
  const verdicts: Verdict[] = [];
  for (const placing of all) {
    const { command, placed } = placing;
    const subject: Subject = { what: `run: ${oneLine(command.text)}`, effect: line.effect, command: command.text };
    let { unseen } = placed;
    let why: string | undefined;
    for (const directory of directoriesOf(line, settings)) {
      for (const source of placed.sources.flatMap((word) => expandPattern(directory, word, line.budget))) {
        if (!line.budget.take(1)) break;
        const taken = await lookAt(source, directory, placing, line, settings, budget);
        verdicts.push(...taken.verdicts);
        unseen ||= taken.links;
        why ??= taken.unknown;
      }
    }
    // The user is asked anyway if nothing allows it, and in a mode that allows all only rules about files count.
    if (line.allowsAll ? !isAboutFiles(settings) : command.allowedBy === undefined) continue;
    if (unseen && (placed.sources.length > 1 || opensOthers(line, command)))
      why ??= "it may put a link where another part of the line opens a file";
    if (why !== undefined) verdicts.push(notTold("unreadable", settings.mode, why, subject));
  }
  return verdicts;
}

function directoriesOf({ directories, effect }: CommandLine, { scope }: Settings): readonly string[] {
  return directories ?? [effect.cwd ?? scope.cwd];
}

/** Looks at one thing that a command takes, and at the names that it and all below it get. */
async function lookAt(
  word: string,
  directory: string,
  { command, placed }: Placing,
  line: CommandLine,
  settings: Settings,
  budget: Budget,
): Promise<Taken> {
  const { remote } = line.effect;
  const under: Settings = { ...settings, mode: "full" };
  const [reading, writing] = [effectGroups("read", settings), effectGroups("write", settings)];
  const verdicts: Verdict[] = [];
  // The name itself, which may be a link; a slash at its end asks for what that leads to.
  const path = /\/\.?$/.test(word)
    ? pathFrom(directory, word)
    : join(pathFrom(directory, dirname(word)), basename(word));
  const targets = expandPattern(directory, placed.target, line.budget).map((target) => pathFrom(directory, target));
  const starts = targets.flatMap((target) => [target, join(target, basename(path))]);
  const judge = async (kind: "read" | "write", path: string): Promise<void> => {
    const effect = fileEffect(kind, directory, path, false, remote);
    const verdict = await judgeFile(effect, shellOrigin, kind === "read" ? reading : writing, under, budget);
    // A rule that spells the target out is about what lies in it, too.
    const isSpelt = verdict.cause.by === "protected" && targets.some((target) => settings.protectedPaths.match(target));
    if (verdict.decision === "deny" || (verdict.decision === "ask" && !isSpelt)) verdicts.push(verdict);
  };
  for (const target of targets) await judge("write", join(target, basename(path)));
  if (remote !== undefined) {
    const isTree = command.words.some((one) => /^-[A-Za-z]*[aRr]|^--(?:archive|recursive)$/.test(one));
    return { verdicts, links: true, unknown: isTree ? "the content of a folder there cannot be inspected" : undefined };
  }
  const isElsewhere = isOnOtherShare(path, [directory]);
  const stats = isElsewhere ? undefined : linkStatsOf(path);
  if (isElsewhere || (stats === undefined && /^[^/]*:/.test(word)))
    return { verdicts, links: true, unknown: `it is not known what it copies from ${oneLine(word, 120)}` };
  const isLink = stats?.isSymbolicLink() === true;
  // What `ln` writes into a link is taken from where that is.
  const linked = isLinking(command) ? foldersAt(word, starts) : [];
  if (stats !== undefined && linked.length === 0 && !isLink && !stats.isDirectory()) return { verdicts, links: false };
  if (!isLink && isMadeBy(line, command, path, settings))
    return { verdicts, links: true, unknown: `the line itself may change ${oneLine(word, 120)} before` };
  // Links in what is taken give what they lead to other names, too.
  const links: Link[] = isLink ? [{ path, places: starts }] : [];
  const lookBelow = async (folder: string, places: readonly string[], isTaken: boolean): Promise<boolean> => {
    const newNames = (one: string): string[] => places.map((place) => place + one.slice(folder.length));
    const isBound = (one: string, entry: EntryKind): boolean => {
      if (entry.isSymbolicLink()) links.push({ path: one, places: newNames(one) });
      const isBoundThere = (name: string): boolean =>
        [name, pathFrom(directory, name)].some((form) => isLimited(form, entry, writing, settings));
      return (isTaken && isInRules(one, entry, reading)) || newNames(one).some(isBoundThere);
    };
    const { paths, complete } = await listBelow(folder, isBound, budget);
    for (const one of paths) {
      if (isTaken) await judge("read", one);
      for (const name of newNames(one)) await judge("write", name);
    }
    return complete;
  };
  let isAll = isLink || (await lookBelow(path, starts, true));
  for (const folder of linked) isAll &&= await lookBelow(folder, starts, false);
  const hasRules = [...writing.deny, ...writing.ask].length > 0;
  for (const [at, link] of links.filter((one) => hasRules || isHidden(one)).entries()) {
    isAll &&= at < mostLinks;
    if (!isAll) break;
    for (const folder of foldersOf(link.path, link.places)) isAll &&= await lookBelow(folder, link.places, false);
  }
  const unknown = isAll ? undefined : "a folder in it contains more than can be searched";
  return { verdicts, links: links.length > 0, unknown };
}

/** A link, and where it is put. */
interface Link {
  readonly path: string;
  readonly places: readonly string[];
}

/** Links whose folders are looked at. */
const mostLinks = 20;

/** Returns whether a link gets a name that begins with a dot: no other makes what is below it protected (`.hg/hgrc`). */
function isHidden({ places }: Link): boolean {
  return places.some((place) => basename(place).startsWith("."));
}

function isLinking({ words: [program = ""] }: LineCommand): boolean {
  return basename(program) === "ln";
}

/** Returns whether another command of the line may change what a folder holds, or make it. */
function isMadeBy(line: CommandLine, command: LineCommand, folder: string, settings: Settings): boolean {
  const others = line.commands.filter((one) => one !== command && isChanging(one));
  const isThere = linkStatsOf(folder) !== undefined;
  const isBelow = (word: string, orItself: boolean): boolean =>
    directoriesOf(line, settings).some((directory) => {
      const path = pathFrom(directory, word);
      return isInside(folder, path) && (orItself || path !== folder);
    });
  return (
    line.redirections.some(({ kind, path }) => kind === "write" && isBelow(path, false)) ||
    others.some((one) => {
      const placed = placedBy(one);
      if (placed !== undefined && (placed.unseen || !isThere)) return true;
      return changesNamed(one) && one.words.some((word, at) => at > 0 && isBelow(word, placed !== undefined));
    })
  );
}

/** Returns whether another part of the line opens files by their names. */
function opensOthers(line: CommandLine, command: LineCommand): boolean {
  if (line.redirections.some(({ path }) => path !== "/dev/null")) return true;
  const at = line.commands.indexOf(command);
  return line.commands.some((one, index) => {
    if (index === at) return false;
    const { words, reads } = one;
    // It still leads where it led before.
    if (isPlainChange(words))
      return (
        index > at ||
        line.directories === undefined ||
        line.directories.every((directory) => statsOf(pathFrom(directory, words[1] ?? "")) === undefined)
      );
    // Git writes nothing through a link.
    if (one.ofRepository && placedBy(one) !== undefined) return false;
    return typeof reads === "string" ? changesNamed(one) : reads.paths.length > 0;
  });
}
