import { resolve } from "node:path";
import { bareRule } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import type { SimpleCommand } from "../shell/shellLine.ts";
import type { Verdict } from "../verdict.ts";
import { oneLine } from "../words.ts";
import { pathFrom, possiblePaths, rawWords } from "./commandFiles.ts";
import { byRule, type Groups } from "./judgeFile.ts";
import type { Line } from "./line.ts";
import { outrightRule } from "./matchPaths.ts";
import { isPlainChange } from "./workingDirectories.ts";

const kinds = ["read", "write", "delete", "network"] as const;

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
  if (line.unreadable !== undefined) {
    const words = [...rawWords(line.command), ...line.commands.flatMap(({ words }) => words)];
    return judgeWords(words, undefined, line, directories, groups, settings);
  }
  return line.commands.flatMap((command) => {
    if (isPlainChange(command.words)) return [];
    const { readOnly } = command.judged;
    if (readOnly && command.words[0] !== "git") return [];
    const values = command.assignments.map(({ value }) => value);
    const words = [...command.words.slice(1), ...values];
    const found = judgeWords(words, command, line, directories, groups, settings, readOnly);
    return readOnly ? found : [...found, ...judgeUnseen(command, line, settings)];
  });
}

/** A command that is not read-only may do what a rule forbids for every path. */
function judgeUnseen(command: SimpleCommand, { effect }: Line, { rules }: Settings): Verdict[] {
  if (command.words.length === 0) return [];
  for (const list of ["deny", "ask"] as const) {
    for (const kind of kinds) {
      const rule = bareRule([rules[list].ofEffect(kind)]);
      if (!rule) continue;
      const what = `run: ${oneLine(command.text)}`;
      const why = `whether it does what the rule ${rule.text} is about cannot be seen`;
      return [
        { decision: "ask", cause: { by: "rule", list, rule: rule.text }, what, why, effect, command: command.text },
      ];
    }
  }
  return [];
}

function judgeWords(
  words: readonly string[],
  command: SimpleCommand | undefined,
  { effect }: Line,
  directories: readonly string[],
  groups: Groups,
  settings: Settings,
  readOnly = false,
): Verdict[] {
  const what = `run: ${oneLine(command?.text ?? effect.command ?? "")}`;
  const ofCommand = { effect, command: command?.text };
  const possible = possiblePaths(words);
  if (possible === undefined) {
    const why = "it has too many words to judge";
    return [
      {
        decision: settings.mode === "read-only" ? "deny" : "ask",
        cause: { by: "unreadable" },
        what,
        why,
        ...ofCommand,
      },
    ];
  }
  const verdicts: Verdict[] = [];
  const paths = directories.flatMap((directory) =>
    possible.map((word) => ({ word, forms: [resolve(directory, word), pathFrom(directory, word)] })),
  );
  for (const list of ["deny", "ask"] as const) {
    for (const kind of readOnly ? (["read"] as const) : kinds) {
      const group = settings.rules[list].ofEffect(kind);
      if (!group) continue;
      const pattern = firstOf(paths, ({ forms }) => firstOf(forms, (path) => group.paths?.match(path)));
      const host = firstOf(possible, (word) => group.hosts.find(({ matches }) => word.split("/").some(matches)));
      const rule = pattern === undefined ? host?.rule : group.byPattern.get(pattern);
      if (rule) verdicts.push({ ...byRule(list, rule.text, what), ...ofCommand });
    }
  }
  if (readOnly || settings.mode === "read-only") return verdicts;
  for (const { word, forms } of paths) {
    const verdict = judgeProtectedWord(word, forms, groups, settings);
    if (verdict) return [...verdicts, { ...verdict, what, ...ofCommand }];
  }
  return verdicts;
}

function judgeProtectedWord(
  word: string,
  forms: readonly string[],
  groups: Groups,
  { protectedPaths, rules, places }: Settings,
): Verdict | undefined {
  const found = firstOf(forms, (path) => {
    const entry = protectedPaths.match(path);
    return entry && { path, entry };
  });
  if (!found) return undefined;
  const { path, entry } = found;
  const isSpelt = groups.allow.some(({ commands }) => commands.some(({ pattern }) => pattern.words.includes(word)));
  if (isSpelt) return undefined;
  const allowed = (["write", "delete"] as const).flatMap((kind) => rules.allow.ofEffect(kind) ?? []);
  if (outrightRule(allowed, path, entry, protectedPaths, places)) return undefined;
  const why = `${oneLine(word, 120)} is protected (${entry.pattern}): ${entry.why}`;
  return { decision: "ask", cause: { by: "protected", pattern: entry.pattern }, what: "", why };
}

function firstOf<Item, Found>(items: readonly Item[], look: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
