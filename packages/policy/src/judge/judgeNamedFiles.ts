import { readFileSync, statSync } from "node:fs";
import type { ToolEffect } from "@toolcrib/core";
import { describeEffect, oneLine } from "../describe.ts";
import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { type Decision, notTold, type Verdict } from "../verdict.ts";
import { type CommandLine, isPlainChange, type LineCommand, rawWords } from "./commandLine.ts";
import { type Budget, expandPattern, findBelow, hasPattern, pathFrom, shellPath } from "./folders.ts";
import { type Groups, judgeFile } from "./judgeFile.ts";
import { judgeMentions } from "./judgeMentions.ts";

const shellOrigin = "shell";
/** Not a file of any folder. */
const nullDevice = "/dev/null";

/** Commands of git that write what files say into another file. */
const exporting = /^(?:archive|bundle|format-patch)$/;

/** A use of a file that can be told from a line. */
interface FileUse {
  readonly kind: "read" | "write" | "delete";
  /** As the line has it. */
  readonly word: string;
  /** Everything below it too. */
  readonly tree: boolean;
  /** What decides where no rule does. */
  readonly under: Settings;
  /** It is not known whether the command comes by what lies below: a rule of deny asks then. */
  readonly maybe?: boolean;
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
  for (const { kind, word, tree, under, maybe, followsLinks, lists } of usesOf(line, settings)) {
    const groups = effectGroups(kind, settings);
    for (const directory of directories) {
      const paths = hasPattern(word) && kind !== "write" ? expandPattern(directory, word, budget) : [word];
      const listed = lists ? paths.map((path) => listedFiles(pathFrom(directory, path))) : [];
      if (line.changesFiles ? listed.length > 0 : listed.includes(undefined)) {
        const why = `which files the list ${oneLine(word, 120)} names cannot be told`;
        verdicts.push(notTold("unreadable", mode, why, subject));
      }
      const opened = [...paths, ...listed.flatMap((names) => names ?? [])];
      if (!budget.take(opened.length)) break;
      for (const path of opened) {
        const file = fileEffect(kind, directory, path, tree, effect.remote);
        const verdict = await judgeFile(file, shellOrigin, groups, under, lookBudget);
        if (followsLinks && under.mode !== "full") verdicts.push(...(await linksBelow(file, settings, lookBudget)));
        if (maybe && verdict.decision === "deny" && under.mode !== "read-only") verdicts.push(ifTracked(verdict));
        else if (verdict.decision !== "allow") verdicts.push(verdict);
      }
    }
  }
  verdicts.push(...judgeMentions(line, directories, commandGroups, settings));
  if (!budget.take(0)) {
    const why = "its words and file patterns stand for too much to look through";
    verdicts.push(notTold("unreadable", mode, why, subject));
  }
  return verdicts;
}

function usesOf(line: CommandLine, settings: Settings): readonly FileUse[] {
  // Where the command itself is allowed, only what is forbidden or protected counts.
  const forbiddenAlone: Settings = { ...settings, mode: "full" };
  const usual = line.allowsAll ? forbiddenAlone : settings;
  const uses: FileUse[] = [];
  for (const { kind, path } of line.redirections) uses.push({ kind, word: path, tree: false, under: usual });
  const addRemovals = (words: readonly string[]): void => {
    for (const word of removals(words)) uses.push({ kind: "delete", word, tree: true, under: forbiddenAlone });
  };
  if (line.unreadable !== undefined) addRemovals(rawWords(line.text));
  const commands = line.unreadable === undefined ? line.commands : [];
  // Wherever it runs, git may show the whole repository, but only what is tracked.
  if (isReadingLimited(settings) && commands.some(printsRepository)) {
    for (const root of settings.roots) uses.push({ kind: "read", word: root, tree: true, under: usual, maybe: true });
  }
  for (const command of commands) {
    const { reads, words } = command;
    if (isPlainChange(words)) continue;
    if (typeof reads === "string") {
      addRemovals(words);
      continue;
    }
    const under = settings.mode !== "read-only" && command.allowedBy !== undefined ? forbiddenAlone : usual;
    // Every read is allowed.
    if (under.mode === "full" && !isReadingLimited(settings)) continue;
    // Without a path most look at the directory that they run in.
    const paths = reads.paths.length === 0 && isReadingLimited(settings) ? ["."] : reads.paths;
    const tree = reads.contents === true && !printsRepository(command);
    for (const word of paths)
      uses.push({ kind: "read", word, tree, under, followsLinks: words[0] === "diff", lists: reads.lists });
  }
  return uses.filter(({ word }) => word !== nullDevice);
}

function printsRepository({ words, reads, ofRepository }: LineCommand): boolean {
  if (!ofRepository) return false;
  return typeof reads === "string" ? words.some((word) => exporting.test(word)) : reads.contents === true;
}

/** Judges the links in a folder that is compared, since what they lead to is opened. */
async function linksBelow(effect: ToolEffect, { mode, scope }: Settings, budget: Budget): Promise<Verdict[]> {
  const { found, complete } = await findBelow(effect.path ?? "", (_, entry) => entry.isSymbolicLink(), budget);
  if (found === undefined && complete) return [];
  const why = "it compares a folder, and the links in it may lead anywhere";
  return [notTold("unreadable", mode, why, { what: describeEffect(effect, scope), effect })];
}

function ifTracked(verdict: Verdict): Verdict {
  return { ...verdict, decision: "ask", why: `${verdict.why}, and git shows such a file if it is tracked` };
}

/** Returns the rules about effects alone: those about the tool were tested against the command. */
function effectGroups(kind: FileUse["kind"], { rules }: Settings): Groups {
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

/** Of a few thousand files. */
const longestList = 200_000;

/** A line as md5sum and its like write it: the sum and the name, or the name in parentheses. */
const sum = /^[0-9a-f]{8,} [ *](.+)$/i;
const tagged = /^[A-Z0-9-]+ \((.+)\) = [0-9a-f]{8,}$/i;

/** Lists the files that a list of sums names, which the program then opens; undefined if the list says more than names and sums. */
function listedFiles(list: string): readonly string[] | undefined {
  try {
    const stats = statSync(list, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (!stats.isFile() || stats.size > longestList) return undefined;
    const lines = readFileSync(list, "utf8").split("\n");
    if (lines.at(-1) === "") lines.pop();
    const names = lines.map((one) => (sum.exec(one) ?? tagged.exec(one))?.[1]);
    return names.every((name) => name !== undefined) ? names : undefined;
  } catch {
    return undefined;
  }
}

/** Lists the named paths that a command removes or moves; empty for any other. */
function removals(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => /^(?:.*\/)?(?:rm|rmdir|mv)$/.test(word));
  if (start < 0) return [];
  const operands = words.slice(start + 1).filter((word) => !word.startsWith("-"));
  // What a pattern stands for goes, and its folder is looked through.
  return operands.flatMap((word) =>
    hasPattern(word) ? [word, word.slice(0, word.lastIndexOf("/", word.search(/[*?[]/)) + 1) || "."] : [word],
  );
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
