import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import type { Decision, Verdict } from "../verdict.ts";
import { describeEffect } from "../words.ts";
import { fileEffect, rawWords, readsContents, removals } from "./commandFiles.ts";
import { coveringCommandRule } from "./commandRules.ts";
import { expandWildcard, hasWildcard } from "./expandWildcard.ts";
import { type Groups, judgeFile } from "./judgeFile.ts";
import { judgeMentions } from "./judgeMentions.ts";
import type { Line } from "./line.ts";
import { isPlainChange } from "./workingDirectories.ts";

const shellOrigin = "shell";
/** Not a file of any folder. */
const nullDevice = "/dev/null";

/**
 * Judges the files that a shell line names: what redirections and read-only commands open, what `rm` and `mv` take away, and every
 * other word that could be a path. What is merely allowed is left out.
 */
export async function judgeNamedFiles(line: Line, commandGroups: Groups, settings: Settings): Promise<Verdict[]> {
  const fileSettings: Settings = line.vouched ? { ...settings, mode: "full" } : settings;
  const directories = line.directories ?? [line.effect.cwd ?? settings.scope.cwd];
  const verdicts: Verdict[] = [];
  const judge = async (
    kind: "read" | "write" | "delete",
    word: string,
    tree: boolean,
    under: Settings,
  ): Promise<void> => {
    for (const directory of directories) {
      if (!line.budget.take(1)) return;
      const effect = fileEffect(kind, directory, word, tree);
      const verdict = await judgeFile(effect, shellOrigin, effectGroups(kind, settings), under);
      if (verdict.decision !== "allow") verdicts.push(verdict);
    }
  };
  /** Of a file pattern, all that it may stand for. */
  const judgeRead = async (word: string, contents: boolean, under: Settings): Promise<void> => {
    // Every read is allowed.
    if (under.mode === "full" && !isReadingLimited(settings)) return;
    if (!hasWildcard(word)) return judge("read", word, contents, under);
    for (const directory of directories) {
      for (const path of expandWildcard(directory, word, line.budget)) await judge("read", path, contents, under);
    }
  };
  // What may be removed is for the rules of commands to say: only what is forbidden or protected counts here.
  const forbiddenAlone: Settings = { ...settings, mode: "full" };
  const judgeRemovals = async (words: readonly string[]): Promise<void> => {
    for (const word of removals(words)) await judge("delete", word, true, forbiddenAlone);
  };
  for (const { kind, path } of line.redirections) {
    if (path !== nullDevice) await judge(kind, path, false, fileSettings);
  }
  for (const command of line.unreadable === undefined ? line.commands : []) {
    if (isPlainChange(command.words)) continue;
    const { readOnly, paths } = command.judged;
    if (readOnly) {
      // What a rule allows may read wherever its words lead.
      const covered = settings.mode !== "read-only" && coveringCommandRule(commandGroups.allow, command) !== undefined;
      const under = covered ? forbiddenAlone : fileSettings;
      const contents = readsContents(command);
      // Without a path most look at the directory that they run in.
      const all = paths.length === 0 && isReadingLimited(settings) ? ["."] : paths;
      for (const word of all.filter((one) => one !== nullDevice)) {
        await judgeRead(word, contents, under);
      }
    }
    if (!readOnly) await judgeRemovals(command.words);
  }
  if (line.unreadable !== undefined) await judgeRemovals(rawWords(line.command));
  verdicts.push(...judgeMentions(line, directories, commandGroups, settings));
  if (!line.budget.take(0)) verdicts.push(tooMuch(line, settings));
  return verdicts;
}

/** Only rules about effects: those about the tool were tested against the command. */
export function effectGroups(kind: "read" | "write" | "delete" | "network", { rules }: Settings): Groups {
  const of = (list: Decision): readonly RuleGroup[] => {
    const group = rules[list].ofEffect(kind);
    return group === undefined ? [] : [group];
  };
  return { allow: of("allow"), ask: of("ask"), deny: of("deny") };
}

function isReadingLimited({ rules }: Settings): boolean {
  return rules.deny.ofEffect("read") !== undefined || rules.ask.ofEffect("read") !== undefined;
}

function tooMuch({ effect }: Line, { mode, scope }: Settings): Verdict {
  const decision = mode === "read-only" ? "deny" : "ask";
  const why = "its words and file patterns stand for too much to look through";
  return { decision, cause: { by: "unreadable" }, what: describeEffect(effect, scope), why, effect };
}
