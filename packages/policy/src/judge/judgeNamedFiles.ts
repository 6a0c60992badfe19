import { statSync } from "node:fs";
import type { ToolEffect } from "@toolcrib/core";
import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import type { Decision, Verdict } from "../verdict.ts";
import { describeEffect } from "../words.ts";
import type { Budget } from "./budget.ts";
import { fileEffect, printsRepository, rawWords, readsContents, removals } from "./commandFiles.ts";
import { coveringCommandRule } from "./commandRules.ts";
import { expandWildcard, hasWildcard } from "./expandWildcard.ts";
import { type Groups, judgeFile } from "./judgeFile.ts";
import { judgeMentions } from "./judgeMentions.ts";
import type { Line } from "./line.ts";
import { isPlainChange } from "./workingDirectories.ts";

const shellOrigin = "shell";
/** Not a file of any folder. */
const nullDevice = "/dev/null";

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
}

/**
 * Judges the files that a shell line names: what redirections and read-only commands open, what `rm` and `mv` take away, and every
 * other word that could be a path. What is merely allowed is left out.
 */
export async function judgeNamedFiles(
  line: Line,
  commandGroups: Groups,
  settings: Settings,
  lookBudget: Budget,
): Promise<Verdict[]> {
  const { budget, effect } = line;
  const directories = line.directories ?? [effect.cwd ?? settings.scope.cwd];
  const verdicts: Verdict[] = [];
  for (const { kind, word, tree, under, maybe, followsLinks } of usesOf(line, commandGroups, settings)) {
    const groups = effectGroups(kind, settings);
    for (const directory of directories) {
      const paths = kind === "read" && hasWildcard(word) ? expandWildcard(directory, word, budget) : [word];
      if (!budget.take(paths.length)) break;
      for (const path of paths) {
        const file = fileEffect(kind, directory, path, tree, effect.place);
        const verdict = await judgeFile(file, shellOrigin, groups, under, lookBudget);
        if (followsLinks && under.mode !== "full" && isFolder(file.path)) verdicts.push(linksBelow(file, settings));
        if (maybe && verdict.decision === "deny" && under.mode !== "read-only") verdicts.push(mayBe(verdict));
        else if (verdict.decision !== "allow") verdicts.push(verdict);
      }
    }
  }
  verdicts.push(...judgeMentions(line, directories, commandGroups, settings));
  if (!budget.take(0)) verdicts.push(tooMuch(line, settings));
  return verdicts;
}

function usesOf(line: Line, { allow }: Groups, settings: Settings): readonly FileUse[] {
  // Where the command itself is allowed, only what is forbidden or protected counts.
  const forbiddenAlone: Settings = { ...settings, mode: "full" };
  const usual = line.vouched ? forbiddenAlone : settings;
  const uses: FileUse[] = [];
  for (const { kind, path } of line.redirections) uses.push({ kind, word: path, tree: false, under: usual });
  const addRemovals = (words: readonly string[]): void => {
    for (const word of removals(words)) uses.push({ kind: "delete", word, tree: true, under: forbiddenAlone });
  };
  if (line.unreadable !== undefined) addRemovals(rawWords(line.command));
  const readable = line.unreadable === undefined ? line.commands : [];
  // Wherever it runs, git may show the whole repository, but only what is tracked.
  if (isReadingLimited(settings) && readable.some(printsRepository)) {
    for (const root of settings.roots) uses.push({ kind: "read", word: root, tree: true, under: usual, maybe: true });
  }
  for (const command of readable) {
    const { readOnly, paths } = command.judged;
    if (isPlainChange(command.words)) continue;
    if (!readOnly) {
      addRemovals(command.words);
      continue;
    }
    const covered = settings.mode !== "read-only" && coveringCommandRule(allow, command) !== undefined;
    const under = covered ? forbiddenAlone : usual;
    // Every read is allowed.
    if (under.mode === "full" && !isReadingLimited(settings)) continue;
    // Without a path most look at the directory that they run in.
    const words = paths.length === 0 && isReadingLimited(settings) ? ["."] : paths;
    const followsLinks = command.words[0] === "diff";
    for (const word of words) uses.push({ kind: "read", word, tree: readsContents(command), under, followsLinks });
  }
  return uses.filter(({ word }) => word !== nullDevice);
}

function isFolder(path: string | undefined): boolean {
  try {
    return path !== undefined && statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function linksBelow(effect: ToolEffect, { mode, scope }: Settings): Verdict {
  const decision = mode === "read-only" ? "deny" : "ask";
  const why = "it compares a folder, and the links in it may lead anywhere";
  return { decision, cause: { by: "mode", mode }, what: describeEffect(effect, scope), why, effect };
}

function mayBe(verdict: Verdict): Verdict {
  return { ...verdict, decision: "ask", why: `${verdict.why}, and git shows such a file if it is tracked` };
}

/** Only rules about effects: those about the tool were tested against the command. */
function effectGroups(kind: FileUse["kind"], { rules }: Settings): Groups {
  const of = (list: Decision): readonly RuleGroup[] => {
    const group = rules[list].ofEffect(kind);
    return group === undefined ? [] : [group];
  };
  return { allow: of("allow"), ask: of("ask"), deny: of("deny") };
}

/** Whether a rule is about files: a link in another place could lead to one of them. */
export function isAboutFiles({ rules }: Settings): boolean {
  const kinds = ["read", "write", "delete"] as const;
  return kinds.some((kind) => rules.deny.ofEffect(kind) !== undefined || rules.ask.ofEffect(kind) !== undefined);
}

function isReadingLimited({ rules }: Settings): boolean {
  return rules.deny.ofEffect("read") !== undefined || rules.ask.ofEffect("read") !== undefined;
}

function tooMuch({ effect }: Line, { mode, scope }: Settings): Verdict {
  const decision = mode === "read-only" ? "deny" : "ask";
  const why = "its words and file patterns stand for too much to look through";
  return { decision, cause: { by: "unreadable" }, what: describeEffect(effect, scope), why, effect };
}
