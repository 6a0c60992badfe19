import { basename, dirname, join } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { oneLine } from "../describe.ts";
import { invocationOf } from "../programs/invocation.ts";
import { findProgram } from "../programs/table.ts";
import { bareRule, type Groups, type RuleGroup, type RuleList } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import { coversCommand } from "../rules/patterns.ts";
import type { Settings } from "../settings.ts";
import { byRule, notTold, type Subject, type Verdict } from "../verdict.ts";
import { type CommandLine, fileEffect, type LineCommand, subjectOf, withHome, wordsOfUnread } from "./commandLine.ts";
import { hasPattern } from "./folders.ts";
import { isLimited, judgeFile, shellOrigin } from "./judgeFile.ts";
import type { Place } from "./looks.ts";

/**
 * Judges the words of commands that may do anything with a file or host they name: a word that a rule of deny or ask is about is
 * taken for a use of it, and so is one that names a protected path.
 */
export function judgeMentions(line: CommandLine, groups: Groups, settings: Settings): Verdict[] {
  const find = (words: readonly string[], command?: LineCommand): Verdict[] =>
    mentionsIn(words, command, line, groups, settings);
  const values = Object.values(line.effect.env ?? {});
  if (line.unreadable !== undefined)
    return find([...values, ...wordsOfUnread(line, settings).flat(), ...line.commands.flatMap(({ words }) => words)]);
  const ofCommands = line.commands.flatMap((command) => {
    // Nobody knows which words of git are paths.
    if (command.moves || (!command.changes && !command.ofRepository)) return [];
    const words = command.words.filter((_word, at) => at > 0 && !command.data.has(at));
    const found = find([...words, ...command.assignments.map(({ value }) => value)], command);
    return command.changes ? [...found, ...judgeUnseen(command, line, settings)] : found;
  });
  return [...(values.length === 0 ? [] : find(values)), ...ofCommands];
}

/** Judges what a command that does more than read may do unseen: what a rule forbids for every path. */
function judgeUnseen(command: LineCommand, line: CommandLine, { rules }: Settings): Verdict[] {
  if (command.words.length === 0) return [];
  for (const list of ["deny", "ask"] as const) {
    const rule = bareRule([rules[list].ofNames]);
    if (!rule) continue;
    const why = `whether it does what the rule ${rule.text} is about cannot be seen`;
    return [{ ...byRule(list, rule.text, subjectOf(command, line)), decision: "ask", why }];
  }
  return [];
}

/** A word that may be a path, and the file that it names from a directory. */
interface Mention {
  readonly word: string;
  readonly place: Place;
}

function mentionsIn(
  words: readonly string[],
  command: LineCommand | undefined,
  line: CommandLine,
  groups: Groups,
  settings: Settings,
): Verdict[] {
  const { mode, rules } = settings;
  const { effect, looks, hasInput } = line;
  const subject: Subject = command
    ? subjectOf(command, line)
    : { what: `run: ${oneLine(effect.command ?? "")}`, effect };
  const readsOnly = command?.changes === false;
  const mentions = mentionsOf(words, command, line, settings.bases.home ?? "~");
  const verdicts: Verdict[] = [];
  const through = mentions?.find(({ place }) => looks.leadsThroughProcess(place, hasInput && !readsOnly));
  if (through !== undefined) verdicts.push(notTold("unreadable", mode, throughProcess(through.word), subject));
  const about = { deny: groupsAbout(command, rules.deny), ask: groupsAbout(command, rules.ask) };
  const add = (word: string, verdict: Verdict): void => {
    const { decision, cause } = verdict;
    if (decision === "allow" || verdicts.some((one) => one.cause.by === cause.by && one.decision === decision)) return;
    const name = oneLine(word, 120);
    const does = decision === "deny" ? "denies" : "asks about";
    const why =
      cause.by === "rule"
        ? `its word ${name} may name what the rule ${cause.rule} ${does}`
        : verdict.why.replace(/^it(?= is (?:protected|another))/, () => name);
    verdicts.push({ ...verdict, ...subject, why });
  };
  for (const { word, place } of mentions ?? []) {
    for (const list of ["deny", "ask"] as const) {
      const rule = ruleOfHost(about[list], word);
      if (rule) add(word, byRule(list, rule.text, subject));
    }
    if (!isLimited(place, undefined, about, settings)) continue;
    const file = fileEffect(readsOnly || mode === "read-only" ? "read" : "write", place, effect.remote);
    const verdict = judgeFile(file, shellOrigin, withoutBare(about, rules), settings.inFull, looks);
    if (verdict.cause.by === "rule" || verdict.decision === "deny" || !isSpelt(word, command, groups))
      add(word, verdict);
  }
  return verdicts;
}

/** Lists the files that words may name; undefined if they are too many, as the user is then asked about the line as a whole. */
function mentionsOf(
  words: readonly string[],
  command: LineCommand | undefined,
  { looks, directories }: CommandLine,
  home: string,
): readonly Mention[] | undefined {
  // What the shell replaces, and what a script may hold.
  const replaced = new Set(command?.patterns?.map((at) => command.words[at]));
  const mayBePattern = (word: string): boolean => command === undefined || replaced.has(word) || script.test(word);
  const possible = possiblePaths(words.concat(keptNames(words, command)), mayBePattern, home);
  const mentions: Mention[] = [];
  const add = (directory: string, word: string): void => {
    mentions.push({ word, place: looks.place(directory, word) });
  };
  for (const directory of directories) {
    for (const [word, isPattern] of possible) {
      const meant = isPattern ? looks.expand(directory, word) : [word];
      if (!looks.take(meant.length)) return undefined;
      for (const one of meant) {
        add(directory, one);
        if (packed.test(one)) add(directory, one.replace(packed, ""));
      }
    }
  }
  return mentions;
}

