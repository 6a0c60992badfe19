import { resolve } from "node:path";
import { findProgram } from "../programs/table.ts";
import { coversCommand } from "../rules/commandPattern.ts";
import { bareRule, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { dataPlaces } from "../shell/builtins.ts";
import type { SimpleCommand } from "../shell/shellLine.ts";
import type { Verdict } from "../verdict.ts";
import { oneLine } from "../words.ts";
import { pathFrom, possiblePaths, rawWords } from "./commandFiles.ts";
import { expandPattern, hasPattern } from "./expandPattern.ts";
import { byRule, type Groups } from "./judgeFile.ts";
import type { Line, LineCommand } from "./line.ts";
import { outrightRule } from "./matchPaths.ts";
import { isPlainChange } from "./workingDirectories.ts";

/**
 * Judges the words of commands that may do anything with a file or host they name: a word that a rule of deny or ask is about is
 * taken for a use of it, and so is one that names a protected path.
 */
export function judgeMentions(
  line: Line,
  directories: readonly string[],
  groups: Groups,
  settings: Settings,
): Verdict[] {
  const given = Object.values(line.effect.env ?? {});
  if (line.unreadable !== undefined) {
    const words = [...given, ...rawWords(line.command), ...line.commands.flatMap(({ words }) => words)];
    return mentionsIn(words, undefined, line, directories, groups, settings);
  }
  const ofEnvironment = given.length === 0 ? [] : mentionsIn(given, undefined, line, directories, groups, settings);
  const ofCommands = line.commands.flatMap((command) => {
    if (isPlainChange(command.words)) return [];
    const readOnly = typeof command.reads !== "string";
    // Which words of git are paths is not known.
    if (readOnly && findProgram(command.words[0] ?? "")?.repository !== true) return [];
    const values = command.assignments.map(({ value }) => value);
    const isData = dataPlaces(command.words);
    const words = [...command.words.filter((_word, at) => at > 0 && !isData(at)), ...values];
    const found = mentionsIn(words, command, line, directories, groups, settings);
    return readOnly ? found : [...found, ...judgeUnseen(command, line, settings)];
  });
  return [...ofEnvironment, ...ofCommands];
}

/** A command that is not read-only may do what a rule forbids for every path. */
function judgeUnseen(command: SimpleCommand, { effect }: Line, { rules }: Settings): Verdict[] {
  if (command.words.length === 0) return [];
  for (const list of ["deny", "ask"] as const) {
    const rule = bareRule([rules[list].ofNames]);
    if (!rule) continue;
    const what = `run: ${oneLine(command.text)}`;
    const why = `whether it does what the rule ${rule.text} is about cannot be seen`;
    return [
      { decision: "ask", cause: { by: "rule", list, rule: rule.text }, what, why, effect, command: command.text },
    ];
  }
  return [];
}

/** A word, and the path that it is from a directory: by its names, and with links followed where that is another. */
interface PossiblePath {
  readonly word: string;
  readonly forms: readonly string[];
}

function mentionsIn(
  words: readonly string[],
  command: LineCommand | undefined,
  { effect, budget }: Line,
  directories: readonly string[],
  groups: Groups,
  settings: Settings,
): Verdict[] {
  const { mode, rules } = settings;
  const what = `run: ${oneLine(command?.text ?? effect.command ?? "")}`;
  const ofCommand = { what, effect, command: command?.text };
  const possible = possiblePaths(words);
  const readOnly = command !== undefined && typeof command.reads !== "string";
  const paths: PossiblePath[] = [];
  for (const directory of directories) {
    for (const word of possible) {
      const meant = hasPattern(word) ? expandPattern(directory, word, budget) : [word];
      // What is left over is asked about as a whole.
      if (!budget.take(meant.length)) return [];
      for (const one of meant) paths.push(possiblePath(directory, one));
    }
  }
  const verdicts: Verdict[] = [];
  for (const list of ["deny", "ask"] as const) {
    const rule = mentionedRule(readOnly ? rules[list].ofEffect("read") : rules[list].ofNames, paths);
    if (rule) verdicts.push({ ...byRule(list, rule.text, what), ...ofCommand });
  }
  if (readOnly || mode === "read-only") return verdicts;
  const found = firstOf(paths, (path) => judgeProtectedWord(path, command, groups, settings));
  return found === undefined ? verdicts : [...verdicts, { ...found, ...ofCommand }];
}

function possiblePath(directory: string, word: string): PossiblePath {
  const [named, opened] = [resolve(directory, word), pathFrom(directory, word)];
  return { word, forms: named === opened ? [named] : [named, opened] };
}

function mentionedRule(group: RuleGroup | undefined, paths: readonly PossiblePath[]): Rule | undefined {
  if (!group) return undefined;
  return firstOf(paths, ({ word, forms }) => {
    const pattern = firstOf(forms, (path) => group.paths?.match(path));
    if (pattern !== undefined) return group.byPattern.get(pattern);
    return group.hosts.find(({ matches }) => word.split("/").some(matches))?.rule;
  });
}

function judgeProtectedWord(
  { word, forms }: PossiblePath,
  command: SimpleCommand | undefined,
  groups: Groups,
  { protectedPaths, rules, places }: Settings,
): Omit<Verdict, "what"> | undefined {
  const found = firstOf(forms, (path) => {
    const entry = protectedPaths.match(path);
    return entry && { path, entry };
  });
  if (!found) return undefined;
  const { path, entry } = found;
  const spelt = groups.allow.some(({ commands }) =>
    commands.some(({ pattern }) => pattern.words.includes(word) && command && coversCommand(pattern, command.words)),
  );
  if (spelt) return undefined;
  const allowed = (["write", "delete"] as const).flatMap((kind) => rules.allow.ofEffect(kind) ?? []);
  if (outrightRule(allowed, path, entry, protectedPaths, places)) return undefined;
  const why = `${oneLine(word, 120)} is protected (${entry.pattern}): ${entry.why}`;
  return { decision: "ask", cause: { by: "protected", pattern: entry.pattern }, why };
}

function firstOf<Item, Found>(items: readonly Item[], look: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