/** Says why a path is not known here. */
export function throughProcess(word: string): string {
  return `${oneLine(word, 120)} leads through a folder of the process itself, which is another one for the command`;
}

/** Lists the rules about what a command may do with what its words name. */
function groupsAbout(command: LineCommand | undefined, rules: RuleList): readonly RuleGroup[] {
  const { access } = findProgram(command?.words[0] ?? "") ?? {};
  const kinds = command?.changes === false ? "read" : access;
  const groups =
    kinds === undefined ? [rules.ofNames] : fileKinds.map((kind) => kinds.includes(kind) && rules.ofEffect(kind));
  return groups.filter((group) => group !== undefined && group !== false);
}

/** Returns the rules for a word: those without a pattern are not about what it names. */
function withoutBare({ deny, ask }: Pick<Groups, "deny" | "ask">, rules: Settings["rules"]): Groups {
  const strip = (group: RuleGroup): RuleGroup => ({ ...group, bare: [] });
  const allow = (["write", "delete"] as const).flatMap((kind) => rules.allow.ofEffect(kind) ?? []);
  return { deny: deny.map(strip), ask: ask.map(strip), allow };
}

const fileKinds = ["read", "write", "delete"] as const;

/** Finds the rule about a host that a word may name. */
function ruleOfHost(groups: readonly RuleGroup[], word: string): Rule | undefined {
  for (const { hosts } of groups) for (const { rule, matches } of hosts) if (word.split("/").some(matches)) return rule;
  return undefined;
}

/** Returns whether a rule that allows a command spells a word of it out. */
function isSpelt(word: string, command: LineCommand | undefined, { allow }: Groups): boolean {
  return allow.some(({ commands }) =>
    commands.some(({ pattern }) => pattern.words.includes(word) && command && coversCommand(pattern, command.words)),
  );
}

/** Characters between the parts of a word: of options, addresses, lists and scripts. */
const betweenParts = /[\s'"`;|&<>(){}$\\=:@,]+/;

/** Addresses of files in which characters are written as codes: `file:///%2eenv`. */
const encoded = /:.*%[0-9A-Fa-f]{2}/s;

const plainWord = /^[\w./][\w./+-]*$/;

/** Suffixes that programs take off the name of a file that they unpack, and git off that of a repository. */
const packed = /[._-](?:gz|z|bz2?|xz|lzma|zst|lz4|br|git|bundle)\/*$/i;

/** Characters of a word that another shell may read. */
const script = /[\s;|&<>()`$'"]/;

/**
 * Lists the words that may be paths, and the parts in them that may be: after `=`, `:`, `@`, in quotes, or after the letter of an option.
 * Says of each whether it may be a file pattern.
 */
function possiblePaths(
  words: readonly string[],
  mayBePattern: (word: string) => boolean,
  home: string,
): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const word of words) {
    // Most words have no parts.
    if (plainWord.test(word)) {
      found.set(word, false);
      continue;
    }
    const isPattern = hasPattern(word) && mayBePattern(word);
    const decoded = encoded.test(word) ? [attempt(() => decodeURIComponent(word)) ?? ""] : [];
    // Another shell may read it, or git.
    if (/[~$]/.test(word)) decoded.push(withHome(word, home));
    for (const text of [word, ...decoded, ...valuesAfterLetters(word)])
      for (const part of [text, ...text.split(betweenParts)])
        if (isPossiblePath(part, text)) found.set(part, isPattern || found.get(part) === true);
  }
  return found;
}

/** A star that is a part alone, as in `run-s build:*`, is the program's own: the shell matches whole words. */
function isPossiblePath(part: string, word: string): boolean {
  return part !== "" && !isOption(part) && !part.includes("\0") && (part === word || !/^\*+$/.test(part));
}

/** Lists the names by which a command keeps files that it changes (`sed -i.old`): each word, with the suffix of its option or in the place of `*`. */
function keptNames(words: readonly string[], command: LineCommand | undefined): readonly string[] {
  const { keeps } = (command && invocationOf(command.words).program) ?? {};
  if (keeps === undefined) return [];
  const at = words.findIndex((word) => keeps.test(word));
  const suffix = keeps.exec(words[at] ?? "")?.[1] || words[at + 1];
  if (at < 0 || suffix === undefined) return [];
  const kept = (word: string): string =>
    join(
      dirname(word),
      suffix.replaceAll("*", () => basename(word)),
    );
  return words.map((word) => (suffix.includes("*") ? kept(word) : `${word}${suffix}`));
}

/** As many letters as anybody joins. */
const mostLetters = 6;

/** Lists what may be the value of one of the joined letters: of `-qF.env` both `F.env` and `.env`. */
function valuesAfterLetters(word: string): string[] {
  const letters = /^-[A-Za-z]+/.exec(word)?.[0].length ?? 0;
  const ends = Array.from({ length: Math.min(letters - 1, mostLetters) }, (_, at) => at + 2);
  return ends.map((end) => word.slice(end)).filter((value) => value !== "");
}

/** Recognises words that programs never take for a path, or that name nothing a rule is about. */
function isOption(part: string): boolean {
  return part.startsWith("-") && !part.includes("/");
}
